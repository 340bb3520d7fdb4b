#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hindsight::connectors {

/// As Go's strconv.ParseBool reads true: "1", "t", "T", "true", "TRUE", "True".
[[nodiscard]] bool is_true(std::string_view text);
/// A decimal int32 with optional sign, nothing else around it.
[[nodiscard]] std::optional<std::int32_t> parse_int32(std::string_view text);
/// At most 63 characters of letters, digits, '-', '_' and '.', beginning and ending with a letter or digit; or empty.
[[nodiscard]] bool is_label_value(std::string_view text);
/// RFC 1123 label: at most 63 of lower case letters, digits and '-', not at the ends.
[[nodiscard]] bool is_dns_label(std::string_view text);
/// What stands between commas, without the blanks around it; nothing but blanks is nothing.
[[nodiscard]] std::vector<std::string_view> comma_separated(std::string_view text);
}  // namespace hindsight::connectors
