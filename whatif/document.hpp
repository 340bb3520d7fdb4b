#pragma once

#include <vector>

#include "projections/json.hpp"
#include "whatif/comparison.hpp"
#include "whatif/many_player.hpp"
#include "whatif/player.hpp"

namespace hindsight::whatif {

/// A play as programs read it: what `hindsight what-if -o json` prints (docs/what-if.md). `from` and `until`: as in PlayOptions.
[[nodiscard]] projections::Json to_json(const Comparison& comparison, const PlayReport& report, Position from, Position until);
/// The same of a play of several domains: counts are of all, and `domains` has those of each with its state hash.
[[nodiscard]] projections::Json to_json(const Comparison& comparison, const std::vector<DomainReport>& reports, Position from,
                                        Position until);

}  // namespace hindsight::whatif
