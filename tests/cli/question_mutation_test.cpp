// Texts near what people ask in words of their own, from a seed: each is read or refused in words, and what is read has an answer of
// bounded size. libFuzzer goes on from here (question_fuzz.cpp).

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <random>

#include "tests/cli/exercise_question.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::test {
namespace {

constexpr std::string_view question_letters = "()[]{}.,:;=<>!@$*?\"'\\/+-_ \t\n0129aAxzTwdhms\xff\xc3\xe2\x1b%|&~";

void mutate_question(std::string& text, const std::string& other, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (std::size_t changes = below(4); changes > 0; --changes) {
    const std::size_t at = below(text.size() + 1);
    switch (below(7)) {
      case 0:
        text.insert(at, 1, question_letters[below(question_letters.size())]);
        break;
      case 1:
        if (at < text.size()) text.erase(at, 1 + below(4));
        break;
      case 2:
        if (at < text.size()) text[at] = question_letters[below(question_letters.size())];
        break;
      case 3:
        text.insert(at, below(60), question_letters[below(question_letters.size())]);
        break;
      case 4:
        text.insert(at, other.substr(below(other.size() + 1)));
        break;
      case 5:
        text.insert(at, text.substr(0, below(text.size() + 1)));
        break;
      default:
        text.insert(at, std::to_string(static_cast<std::int64_t>(random())));
    }
  }
}

TEST(QuestionMutations, AreReadOrRefusedAndNeverHarm) {
  setenv("TZ", "Europe/Berlin", 1);  // days of 23 and of 25 hours
  tzset();
  const auto& good = good_questions();
  for (const auto& [kind, text] : good) EXPECT_EQ(exercise_question(kind, text), "") << text;
  std::mt19937_64 random(38);
  for (int i = 0; i < as_much_as(200'000, 10'000); ++i) {
    const auto& [kind, text] = good[random() % good.size()];
    std::string mutant = text;
    mutate_question(mutant, good[random() % good.size()].second, random);
    ASSERT_EQ(exercise_question(kind, mutant), "") << static_cast<int>(kind) << " " << printable(mutant);
  }
  unsetenv("TZ");
  tzset();
}

/// The good ones are good, so that the others are near something.
TEST(QuestionMutations, BeginWithWhatIsRead) {
  using enum QuestionKind;
  for (const auto& [kind, text] : good_questions()) {
    const bool read = kind == path_template ? cli::JsonPath::parse_template(text).has_value()
                      : kind == path        ? cli::JsonPath::parse_expression(text).has_value()
                      : kind == columns     ? cli::CustomColumns::parse(text).has_value()
                      : kind == condition   ? cli::Condition::parse(text).has_value()
                      : kind == value       ? cli::ObjectValue::parse(text).has_value()
                      : kind == labels      ? cli::LabelSelector::parse(text).has_value()
                      : kind == fields      ? cli::FieldSelector::parse(text, *cli::find_kind("workloads")).has_value()
                      : kind == moment      ? replay::parse_moment(text).has_value()
                      : kind == quota       ? whatif::parse_quota_change(text).has_value()
                                            : whatif::parse_node_change(text).has_value();
    EXPECT_TRUE(read) << text;
  }
}

}  // namespace
}  // namespace hindsight::test
