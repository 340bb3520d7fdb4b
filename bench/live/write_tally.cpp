#include "bench/live/write_tally.hpp"

#include <functional>

namespace hindsight::bench {

namespace {

bool is_true(const WorkloadObserved& workload, ConditionType type) {
  for (const auto& c : workload.conditions)
    if (c.type == type) return c.status == ConditionStatus::true_;
  return false;
}

std::size_t hash_of_conditions(const WorkloadObserved& workload) {
  std::string text;
  for (const auto& c : workload.conditions) {
    text += static_cast<char>(c.type);
    text += static_cast<char>(c.status);
    text.append(c.reason).append(1, '\0').append(c.message).append(1, '\0');
  }
  return std::hash<std::string>{}(text);
}

}  // namespace

void SeenWorkload::see(const WorkloadObserved& workload, WriteTally& tally) {
  const bool reserved = workload.has_admission;
  const bool admitted = is_true(workload, ConditionType::admitted);
  const bool evicted = is_true(workload, ConditionType::evicted);
  const bool finished = is_true(workload, ConditionType::finished);
  const std::size_t told = hash_of_conditions(workload);
  if (!known_)
    ++tally.created;
  else if (finished && !finished_)
    ++tally.finished;
  else if (reserved_ && !reserved)
    ++tally.cleared;
  else if (reserved && !reserved_ && admitted)
    ++tally.admissions;
  else if (evicted && !evicted_)
    ++tally.evictions;
  else if (!reserved && told != told_)
    ++tally.reasons;
  else
    ++tally.repeated;
  known_ = true;
  reserved_ = reserved;
  admitted_ = admitted;
  evicted_ = evicted;
  finished_ = finished;
  told_ = told;
}

}  // namespace hindsight::bench
