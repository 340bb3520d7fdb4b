#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "events/decision_fields.hpp"
#include "projections/describe.hpp"
#include "projections/families.hpp"
#include "projections/format.hpp"
#include "projections/history_words.hpp"
#include "projections/objects.hpp"
#include "projections/phase.hpp"
#include "projections/queue_place.hpp"

namespace hindsight::projections {
namespace {

using events::api_name;

Json conditions(const WorkloadState& w, Time now) {
  Json out = Json::array();
  for (const auto& c : w.conditions) {
    out.push_back({{"type", api_name(c.type)},
                   {"status", api_name(c.status)},
                   {"since", c.last_transition.is_set() ? format_rfc3339(c.last_transition) : ""},
                   {"age", age(c.last_transition, now)},
                   {"reason", text(c.reason)},
                   {"message", c.message}});
  }
  return out;
}

Json pod_sets(const WorkloadState& w) {
  Json out = Json::array();
  for (const auto& p : w.pod_sets) {
    Json one{{"name", text(p.name)}, {"count", p.count}};
    if (p.min_count >= 0) one["atLeast"] = p.min_count;
    if (const auto n = w.reclaimable_of(p.name); n > 0) one["reclaimable"] = n;
    std::vector<std::string> requests;
    for (const auto& r : p.requests) requests.push_back(text(r.resource) + " " + amount_text(r.amount, r.resource));
    one["requestsPerPod"] = joined(requests);
    std::vector<std::string> selector;
    for (const auto& [key, value] : p.shape->node_selector) selector.push_back(text(key) + "=" + value);
    if (!selector.empty()) one["nodeSelector"] = joined(selector);
    if (p.shape->has_affinity) one["nodeAffinity"] = counted(p.shape->affinity_terms.size(), "required term");
    if (!p.shape->preferred.empty()) one["preferredNodes"] = counted(p.shape->preferred.size(), "preferred term");
    std::vector<std::string> tolerations;
    for (const auto& t : p.shape->tolerations) tolerations.push_back((t.key.empty() ? "*" : t.key) + (t.exists ? "" : "=" + t.value));
    if (!tolerations.empty()) one["tolerations"] = joined(tolerations);
    if (!p.group.empty()) one["group"] = text(p.group);
    out.push_back(std::move(one));
  }
  return out;
}

Json assignment(const admission::Admission& a) {
  Json out = Json::array();
  for (const auto& p : a.pod_sets)
    for (const auto& [resource, flavor] : p.flavors) {
      Amount total = 0;
      for (const auto& [used, amount] : p.usage)
        if (used == resource) total = amount;
      out.push_back({{"podSet", text(p.pod_set)},
                     {"count", p.count},
                     {"resource", text(resource)},
                     {"flavor", text(flavor)},
                     {"usage", amount_text(total, resource)}});
      if (!p.topology.empty()) out.back()["places"] = placement_words(p.topology);
    }
  return out;
}

Json checks(const WorkloadState& w) {
  Json out = Json::array();
  for (const auto& c : w.checks) {
    Json one{{"name", text(c.name)},
             {"state", api_name(c.state)},
             {"since", c.last_transition.is_set() ? format_rfc3339(c.last_transition) : ""},
             {"message", c.message}};
    if (c.retry_count >= 0) one["retries"] = c.retry_count;
    out.push_back(std::move(one));
  }
  return out;
}

Json place(const QueuePlace& p) {
  Json out{{"clusterQueue", text(p.queue)}, {"position", p.position}, {"waiting", p.waiting}, {"positionInLocalQueue", p.local_position}};
  out["state"] = p.parked ? "parked until something in the cohort tree changes" : "ready to be tried";
  if (p.sticky) out["preempting"] = true;
  if (!p.equal_to.empty()) out["parkedWith"] = p.equal_to + (p.record_reason.empty() ? "" : " (" + p.record_reason + ")");
  return out;
}

Json job_of(const admission::JobState& j) {
  std::vector<std::string> is;
  is.push_back(j.suspended ? "suspended" : "unsuspended");
  if (j.active) is.push_back("active");
  if (j.pods_ready) is.push_back("pods ready");
  if (j.stopping) is.push_back("stopping");
  if (j.start_left != 0) is.push_back("an earlier start may be under way");
  if (j.on_hold) is.push_back("on hold");
  if (j.finished) is.push_back(j.succeeded ? "succeeded" : "failed");
  Json out{{"kind", text(j.kind)}, {"name", j.name}, {"uid", j.uid}, {"state", joined(is)}};
  if (!j.finish_message.empty()) out["message"] = j.finish_message;
  if (!j.start_error.empty()) out["startError"] = j.start_error;
  return out;
}

std::string moment(Time t, Time now) {
  if (!t.is_set()) return {};
  return format_rfc3339(t) + (t > now ? " (in " + human_duration(t - now) + ")" : "");
}

/// What a Parent is beside a Workload: how long its family has been at it, and where its job goes.
Json family_of(const StateView& state, const WorkloadState& parent, const std::vector<OptionLane>& lanes) {
  const auto& family = *parent.family;
  Json out{{"since", format_rfc3339(family.cycle_start)}};
  if (family.first_admitted.is_set()) out["firstAdmitted"] = format_rfc3339(family.first_admitted);
  if (family.holds_itself && parent.reserved()) out["holds"] = "what it had before it was a Parent, until an Option takes that over";
  const OptionLane* running = running_lane(lanes);
  if (running != nullptr) out["runsOn"] = running->name + " (" + flavors_words(running->flavors) + ")";
  for (const auto& lane : lanes) {
    if (lane.may_preempt)
      out["rightToPreempt"] =
          lane.name + " since " + format_rfc3339(lane.workload->option->gate_since) +
          (lane.right_until.is_set() ? ", until " + moment(lane.right_until, state.now()) + " unless it gets quota" : "");
    if (!lane.target) continue;
    out["migration"] = (running == nullptr || running == &lane ? "" : "from " + running->name + " ") + "to " + lane.name +
                       (running == nullptr || running == &lane ? ", which is tried next" : ", as soon as the job has stopped");
  }
  if (const auto hold = hold_of(state, parent)) {
    std::vector<std::string> kept;
    for (const auto& c : hold->charges) kept.push_back(text(c.flavor) + "/" + text(c.resource) + " " + amount_text(c.amount, c.resource));
    out["keptForIt"] = kept.empty() ? "nothing beside what the running Option holds" : joined(kept);
  }
  return out;
}

Json options_of(const std::vector<OptionLane>& lanes, Time now) {
  Json out = Json::array();
  for (const auto& lane : lanes) {
    Json one{{"rank", lane.rank ? std::to_string(*lane.rank) : "-"},
             {"name", lane.name},
             {"flavors", joined(lane.flavors)},
             {"state", lane.state},
             {"since", lane.since.is_set() ? format_rfc3339(lane.since) : ""}};
    if (lane.not_before.is_set()) one["notBefore"] = moment(lane.not_before, now);
    if (lane.until.is_set()) one["until"] = moment(lane.until, now);
    one["why"] = lane.why;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

Json describe_workload(const StateView& state, const WorkloadAt& at) {
  const WorkloadState& w = *at.workload;
  const Time now = state.now();
  const auto& settings = state.domain().catalog()->settings;
  Json out{{"name", w.name}, {"namespace", text(w.namespace_)}, {"uid", w.uid}};
  out["created"] = (w.created.is_set() ? format_rfc3339(w.created) + " (" + age(w.created, now) + " ago)" : std::string("unknown"));
  if (w.deleting) out["deleting"] = true;
  const std::string reason = reason_of(w);
  out["status"] = std::string(name_of(phase_of(w))) + (reason.empty() ? "" : "/" + reason);
  out["localQueue"] = text(w.queue_name);
  out["clusterQueue"] = text(w.admission ? w.admission->cluster_queue : queue_of(state, w));
  out["priority"] = w.effective_priority(settings);
  if (!w.priority_class.empty()) out["priorityClass"] = text(w.priority_class) + " (" + std::string(api_name(w.priority_class_kind)) + ")";
  out["active"] = w.active;
  if (w.max_exec_seconds > 0) out["maximumExecutionTime"] = human_duration(Duration::seconds(w.max_exec_seconds));
  if (w.accumulated_exec_seconds) out["pastExecutionTime"] = human_duration(Duration::seconds(*w.accumulated_exec_seconds));
  if (!w.admission_gated_by.empty()) out["admissionGatedBy"] = w.admission_gated_by;
  if (const auto& job = at.parent->job()) out["job"] = job_of(*job);
  if (const WorkloadState* parent = parent_of(at)) {
    out["optionOf"] = parent->name;
    if (w.family_facts->constrained) out["allowedFlavors"] = joined(w.family_facts->allowed);
    if (w.option && w.option->gate_open) out["rightToPreempt"] = "since " + format_rfc3339(w.option->gate_since);
    if (!w.active && w.option && !w.option->message.value().empty()) out["inactiveBecause"] = w.option->message.value();
  } else if (w.is_made_as_option()) {
    out["optionOf"] = "a Workload of uid " + std::string(w.option_of()) + ", which is not there or no Parent";
  } else if (w.family_facts && w.family_facts->constrained) {
    out["allowedFlavors"] = joined(w.family_facts->allowed);
  }
  if (const auto lanes = lanes_of(state, at); w.family) {
    out["family"] = family_of(state, w, lanes);
    out["options"] = options_of(lanes, now);
  }
  out["podSets"] = pod_sets(w);
  if (const auto p = place_of(state, at)) out["queue"] = place(*p);
  if (w.has_requeue_state) {
    out["requeues"] = std::to_string(w.requeue_count) + (w.requeue_at.is_set() ? ", next not before " + format_rfc3339(w.requeue_at) : "");
  }
  if (w.admission) out["assignment"] = assignment(*w.admission);
  for (const auto& p : w.plan)
    out["resourcePlan"].push_back({{"podSet", text(p.pod_set)},
                                   {"container", p.container},
                                   {"resource", text(p.resource)},
                                   {"own", format_amount(p.original, p.resource.text())},
                                   {"inForce", format_amount(p.amount, p.resource.text())}});
  if (!w.checks.empty()) out["admissionChecks"] = checks(w);
  for (const auto& e : w.evictions) {
    Json one{{"reason", text(e.reason)}};
    if (!e.cause.empty()) one["cause"] = text(e.cause);
    one["count"] = e.count;
    out["evictions"].push_back(std::move(one));
  }
  out["conditions"] = conditions(w, now);
  return out;
}

}  // namespace hindsight::projections
