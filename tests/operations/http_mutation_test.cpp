// Damaged requests: whatever bytes come over a socket, the server answers with answers or closes, and goes on. Seeded, so that a failure
// can be repeated; libFuzzer goes on from here (http_fuzz.cpp). HINDSIGHT_MUTATIONS says how many.

#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/operations/exercise_http.hpp"

namespace hindsight::operations {
namespace {

const std::vector<std::string> words{"\r\n",
                                     "\n",
                                     "\r",
                                     ":",
                                     " ",
                                     "\t",
                                     ";",
                                     ",",
                                     "%",
                                     "%00",
                                     "?",
                                     "#",
                                     "\"",
                                     "0",
                                     "-1",
                                     "ffffffffffffffff",
                                     "18446744073709551616",
                                     "Content-Length: 3\r\n",
                                     "Transfer-Encoding: chunked\r\n",
                                     "Content-Encoding: br\r\n",
                                     "Expect: 100-continue\r\n",
                                     "Connection: keep-alive\r\n",
                                     "HTTP/1.0",
                                     "HTTP/1.1",
                                     "PUT /put",
                                     "HEAD /hello",
                                     "http://x",
                                     "\r\n\r\n",
                                     "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n",
                                     std::string(1, '\0')};

TEST(HttpMutation, EveryRequestOfTheCorpusIsSurvived) {
  for (const auto& request : http_corpus())
    for (const char piece : {'\0', '\x01', '\xff'})
      if (piece != '\0' || request.size() < 5'000) {
        ASSERT_NO_THROW(exercise_http(piece + request)) << request.substr(0, 300);
      }
}

TEST(HttpMutation, DamagedRequestsAreSurvived) {
  const char* wanted = std::getenv("HINDSIGHT_MUTATIONS");
  const int times = wanted != nullptr ? std::atoi(wanted) : 1'500;
  const auto corpus = http_corpus();
  for (int seed = 0; seed < times; ++seed) {
    TextMutator mutator(static_cast<std::uint64_t>(seed));
    std::string request = corpus[mutator.below(corpus.size())];
    mutator.mutate(request, words, corpus[mutator.below(corpus.size())]);
    const char piece = static_cast<char>(request.size() > 5'000 ? 255 : mutator.below(256));
    ASSERT_NO_THROW(exercise_http(piece + request)) << "seed " << seed << ": " << request.substr(0, 300);
  }
}

}  // namespace
}  // namespace hindsight::operations
