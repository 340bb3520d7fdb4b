#include "projections/families.hpp"

#include <algorithm>
#include <set>

#include "admission/domain/domain.hpp"
#include "admission/model/option_name.hpp"
#include "admission/options/option_plan.hpp"
#include "admission/workload/family.hpp"
#include "events/decision_fields.hpp"
#include "projections/format.hpp"
#include "projections/phase.hpp"
#include "projections/queue_place.hpp"

namespace hindsight::projections {
namespace {

using namespace admission;
using events::api_name;

bool is_option_of(const WorkloadState& w, const WorkloadState& parent) {
  return w.is_made_as_option() && w.option_of() == parent.uid && w.namespace_ == parent.namespace_;
}

bool is_admitted(const WorkloadState& w) { return w.reserved() && w.admitted() && !w.finished(); }

/// Of a pending Option: does somebody else's admission keep the family from being one that waits?
bool job_runs(const WorkloadAt& family) {
  if (family.workload == nullptr) return false;
  const auto& all = family.parent->workloads();
  return family.workload->reserved() ||
         std::any_of(all.begin(), all.end(), [&](const WorkloadState& w) { return is_option_of(w, *family.workload) && is_admitted(w); });
}

void tell(OptionLane& lane, const Condition* condition) {
  if (condition == nullptr) return;
  lane.why = condition->message;
  lane.since = condition->last_transition;
}

std::string checks_to_come(const WorkloadState& w) {
  std::vector<std::string> parts;
  for (const auto& c : w.checks)
    if (c.state != CheckState::ready) parts.push_back(text(c.name) + " is " + std::string(api_name(c.state)));
  return joined(parts);
}

void tell_state(OptionLane& lane, const WorkloadState& parent) {
  const WorkloadState& w = *lane.workload;
  const Phase phase = phase_of(w);
  lane.state = name_of(phase);
  switch (phase) {
    case Phase::finished:
      return tell(lane, w.find(ConditionType::finished));
    case Phase::evicted:
      lane.state += "/" + reason_of(w);
      return tell(lane, w.find(ConditionType::evicted));
    case Phase::admitted:
      return tell(lane, w.find(ConditionType::admitted));
    case Phase::quota_reserved:
      tell(lane, w.find(ConditionType::quota_reserved));
      if (const auto checks = checks_to_come(w); !checks.empty()) {
        lane.why += ", waiting for admission checks: " + checks;
      } else if (lane.target) {
        lane.state = "Migrating";
        lane.why += ", waiting for the job to stop";
      }
      return;
    case Phase::inactive:
      for (const auto& shown : parent.family->options)
        if (shown.name == w.name) lane.since = shown.last_transition;
      lane.why = option_state(w).message.value();
      if (lane.why.empty()) lane.why = "spec.active is false";
      return;
    case Phase::pending:
      tell(lane, w.find(ConditionType::quota_reserved));
      if (w.find(ConditionType::quota_reserved) == nullptr)
        lane.why = "nothing was decided about it yet";
      else
        lane.state += "/" + reason_of(w);
      if (lane.target) lane.state = "Migrating";
      return;
  }
}

void tell_times(OptionLane& lane, const WorkloadState& parent, const OptionSpec& spec, const Settings& settings) {
  const FamilyState& family = *parent.family;
  const WorkloadState* w = lane.workload;
  if (w != nullptr && w->finished()) return;
  const OptionCause cause = w == nullptr ? OptionCause::none : option_state(*w).cause;
  const bool delayed = cause == OptionCause::none || cause == OptionCause::create_delay;
  if (spec.create_delay_seconds > 0 && (w == nullptr || !w->active) && delayed && parent.active)
    lane.not_before = family.cycle_start + Duration::seconds(spec.create_delay_seconds);
  if (w == nullptr) return;
  if (w->active && !lane.running && spec.delete_delay_seconds && family.first_admitted.is_set())
    lane.until = family.first_admitted + Duration::seconds(*spec.delete_delay_seconds);
  lane.may_preempt = option_state(*w).gate_open;
  if (lane.may_preempt && !w->reserved() && settings.preemption_right_timeout.micros > 0)
    lane.right_until = option_state(*w).gate_since + settings.preemption_right_timeout;
}

}  // namespace

const WorkloadState* parent_of(const WorkloadAt& at) {
  if (at.workload == nullptr || !at.workload->is_made_as_option()) return nullptr;
  for (const auto& w : at.parent->workloads())
    if (w.family && is_option_of(*at.workload, w)) return &w;
  return nullptr;
}

std::string family_name(const WorkloadInfo& w) {
  return full_name(w.namespace_.text(), w.option == nullptr ? w.name.view() : w.option->parent_name.view());
}

std::vector<OptionLane> lanes_of(const StateView& state, const WorkloadAt& at) {
  const WorkloadState& parent = *at.workload;
  if (!parent.family) return {};
  const FamilyState& family = *parent.family;
  const Catalog& catalog = *state.domain().catalog();
  const auto* queue = catalog.queue(queue_of(state, parent));
  std::vector<OptionSpec> specs;
  if (queue != nullptr && queue->concurrent.enabled) {
    const auto* own = parent.family_facts && parent.family_facts->constrained ? &parent.family_facts->allowed : nullptr;
    specs = option_specs(*queue, own);
  }
  std::vector<const WorkloadState*> others;
  for (const auto& w : at.parent->workloads())
    if (is_option_of(w, parent)) others.push_back(&w);
  const auto add = [&](OptionLane lane, const OptionSpec* spec) {
    if (lane.workload != nullptr) {
      lane.running = is_admitted(*lane.workload);
      lane.target = !family.migrating_to.empty() && lane.workload->uid == family.migrating_to;
      tell_state(lane, parent);
    } else {
      lane.state = "Requested";
      lane.why = "it was asked for and is not there yet";
    }
    if (spec != nullptr) tell_times(lane, parent, *spec, catalog.settings);
    return lane;
  };

  std::vector<OptionLane> out;
  for (std::size_t rank = 0; rank < specs.size(); ++rank) {
    OptionLane lane;
    const bool hashed = std::find(family.foreign.begin(), family.foreign.end(), specs[rank].name) != family.foreign.end();
    lane.name = option_name(parent.name, parent.uid, specs[rank].name.text(),
                            catalog.settings.short_workload_names ? short_option_name_limit : option_name_limit, hashed);
    lane.flavors = specs[rank].flavors;
    lane.rank = rank;
    const auto member = std::find_if(others.begin(), others.end(),
                                     [&](const WorkloadState* w) { return w->name == lane.name && asks_for_the_same(*w, parent); });
    const bool asked =
        std::any_of(family.requested.begin(), family.requested.end(), [&](const RequestedOption& r) { return r.name == lane.name; });
    if (member == others.end() && !asked) continue;
    if (member != others.end()) {
      lane.workload = *member;
      others.erase(member);
    }
    out.push_back(add(std::move(lane), &specs[rank]));
  }
  for (const WorkloadState* w : others) {
    OptionLane lane;
    lane.name = w->name.text();
    if (w->family_facts) lane.flavors = w->family_facts->allowed;
    lane.workload = w;
    out.push_back(add(std::move(lane), nullptr));
  }
  return out;
}

const OptionLane* running_lane(const std::vector<OptionLane>& lanes) {
  const auto it = std::find_if(lanes.begin(), lanes.end(), [](const OptionLane& l) { return l.running; });
  return it == lanes.end() ? nullptr : &*it;
}

std::string flavors_words(const std::vector<Symbol>& flavors) {
  return (flavors.size() == 1 ? "flavor " : "flavors ") + (flavors.empty() ? std::string("none") : joined(flavors));
}

std::shared_ptr<const Reservation> hold_of(const StateView& state, const WorkloadState& parent) {
  if (!parent.family || !parent.family->hold) return nullptr;
  const auto* queue = state.queue(parent.family->hold->cluster_queue);
  if (queue == nullptr) return nullptr;
  for (auto& r : queue->reservations())
    if (r->hold && r->workload->id == parent.id) return std::move(r);
  return nullptr;
}

std::vector<ClusterQueue::Waiting> waiting_once(const StateView& state, const ClusterQueue& queue) {
  return waiting_once(state, queue.waiting());
}

std::vector<ClusterQueue::Waiting> waiting_once(const StateView& state, std::vector<ClusterQueue::Waiting> all) {
  std::set<WorkloadId> seen;  // families
  std::erase_if(all, [&](const ClusterQueue::Waiting& x) {
    const OptionInfo* option = x.workload->option.get();
    if (option == nullptr) return false;
    const bool first = seen.insert(option->parent).second;
    return !first || job_runs(find_by_uid(state, option->family));
  });
  return all;
}

bool family_holds_quota(const StateView& state, const WorkloadInfo& workload) {
  if (workload.option == nullptr) return false;
  const WorkloadAt family = find_by_uid(state, workload.option->family);
  if (family.workload == nullptr) return false;
  const auto& all = family.parent->workloads();
  return std::any_of(all.begin(), all.end(), [&](const WorkloadState& w) {
    return (w.uid == family.workload->uid || is_option_of(w, *family.workload)) && w.reserved() && !w.finished();
  });
}

}  // namespace hindsight::projections
