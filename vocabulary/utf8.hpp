#pragma once

#include <cstdint>
#include <string_view>

namespace hindsight {

/// The character at the front of a text.
struct Utf8Character {
  char32_t code = 0;
  std::uint32_t size = 0;  ///< In bytes; 0: the first byte begins no character (overlong forms, surrogates and cut ones are none).
};

/// `text` is not empty.
[[nodiscard]] Utf8Character first_character(std::string_view text);

}  // namespace hindsight
