#pragma once

#include <chrono>

namespace hindsight {

/// How much of something long a test does: less where AddressSanitizer makes each bit of it many times as slow. A test that says
/// so does all of it elsewhere in the same run: it is registered with PLAIN, or runs under ThreadSanitizer too.
template <class T>
[[nodiscard]] constexpr T as_much_as([[maybe_unused]] T plain, [[maybe_unused]] T sanitized) {
#ifdef __SANITIZE_ADDRESS__
  return sanitized;
#else
  return plain;
#endif
}

/// How long somebody waits whose patience is so many seconds: longer where a sanitizer makes everybody slower.
[[nodiscard]] constexpr std::chrono::seconds patience(int plain) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return std::chrono::seconds(6 * plain);
#else
  return std::chrono::seconds(plain);
#endif
}

}  // namespace hindsight
