#include "cli/live/space_report.hpp"

#include "vocabulary/amount.hpp"

namespace hindsight::cli {
namespace {

/// An empty log and what a transaction needs; less would be full before it began.
constexpr Amount limit_min = Amount{1} << 20;

}  // namespace

operations::HealthCondition space_condition(const events::LogSpace& space) {
  if (space.full()) return {"disk", false, "full: " + space.text() + "; nothing is decided until there is room"};
  return {"disk", true, (space.nearly_full() ? "nearly full: " : "") + space.text()};
}

std::string space_metrics(const events::LogSpace& space) {
  std::string out;
  const auto add = [&](const char* name, std::uint64_t value) {
    out += std::string("# TYPE ") + name + " gauge\n" + name + " " + std::to_string(value) + "\n";
  };
  add("hindsight_log_used_bytes", space.used);
  add("hindsight_log_files_bytes", space.files);
  if (space.limit != 0) add("hindsight_log_limit_bytes", space.limit);
  if (space.disk != 0) add("hindsight_log_disk_free_bytes", space.disk_free);
  add("hindsight_log_full", space.full() ? 1 : 0);
  return out;
}

Result<std::uint64_t> parse_log_limit(const std::string& text) {
  if (text.empty()) return 0;
  const auto bytes = parse_quantity(text, "memory");
  if (!bytes || *bytes < limit_min)
    return fail(ErrorKind::invalid, "--log-limit: found \"" + text + "\"; allowed: a quantity of at least 1Mi, as 8Gi");
  return static_cast<std::uint64_t>(*bytes);
}

}  // namespace hindsight::cli
