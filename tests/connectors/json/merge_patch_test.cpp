// A difference, applied as a merge patch, gives what was wanted, and is empty between equals.

#include "connectors/json/merge_patch.hpp"

#include <gtest/gtest.h>

#include <random>

#include "connectors/json/document.hpp"

namespace hindsight::connectors {
namespace {

/// A random value without nulls; objects share few keys, so that they meet.
Json random_value(std::mt19937_64& random, int depth) {
  switch (random() % (depth > 0 ? 5 : 3)) {
    case 0:
      return static_cast<int>(random() % 3);
    case 1:
      return std::string(1, static_cast<char>('a' + random() % 3));
    case 2:
      return random() % 2 == 0;
    case 3: {
      Json list = Json::array();
      for (auto n = random() % 3; n > 0; --n) list.push_back(random_value(random, depth - 1));
      return list;
    }
    default: {
      Json object = Json::object();
      for (auto n = random() % 4; n > 0; --n)
        object[std::string(1, static_cast<char>('k' + random() % 4))] = random_value(random, depth - 1);
      return object;
    }
  }
}

TEST(MergePatch, LeadsFromOneObjectToTheOther) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    Json from{{"root", random_value(random, 4)}, {"more", random_value(random, 3)}};
    const Json to{{"root", random_value(random, 4)}, {"other", random_value(random, 3)}};
    const auto patch = merge_difference(from, to);
    from.merge_patch(patch);
    ASSERT_EQ(from, to) << "seed " << seed;
    ASSERT_TRUE(merge_difference(from, to).empty()) << "seed " << seed;
  }
}

TEST(MergePatch, CopiesParsedValuesExactly) {
  constexpr std::string_view text = R"({"a":[1,-2,1.5,18446744073709551615,true,null,"x\n"],"b":{}})";
  const auto document = Document::parse(text);
  EXPECT_EQ(to_json(document->root()), Json::parse(text));
}

}  // namespace
}  // namespace hindsight::connectors
