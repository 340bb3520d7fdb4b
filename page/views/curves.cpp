#include "page/views/curves.hpp"

#include <nlohmann/json.hpp>

#include "vocabulary/amount.hpp"

namespace hindsight::page {

Json to_json(const ViewCurve& curve) {
  Json out{{"time", Json::array()}, {"value", Json::array()}};
  for (const Time time : curve.time) out["time"].push_back(time.micros);
  for (const auto& value : curve.value) out["value"].push_back(value ? Json(*value) : Json(nullptr));
  return out;
}

ViewCurve empty_curve(Time from, Time to, std::size_t points) {
  ViewCurve out;
  const WideAmount span = (to - from).micros;
  for (std::size_t i = 1; i <= points; ++i)
    out.time.push_back(from + Duration{static_cast<std::int64_t>(span * static_cast<WideAmount>(i) / static_cast<WideAmount>(points))});
  out.value.resize(points);
  return out;
}

}  // namespace hindsight::page
