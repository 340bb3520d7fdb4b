#include "cli/remembered_values.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "cli/condition_parts.hpp"

namespace hindsight::cli {
namespace {

/// What a record may change beside what it touches, which are jobs, Workloads and queues that get a message.
enum class Reach : std::uint8_t { touched, nodes, everything };

Reach reach_of(const RecordView& record) {
  if (std::holds_alternative<Decisions>(record.body)) return Reach::touched;
  const auto* o = std::get_if<Observation>(&record.body);
  if (o == nullptr) return Reach::everything;
  if (std::holds_alternative<NodeObserved>(*o) || std::holds_alternative<NodeUsageObserved>(*o)) return Reach::nodes;
  if (const auto* gone = std::get_if<ObjectDeleted>(o)) {
    if (gone->kind == ObjectKind::node) return Reach::nodes;
    const bool job = gone->kind == ObjectKind::workload || gone->kind == ObjectKind::job || gone->kind == ObjectKind::pod;
    return job ? Reach::touched : Reach::everything;
  }
  const bool of_jobs = std::holds_alternative<WorkloadObserved>(*o) || std::holds_alternative<JobObserved>(*o) ||
                       std::holds_alternative<PodObserved>(*o) || std::holds_alternative<TimerFired>(*o) ||
                       std::holds_alternative<WriteRefused>(*o);
  return of_jobs ? Reach::touched : Reach::everything;
}

bool is_named(const ObjectValue::Parts& p, const admission::WorkloadParent& parent) {
  const auto is_here = [&](const auto& x) { return x.namespace_.text() == p.name.namespace_.value_or("default") && x.name == p.name.name; };
  if (p.name.job_kind.empty()) return std::any_of(parent.workloads().begin(), parent.workloads().end(), is_here);
  return parent.job() && is_here(*parent.job());
}

}  // namespace

bool RememberedValues::may_have_changed(const Known& known, const admission::Entities& entities) const {
  const auto& p = *known.parts;
  const auto& parents = entities.touched_parents();
  const auto& queues = entities.touched_queues();
  if (p.kind->plural == "workloads")
    return std::any_of(parents.begin(), parents.end(), [&](std::uint32_t index) {
      const auto* parent = entities.parent(index);
      return parent == nullptr || (known.parent != nullptr && parent == known.parent) || is_named(p, *parent);
    });
  if (p.kind->plural == "clusterqueues") {
    const auto& catalog = *entities.domain().catalog();
    const Symbol root = catalog.root_of(Symbol(p.name.name));
    return std::any_of(queues.begin(), queues.end(),
                       [&](const Symbol& q) { return q.text() == p.name.name || (!root.empty() && catalog.root_of(q) == root); });
  }
  const auto is = [&](std::string_view kind) { return p.kind->plural == kind; };
  if (is("localqueues") || is("cohorts") || is("resourceflavors")) return !queues.empty();
  if (is("topologies") || is("admissionchecks") || is("workloadpriorityclasses")) return false;
  if (is("nodes") || is("gates")) return !parents.empty() || !queues.empty();
  return true;
}

void RememberedValues::behind(replay::Past& past, const RecordView& record) {
  // Whoever jumps, or begins anew because a record was set aside, has not shown the records between.
  const bool follows = driver_ == &past.driver() && past.folded() <= folded_ + 1;
  driver_ = &past.driver();
  folded_ = past.folded();
  const Reach reach = follows ? reach_of(record) : Reach::everything;
  std::erase_if(known_, [&](const auto& k) {
    if (reach == Reach::everything || (reach == Reach::nodes && k.second.parts->kind->plural == "nodes")) return true;
    return may_have_changed(k.second, past.driver().entities());
  });
  past.driver().forget_touched();
}

const std::vector<Json>& RememberedValues::of(const ObjectValue& value, const admission::StateView& state) {
  const auto [it, fresh] = known_.try_emplace(value.parts().get());
  if (fresh) {
    ++asked_;
    it->second.parts = value.parts();
    it->second.values = value.parts()->in(state, it->second.parent);
  }
  return it->second.values;
}

}  // namespace hindsight::cli
