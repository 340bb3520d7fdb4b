#include "page/views/indexed_hour.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace hindsight::page {
namespace {

using timeline::CurveKind;

/// Values as the index tells them.
ViewCurve curve_from(const TimelineIndex& index, CurveKind kind, const ViewCurve& empty, Time from, Time to) {
  const Json told = index.curve(kind, from, to, hour_points);
  ViewCurve out = empty;
  const auto& values = told.at("value");
  for (std::size_t i = 0; i < std::min(out.value.size(), values.size()); ++i)
    if (values[i].is_number()) out.value[i] = values[i].get<std::int64_t>();
  return out;
}

}  // namespace

HourSource indexed_hour(IndexOfLook index_of) {
  return [index_of = std::move(index_of)](const Look& look, const Symbol& flavor, const Symbol& resource) -> Result<HourBefore> {
    auto folded = fold_hour(look, flavor, resource, indexed_hour_records_min);
    if (!folded || folded->evicted_in_all) return folded;
    const auto index = index_of(look);
    if (index == nullptr || index->scanned_to() < look.position()) return fold_hour(look, flavor, resource);
    const Time now = look.past.driver().now(), from = std::max(now - hour_span, Time{0});
    HourBefore out = unknown_hour(from, now);
    out.waiting = curve_from(*index, CurveKind::waiting, out.waiting, from, now);
    out.oldest_wait = curve_from(*index, CurveKind::oldest_wait, out.oldest_wait, from, now);
    out.used = curve_from(*index, CurveKind::used, out.used, from, now);
    out.evicted = curve_from(*index, CurveKind::evicted, out.evicted, from, now);
    std::int64_t evicted = 0;
    for (const auto& value : out.evicted.value) evicted += value.value_or(0);
    out.evicted_in_all = evicted;
    return out;
  };
}

}  // namespace hindsight::page
