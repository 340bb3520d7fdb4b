#include "doctor/context.hpp"

#include <algorithm>

namespace hindsight::doctor {

Time machine_time() {
  return {std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count()};
}

Time Context::now() const {
  const auto sample = cluster == nullptr ? std::nullopt : cluster->clock();
  return sample ? sample->server + (machine_time() - sample->ours) : machine_time();
}

std::string counted(std::size_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string some_of(const std::vector<std::string>& all, std::size_t shown) {
  std::string out;
  const std::size_t count = std::min(all.size(), shown);
  for (std::size_t i = 0; i < count; ++i) out += (i == 0 ? "" : ", ") + all[i];
  if (all.size() > count) out += " and " + std::to_string(all.size() - count) + " more";
  return out;
}

std::string rough(Duration duration) {
  const std::int64_t seconds = (duration.micros < 0 ? -duration.micros : duration.micros) / 1'000'000;
  constexpr std::int64_t minute = 60, hour = 60 * minute, day = 24 * hour;
  if (seconds >= 2 * day) return std::to_string(seconds / day) + "d";
  if (seconds >= 2 * hour) return std::to_string(seconds / hour) + "h";
  if (seconds >= 2 * minute) return std::to_string(seconds / minute) + "m";
  return std::to_string(seconds) + "s";
}

}  // namespace hindsight::doctor
