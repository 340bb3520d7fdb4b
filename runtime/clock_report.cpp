#include "runtime/clock_report.hpp"

#include <cstdio>

namespace hindsight::runtime {
namespace {

std::string seconds(Duration d) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(d.micros) / 1e6);
  return text;
}

std::string side(Duration d) { return seconds({d.micros < 0 ? -d.micros : d.micros}) + (d.micros < 0 ? " s behind" : " s ahead"); }

bool far(Duration d) { return d > actors::DayClock::step_min || d < Duration{-actors::DayClock::step_min.micros}; }

}  // namespace

operations::HealthCondition ClockReport::condition() const {
  std::string detail;
  const auto say = [&](const std::string& what) { detail += (detail.empty() ? "" : "; ") + what; };
  if (far(clocks.machine)) say("the clock of this machine is " + side(clocks.machine));
  if (clocks.api_server && far(*clocks.api_server)) say("the clock of the API server is " + side(*clocks.api_server));
  if (far(ahead)) say("the times in the log are " + side(ahead));
  return {"clock", true, detail.empty() ? "as it should be" : detail};
}

void ClockReport::add_metrics(MetricsText& out) const {
  const auto in_seconds = [](Duration d) { return static_cast<double>(d.micros) / 1e6; };
  out.add("hindsight_clock_steps_total", clocks.steps);
  out.add_seconds("hindsight_clock_machine_offset_seconds", in_seconds(clocks.machine));
  if (clocks.api_server) out.add_seconds("hindsight_clock_api_server_offset_seconds", in_seconds(*clocks.api_server));
  out.add_seconds("hindsight_log_clock_ahead_seconds", in_seconds(ahead));
}

std::string text_of(const actors::ClockStep& step) {
  if (step.over) return step.source + " is as it should be again: " + format_rfc3339(step.to);
  return step.source + " says " + format_rfc3339_micro(step.to) + " where " + format_rfc3339_micro(step.from) +
         " was expected: time goes on evenly, and nears it by a tenth at most where it counts";
}

}  // namespace hindsight::runtime
