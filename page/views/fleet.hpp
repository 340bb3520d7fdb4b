#pragma once

#include "page/view.hpp"

namespace hindsight::page {

/// GET fleet?limit= : who decided when in this domain, up to where one looks from: its newest epochs, the newest first, each with who began
/// it. `leftOut`: how many older ones there are, by their numbers. Epochs never fall, so they are found without reading the log whole. An
/// epoch that began before the first record that is kept has an owner only where the log noted one when it was cut.
[[nodiscard]] Result<Json> fleet_view(const Look& look, const Parameters& parameters);

}  // namespace hindsight::page
