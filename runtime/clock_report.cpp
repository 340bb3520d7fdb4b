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

void add(std::string& out, const char* name, const char* kind, const std::string& value) {
  out += std::string("# TYPE ") + name + " " + kind + "\n" + name + " " + value + "\n";
}

}  // namespace

operations::HealthCondition ClockReport::condition() const {
  std::string detail;
  const auto say = [&](const std::string& what) { detail += (detail.empty() ? "" : "; ") + what; };
  if (far(clocks.machine)) say("the clock of this machine is " + side(clocks.machine));
  if (clocks.api_server && far(*clocks.api_server)) say("the clock of the API server is " + side(*clocks.api_server));
  if (far(ahead)) say("the times in the log are " + side(ahead));
  return {"clock", true, detail.empty() ? "as it should be" : detail};
}

std::string ClockReport::metrics() const {
  std::string out;
  add(out, "hindsight_clock_steps_total", "counter", std::to_string(clocks.steps));
  add(out, "hindsight_clock_machine_offset_seconds", "gauge", seconds(clocks.machine));
  if (clocks.api_server) add(out, "hindsight_clock_api_server_offset_seconds", "gauge", seconds(*clocks.api_server));
  add(out, "hindsight_log_clock_ahead_seconds", "gauge", seconds(ahead));
  return out;
}

std::string text_of(const actors::ClockStep& step) {
  if (step.over) return step.source + " is as it should be again: " + format_rfc3339(step.to);
  return step.source + " says " + format_rfc3339_micro(step.to) + " where " + format_rfc3339_micro(step.from) +
         " was expected: time goes on evenly, and nears it by a tenth at most where it counts";
}

}  // namespace hindsight::runtime
