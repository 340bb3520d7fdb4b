#include "projections/format.hpp"

namespace hindsight::projections {

std::string human_duration(Duration d) {
  const std::int64_t seconds = d.micros / 1'000'000;
  if (seconds < 0) return "0s";
  const std::int64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  const auto with_rest = [](std::int64_t n, const char* unit, std::int64_t rest, const char* smaller) {
    return std::to_string(n) + unit + (rest == 0 ? "" : std::to_string(rest) + smaller);
  };
  if (seconds < 120) return std::to_string(seconds) + "s";
  if (minutes < 10) return with_rest(minutes, "m", seconds % 60, "s");
  if (hours < 3) return std::to_string(minutes) + "m";
  if (hours < 8) return with_rest(hours, "h", minutes % 60, "m");
  if (hours < 48) return std::to_string(hours) + "h";
  if (days < 8) return with_rest(days, "d", hours % 24, "h");
  if (days < 730) return std::to_string(days) + "d";
  return with_rest(days / 365, "y", days % 365, "d");
}

std::string age(Time since, Time now) { return since.is_set() && now.is_set() ? human_duration(now - since) : "<unknown>"; }

std::string amount_text(Amount amount, const Symbol& resource) {
  return amount == unlimited ? "unlimited" : format_amount(amount, resource.text());
}

std::string weight_text(std::int64_t nano) {
  constexpr std::int64_t unit = 1'000'000'000;
  std::string out = std::to_string(nano / unit);
  if (nano % unit == 0) return out;
  std::string fraction = std::to_string(unit + nano % unit).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return out + "." + fraction;
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::string first_names(const std::vector<std::string>& names) {
  constexpr std::size_t named_max = 3;
  if (names.size() <= named_max + 1) return joined(names);
  const std::vector<std::string> first(names.begin(), names.begin() + named_max);
  return joined(first) + " and " + std::to_string(names.size() - named_max) + " more";
}

std::string joined(const std::vector<Symbol>& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i].text();
  }
  return out;
}

std::string full_name(std::string_view namespace_, std::string_view name) {
  if (namespace_.empty()) return std::string(name);
  return std::string(namespace_) + "/" + std::string(name);
}

std::string counted(std::size_t n, std::string_view noun) { return std::to_string(n) + " " + std::string(noun) + (n == 1 ? "" : "s"); }

std::string path_text(const std::vector<std::string>& path) {
  std::string out;
  for (const auto& value : path) out += (out.empty() ? "" : "/") + value;
  return out;
}

}  // namespace hindsight::projections
