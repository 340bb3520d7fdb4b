#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::operations {

/// Any bytes, given to a real server over a real socket. The first says in how large pieces. Throws std::logic_error when what comes back
/// is not a row of answers, or when the server does not answer others afterwards.
void exercise_http(std::string_view bytes);

/// Requests to begin with, good and bad, with texts beyond every limit among them.
[[nodiscard]] std::vector<std::string> http_corpus();

/// A text that was good, in the ways in which senders, proxies and attackers change it.
class TextMutator {
 public:
  explicit TextMutator(std::uint64_t seed) : random_(seed) {}

  void mutate(std::string& text, const std::vector<std::string>& words, const std::string& other);
  [[nodiscard]] std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

 private:
  std::mt19937_64 random_;
};

}  // namespace hindsight::operations
