#pragma once

#include <optional>
#include <string>

#include "casefile/curves.hpp"
#include "projections/life.hpp"

namespace hindsight::casefile {

/// The axis of time that all pictures share, and what the Workload did meanwhile, which is drawn behind the curves.
struct Frame {
  Time from, to;
  const projections::Life* life = nullptr;  ///< Null: not known.
};

// Pictures for a page, as SVG without scripts, styles or references; their colours are classes of the page. The same input gives the same
// bytes: numbers are computed in whole tenths of a unit.

/// What the Workload did, one stretch behind the other.
[[nodiscard]] std::string life_picture(const Frame& frame);
/// Curves with steps over the stretches in which it waited and ran.
[[nodiscard]] std::string plot_picture(const Plot& plot, const Frame& frame);

/// "wait", "held", "run", "stop", "unknown": class of a stretch.
[[nodiscard]] std::string_view class_of(projections::LifeSpan::Kind kind);
/// Class of a curve.
[[nodiscard]] std::string_view class_of(Curve::Kind kind);

}  // namespace hindsight::casefile
