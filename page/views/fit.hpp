#pragma once

#include "page/view.hpp"

namespace hindsight::page {

/// GET topologies/{name}/fit?pods=&requests=&level=&mode=&flavor= : where a gang of `pods` alike pods would stand as things are, by the
/// placement of the rules themselves; quota is not looked at, and nothing is changed. `level`: a node label of the topology (the topmost
/// one without it); `mode`: required, preferred or unconstrained (required without it); `flavor`: only this one (without it the first that
/// has room). Pods that ask for nothing else: no selectors, no tolerations of their own. At most `fit_domains_max` domains are told.
/// Errors: not_found (the topology, the flavor), invalid.
[[nodiscard]] Result<Json> fit_view(const Look& look, const Parameters& parameters);

inline constexpr std::size_t fit_domains_max = 20'000;

}  // namespace hindsight::page
