#pragma once

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

}  // namespace hindsight
