// Texts near descriptions of jobs and near traces, from a seed: each is read or refused in words, and what is read is within its bounds.
// libFuzzer goes on from here (load_fuzz.cpp).

#include <gtest/gtest.h>

#include <random>

#include "tests/simulation/exercise_load.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::test {
namespace {

constexpr std::string_view load_letters = "0123456789-+.:|;,_[]{}'\"&*#!% \t\r\n\0aKGnTeE=/\xff\xc3\x1b";

void mutate_load(std::string& text, std::mt19937_64& random) {
  static const std::vector<std::string> edges{"9223372036854775807",
                                              "9223372036854775808",
                                              "-1",
                                              "1e308",
                                              "4294967296",
                                              "100001",
                                              "1000001",
                                              "\n\n",
                                              "|||||",
                                              "0",
                                              "1000000000s",
                                              "99999999h",
                                              "2026-02-30T00:00:00",
                                              "&a *a",
                                              "NaN"};
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (std::size_t changes = below(4); changes > 0; --changes) {
    const std::size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0:
        text.insert(at, 1, load_letters[below(load_letters.size())]);
        break;
      case 1:
        if (at < text.size()) text.erase(at, 1 + below(6));
        break;
      case 2:
        if (at < text.size()) text[at] = load_letters[below(load_letters.size())];
        break;
      case 3:
        text.insert(at, edges[below(edges.size())]);
        break;
      case 4: {  // another number in the place of one
        const auto digit = text.find_first_of("0123456789", at);
        if (digit == std::string::npos) break;
        const auto end = std::min(text.find_first_not_of("0123456789", digit), text.size());
        text.replace(digit, end - digit, edges[below(edges.size())]);
        break;
      }
      default:
        text.insert(at, text.substr(below(text.size() + 1), below(200)));
    }
  }
}

TEST(LoadMutations, AreReadOrRefusedAndNeverHarm) {
  std::mt19937_64 random(39);
  std::size_t read = 0;
  const int rounds = as_much_as(20'000, 2'000);
  for (int i = 0; i < rounds; ++i) {
    const auto& [kind, text] = good_loads()[random() % good_loads().size()];
    std::string mutant = text;
    if (i >= static_cast<int>(good_loads().size())) mutate_load(mutant, random);
    ASSERT_EQ(exercise_load(kind, mutant), "") << static_cast<int>(kind) << "\n" << mutant;
    const auto as = kind == LoadKind::swf ? simulation::TraceFormat::swf : simulation::TraceFormat::automatic;
    if (kind != LoadKind::generate && simulation::read_trace(mutant, "f", {.format = as})) ++read;
  }
  EXPECT_GT(read, static_cast<std::size_t>(rounds) / 10);
}

TEST(LoadMutations, BeginWithWhatIsRead) {
  for (const auto& [kind, text] : good_loads()) {
    const auto load = kind == LoadKind::generate ? simulation::generate_load(text, "f", "default") : simulation::read_trace(text, "f", {});
    EXPECT_TRUE(load) << text << (load ? "" : load.error().message);
  }
}

}  // namespace
}  // namespace hindsight::test
