// Reviews that no API server would send: whatever is posted to a webhook over a socket is answered with a verdict or refused, and the next
// one is answered too. Seeded; libFuzzer goes on from here (webhook_fuzz.cpp). HINDSIGHT_MUTATIONS says how many.

#include <cstdlib>
#include <set>

#include <gtest/gtest.h>

#include "tests/operations/exercise_http.hpp"
#include "tests/runtime/exercise_webhooks.hpp"
#include "vocabulary/limits.hpp"

namespace hindsight::test {
namespace {

const std::vector<std::string> words{"{",
                                     "}",
                                     "[",
                                     "]",
                                     ",",
                                     ":",
                                     "\"",
                                     "\\",
                                     "null",
                                     "true",
                                     "-0",
                                     "1e999",
                                     "9223372036854775808",
                                     "{\"\":",
                                     "[[[[[[[[",
                                     "\"\\ud800\"",
                                     "\"uid\":",
                                     "\"object\":null,",
                                     "\"metadata\":[],",
                                     "\"labels\":{\"\":7},",
                                     "\"annotations\":\"x\",",
                                     "\xff",
                                     "\xe4\xb8",
                                     std::string(1, '\0')};

TEST(WebhookMutation, EveryReviewOfTheCorpusIsAnswered) {
  const auto corpus = review_corpus();
  EXPECT_GT(corpus.size(), 300U);
  for (const auto& review : corpus) ASSERT_NO_THROW(exercise_webhooks(review)) << review.substr(0, 500);
}

// The longest text of the corpus is far below what an object may hold; these are around it, and beyond what a request may.
TEST(WebhookMutation, TextsBeyondTheLongestObjectAreAnswered) {
  const auto corpus = review_corpus();
  for (const std::size_t n : {limits::object_text.size() + 1, 3 * limits::object_text.size()}) {
    // One review of every fourth path: they share one reader.
    std::set<char> paths;
    for (const auto& review : corpus) {
      const auto at = review.find("\"name\":\"");
      if (at == std::string::npos || review.front() % 4 != 0 || !paths.insert(review.front()).second) continue;
      std::string stretched = review;
      stretched.insert(at + 8, std::string(n, 'n'));
      ASSERT_NO_THROW(exercise_webhooks(stretched)) << n;
    }
    EXPECT_GT(paths.size(), 2U);
  }
}

TEST(WebhookMutation, DamagedReviewsAreAnswered) {
  const char* wanted = std::getenv("HINDSIGHT_MUTATIONS");
  const int times = wanted != nullptr ? std::atoi(wanted) : 1'500;
  const auto corpus = review_corpus();
  for (int seed = 0; seed < times; ++seed) {
    operations::TextMutator mutator(static_cast<std::uint64_t>(seed));
    std::string review = corpus[mutator.below(corpus.size())];
    const char path = review.front();
    review.erase(0, 1);
    mutator.mutate(review, words, corpus[mutator.below(corpus.size())]);
    ASSERT_NO_THROW(exercise_webhooks(path + review)) << "seed " << seed << ": " << review.substr(0, 500);
  }
}

}  // namespace
}  // namespace hindsight::test
