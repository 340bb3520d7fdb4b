#include "projections/share_words.hpp"

#include <array>
#include <cstdio>

namespace hindsight::projections {

std::string share_words(const admission::Share& s, bool exact) {
  if (s.infinite()) return "infinite";
  if (!exact) return std::to_string(s.rounded());
  std::array<char, 400> digits{};  // of the largest double
  std::snprintf(digits.data(), digits.size(), "%.3f", s.value());
  return digits.data();
}

bool differ_when_exact(const admission::Share& a, const admission::Share& b) { return compare(a, b) != 0 && a.rounded() == b.rounded(); }

}  // namespace hindsight::projections
