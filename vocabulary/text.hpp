#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "vocabulary/limits.hpp"

namespace hindsight {

/// Whether all of it is UTF-8: no byte out of place, no surrogates, nothing longer than needed.
[[nodiscard]] bool is_utf8(std::string_view text);

/// The text with U+FFFD in place of what is no UTF-8. What comes from outside of a JSON text (an answer of a server, a system's error) goes
/// through here before it becomes part of a record or of JSON.
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// The beginning of the text of at most `max` bytes, cut at the border of a character. Whatever is cut that may become part of a record, of
/// JSON or of a message goes through here or through cut_message: half a character is no text, and who writes JSON throws.
[[nodiscard]] std::string_view cut_text(std::string_view text, std::size_t max);

/// Cut to `max` bytes at a character boundary, ending in " ..." when cut (BA-21). Cutting what was cut changes nothing. `max` is at
/// least 4.
[[nodiscard]] std::string cut_message(std::string_view text, std::size_t max);

/// Cut to `max` bytes by what stands between the first half and the last, at character boundaries, with " ... " in its place. For what an
/// API server says of a write: it begins with the field, repeats the whole value, and ends with what is wrong with it. `max` is at
/// least 16.
[[nodiscard]] std::string cut_middle(std::string_view text, std::size_t max);

/// The message of a condition as it is decided, compared and written: the one place where it is cut (BA-21).
[[nodiscard]] inline std::string condition_message(std::string_view text) { return cut_message(text, limits::condition_message.size()); }
[[nodiscard]] inline std::string condition_message(std::string&& text) {
  return text.size() <= limits::condition_message.size() ? std::move(text) : condition_message(std::string_view(text));
}
[[nodiscard]] inline std::string condition_message(const std::string& text) { return condition_message(std::string_view(text)); }
[[nodiscard]] inline std::string condition_message(const char* text) { return condition_message(std::string_view(text)); }

}  // namespace hindsight
