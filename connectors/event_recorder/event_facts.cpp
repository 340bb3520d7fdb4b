#include "connectors/event_recorder/event_facts.hpp"

#include "admission/domain/domain.hpp"
#include "admission/model/catalog_view.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::connectors {
namespace {

using admission::Condition;
using admission::WorkloadState;

Time changed_at(const WorkloadState& w, ConditionType type) {
  const Condition* condition = w.find(type);
  return condition == nullptr ? Time::never() : condition->last_transition;
}

JobFacts facts_of(const admission::JobState& job) {
  return {.uid = job.uid.text(),
          .kind = std::string(job.kind.text()),
          .group = std::string(job.group.text()),
          .namespace_ = std::string(job.namespace_.text()),
          .name = job.name.text(),
          .suspended = job.suspended};
}

WorkloadFacts facts_of(const WorkloadState& w, const admission::Settings& settings) {
  WorkloadFacts facts;
  facts.uid = w.uid;
  facts.namespace_ = w.namespace_.text();
  facts.name = w.name;
  facts.created = w.created;
  facts.requeued_at = changed_at(w, ConditionType::requeued);
  facts.reserved_at = changed_at(w, ConditionType::quota_reserved);
  facts.admitted_at = changed_at(w, ConditionType::admitted);
  facts.evicted_at = changed_at(w, ConditionType::evicted);
  facts.active = w.active;
  facts.finished = w.finished();
  facts.reserved = w.reserved();
  facts.admitted = w.admitted();
  facts.evicted = w.evicted();
  if (w.admission) facts.cluster_queue = w.admission->cluster_queue.text();
  facts.max_exec_seconds = w.max_exec_seconds;
  facts.priority = w.effective_priority(settings);
  facts.boost = settings.priority_boost ? w.priority_boost : 0;
  return facts;
}

}  // namespace

FactSource facts_of(const admission::StateView& state) {
  return [&state](Text uid) -> std::optional<WorkloadFacts> {
    const auto index = state.domain().find_parent(uid);
    const auto* parent = index ? state.parent(*index) : nullptr;
    if (parent == nullptr) return std::nullopt;
    for (const auto& workload : parent->workloads()) {
      if (workload.uid != uid) continue;
      WorkloadFacts facts = facts_of(workload, state.domain().catalog()->settings);
      // What becomes of Options concerns the job only as far as its own Workload, their Parent, shows it (8691 CA-12).
      if (parent->job() && !workload.is_made_as_option()) facts.job = facts_of(*parent->job());
      return facts;
    }
    return std::nullopt;
  };
}

}  // namespace hindsight::connectors
