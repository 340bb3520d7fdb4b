#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vocabulary/amount.hpp"
#include "vocabulary/decisions.hpp"
#include "vocabulary/symbol.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::projections {

// How values are written for people; the same everywhere.

/// As kubectl writes ages: "45s", "5m30s", "3h", "2d4h", "400d".
[[nodiscard]] std::string human_duration(Duration d);
/// The time between two moments as an age; "<unknown>" if one is not set.
[[nodiscard]] std::string age(Time since, Time now);
/// A quantity of the resource; "unlimited" for a quota without end.
[[nodiscard]] std::string amount_text(Amount amount, const Symbol& resource);
/// A fair sharing weight, kept in 10⁻⁹: "1", "0.5".
[[nodiscard]] std::string weight_text(std::int64_t nano);
[[nodiscard]] std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");
[[nodiscard]] std::string joined(const std::vector<Symbol>& parts, std::string_view separator = ", ");
/// "a, b, c and 4 more": so that a list that is cut says how much is left out.
[[nodiscard]] std::string first_names(const std::vector<std::string>& names);
[[nodiscard]] inline std::string text(Symbol s) { return std::string(s.text()); }
/// "namespace/name", or the name alone.
[[nodiscard]] std::string full_name(std::string_view namespace_, std::string_view name);
[[nodiscard]] inline std::string full_name(const WorkloadRef& w) { return full_name(w.namespace_, w.name); }
/// "1 workload", "2 workloads".
[[nodiscard]] std::string counted(std::size_t n, std::string_view noun);

/// Values of the levels of a topology from the top: "block-1/rack-2".
[[nodiscard]] std::string path_text(const std::vector<std::string>& path);

}  // namespace hindsight::projections
