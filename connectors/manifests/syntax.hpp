#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::connectors::manifests {

// The small grammars of the Kubernetes API: names, labels, quantities, times. All ASCII, no locale.

/// RFC 1123 subdomain of 1 to 253 characters: lower-case letters, digits, '-' and '.'.
[[nodiscard]] bool is_dns_subdomain(std::string_view text);
/// RFC 1123 label of 1 to 63 characters: lower-case letters, digits and '-'.
[[nodiscard]] bool is_dns_label(std::string_view text);
/// The name part of a label key, 1 to 63 characters, after an optional DNS prefix and '/'.
[[nodiscard]] bool is_qualified_name(std::string_view text);
/// Empty, or at most 63 letters, digits, '-', '_' and '.', alphanumeric at both ends.
[[nodiscard]] bool is_label_value(std::string_view text);
/// The reason of a condition: starts with a letter, ends alphanumeric or '_'; 1 to 1024 characters.
[[nodiscard]] bool is_condition_reason(std::string_view text);
/// The syntax of a Kubernetes quantity, with or without a sign.
[[nodiscard]] bool is_quantity(std::string_view text);
/// About the value of a quantity in its base unit; nothing where it is none. For bounds, not for sums.
[[nodiscard]] std::optional<long double> quantity_value(std::string_view text);
/// RFC 3339 as the API server takes it for metav1.Time.
[[nodiscard]] bool is_time(std::string_view text);

/// The candidate that a person who wrote `word` most likely meant; empty: none is near.
[[nodiscard]] std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace hindsight::connectors::manifests
