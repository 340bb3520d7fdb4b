// Texts near quantities, from a seed: the parser refuses them or reads them, and what it reads holds together. Under sanitizers it also
// shows that it stays within the text and never overflows.

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/vocabulary/exercise_quantity.hpp"
#include "tests/vocabulary/golden_table.hpp"

namespace hindsight {
namespace {

TEST(QuantityMutations, are_read_or_refused_and_never_harm) {
  std::vector<std::string> texts;
  for (const auto& row : test::golden_table("tests/vocabulary/quantities.txt"))
    if (row.size() > 1) texts.push_back(row[1]);
  ASSERT_GT(texts.size(), 100U);
  static constexpr std::string_view letters = "0123456789.+-eEimunkMGTPZ \t\0xKi9";
  std::mt19937_64 random(29);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::size_t read = 0;
  for (int i = 0; i < 400'000; ++i) {
    std::string text = texts[below(texts.size())];
    for (std::size_t changes = below(4); changes > 0; --changes) {
      const std::size_t at = below(text.size() + 1);
      switch (below(5)) {
        case 0:
          text.insert(at, 1, letters[below(letters.size())]);
          break;
        case 1:
          if (at < text.size()) text.erase(at, 1 + below(3));
          break;
        case 2:
          if (at < text.size()) text[at] = letters[below(letters.size())];
          break;
        case 3:
          text.insert(at, below(40), '0');
          break;
        default:
          text += texts[below(texts.size())];
      }
    }
    // a buffer of its own and exact size: a sanitizer sees any look beyond its end
    const std::vector<char> exact(text.begin(), text.end());
    const std::string fault = test::exercise_quantity({exact.data(), exact.size()});
    ASSERT_EQ(fault, "") << "text \"" << text << "\"";
    if (parse_quantity(text, "cpu")) ++read;
  }
  EXPECT_GT(read, 20'000U);
}

}  // namespace
}  // namespace hindsight
