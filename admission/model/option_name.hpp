#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hindsight::admission {

/// Longest names of Workloads: the default, and with gate ShortWorkloadNames.
inline constexpr std::size_t option_name_limit = 253;
inline constexpr std::size_t short_option_name_limit = 63;

/// The name of an Option's Workload (8691 §2.7): "<workload>-option-<option>", where `option` is the flavor or the name of the explicit
/// Option. With `hashed`, which is for when something else has that name, and where it is longer than `limit`, both parts are cut and five
/// hex digits tell it from others; `limit` is at least 20.
[[nodiscard]] std::string option_name(std::string_view workload, std::string_view workload_uid, std::string_view option, std::size_t limit,
                                      bool hashed);

}  // namespace hindsight::admission
