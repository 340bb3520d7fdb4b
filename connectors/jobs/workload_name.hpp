#pragma once

#include <string>
#include <string_view>

namespace hindsight::connectors {

/// Longest Workload names: the default, and with gate ShortWorkloadNames.
inline constexpr std::size_t workload_name_max = 253;
inline constexpr std::size_t short_workload_name_max = 63;

/// The name of an owner's Workload: lower(kind)-name cut to max − 6 bytes at a character, '-' and five hex digits of SHA-1 over kind,
/// group, name, uid and, when not empty, `extra`, one a line (base-api §3, 77 §2.4). BA-170.
[[nodiscard]] std::string workload_name(std::string_view kind, std::string_view group, std::string_view owner_name,
                                        std::string_view owner_uid, std::string_view extra = {}, std::size_t max = workload_name_max);

}  // namespace hindsight::connectors
