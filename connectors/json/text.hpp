#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hindsight::connectors {

/// As Go's strconv.ParseBool reads true: "1", "t", "T", "true", "TRUE", "True".
[[nodiscard]] bool is_true(std::string_view text);
/// A decimal int32 with optional sign, nothing else around it.
[[nodiscard]] std::optional<std::int32_t> parse_int32(std::string_view text);
/// At most 63 characters of letters, digits, '-', '_' and '.', beginning and ending with a letter or digit; or empty.
[[nodiscard]] bool is_label_value(std::string_view text);
/// RFC 1123 label: at most 63 of lower case letters, digits and '-', not at the ends.
[[nodiscard]] bool is_dns_label(std::string_view text);
/// Cut to `max` bytes at a character boundary, ending in " ..." when cut (BA-21).
[[nodiscard]] std::string cut_message(std::string_view text, std::size_t max);

/// Longest message of a condition in bytes (base-api §1).
inline constexpr std::size_t condition_message_max = 32768;

}  // namespace hindsight::connectors
