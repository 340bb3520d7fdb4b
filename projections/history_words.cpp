#include "projections/history_words.hpp"

#include "events/decision_fields.hpp"
#include "projections/format.hpp"

namespace hindsight::projections {
namespace {

using events::api_name;

std::string in_brackets(Text reason, Text message) {
  if (reason.empty()) return message.empty() ? std::string() : ": " + std::string(message);
  return ": " + std::string(reason) + (message.empty() ? "" : ", " + std::string(message));
}

std::string count_words(List<PodSetCount> counts) {
  std::vector<std::string> parts;
  for (const auto& c : counts) parts.push_back(std::string(c.pod_set) + " x" + std::to_string(c.count));
  return joined(parts);
}

/// With sign: a difference.
std::string amount_words(List<ResourceAmount> amounts) {
  std::vector<std::string> parts;
  for (const auto& a : amounts)
    parts.push_back(std::string(a.resource) + " " + (a.amount > 0 ? "+" : "") + format_amount(a.amount, a.resource));
  return parts.empty() ? std::string("none") : joined(parts);
}

/// "n1:2, n4:1".
std::string place_words(List<PodSetAssignmentFacts> assignments) {
  std::vector<std::string> parts;
  for (const auto& a : assignments)
    for (const auto& domain : a.topology)
      if (!domain.values.empty())
        parts.push_back(std::string(domain.values[domain.values.size() - 1]) + ":" + std::to_string(domain.count));
  return joined(parts);
}

std::string name_words(List<Text> names) {
  std::vector<std::string> parts;
  for (const auto& name : names) parts.emplace_back(name);
  return joined(parts);
}

struct Words {
  bool as_preemptor = false;

  EventWords operator()(const WorkloadRequested& e) const {
    return {"workloadRequested",
            "Workload " + std::string(e.name) + " requested in LocalQueue " + std::string(e.queue_name) + ", priority " +
                std::to_string(e.priority) + (e.counts.empty() ? "" : ": " + count_words(e.counts)) +
                (e.replaces.uid.empty() ? "" : ", to replace slice " + full_name(e.replaces)),
            false};
  }
  EventWords operator()(const WorkloadRevised& e) const {
    return {"revised", std::string("to follow its job: ") + (e.pod_sets ? "pod sets, " : "") +
                           (e.counts.empty() ? "" : count_words(e.counts) + ", ") + "queue " + std::string(e.queue_name) + ", priority " +
                           std::to_string(e.priority)};
  }
  EventWords operator()(const WorkloadRemoved& e) const { return {"removed", "to be deleted" + in_brackets({}, e.message)}; }
  EventWords operator()(const JobStopped& e) const { return {"jobStopped", "job to be suspended" + in_brackets({}, e.message), false}; }
  EventWords operator()(const QuotaReserved& e) const {
    std::string text = "quota reserved in " + std::string(e.cluster_queue) + ": " + assignment_words(e.assignments);
    if (e.borrowing_level > 0) text += ", borrowing";
    if (!e.plan.empty()) text += ", sized: " + plan_words(e.plan);
    if (!e.replaces.uid.empty()) text += ", charged the difference to slice " + full_name(e.replaces);
    return {e.admitted ? "admitted" : "quotaReserved", text + (e.admitted ? "; admitted" : "; waits for admission checks")};
  }
  EventWords operator()(const EntryRequeued& e) const {
    std::string text = "tried in " + std::string(e.cluster_queue) + in_brackets(e.reason, e.message);
    text += e.to_heap ? "; stays in line" : "; parked";
    if (!e.claimant.uid.empty()) text += "; it has room, which is kept for " + full_name(e.claimant);
    if (e.bulk_parked > 0) text += ", with " + counted(e.bulk_parked, "equal workload");
    return {"tried", text, false};
  }
  EventWords operator()(const WorkloadPreempted& e) const {
    if (as_preemptor) return {"preempts", "preempts " + full_name(e.workload) + ": " + std::string(e.reason), false};
    return {"preempted",
            "preempted by " + full_name(e.preemptor) + " of " + std::string(e.preemptor_cluster_queue) + in_brackets(e.reason, e.message)};
  }
  EventWords operator()(const WorkloadEvicted& e) const {
    std::string text = "evicted" + in_brackets(e.reason, e.message);
    if (e.has_requeue_state && e.requeue_at.is_set()) text += "; not before " + format_rfc3339(e.requeue_at);
    return {"evicted", text};
  }
  EventWords operator()(const ReservationCleared& e) const {
    std::string text = "quota given back" + in_brackets(e.reason, e.message);
    if (e.resources_restored) text += "; the job has its own resources again";
    if (e.writes_requeued) text += e.requeued ? "; requeued" : "; not requeued yet";
    return {"quotaReleased", text};
  }
  EventWords operator()(const WorkloadAdmitted&) const { return {"admitted", "admitted: all checks are ready"}; }
  EventWords operator()(const WorkloadFinished& e) const { return {"finished", "finished" + in_brackets(e.reason, e.message)}; }
  EventWords operator()(const SliceReplaced& e) const {
    if (as_preemptor)
      return {"replaces",
              "replaces slice " + full_name(e.workload) + ": " + count_words(e.counts) + ", difference " + amount_words(e.delta), false};
    return {"replaced",
            "replaced by slice " + full_name(e.replacement) + ": " + count_words(e.counts) + ", difference " + amount_words(e.delta)};
  }
  EventWords operator()(const SizingBarred& e) const {
    if (!e.barred) return {"sizing", "its resources may be adjusted again", false};
    return {"sizing", "its resources stay as they are for an hour: the API server said " + std::string(e.message), false};
  }
  EventWords operator()(const PodsReleased& e) const {
    std::vector<std::string> pods;
    for (const auto& pod : e.pods) pods.emplace_back(pod.name);
    return {"podsReleased", counted(e.pods.size(), "gated pod") + " released: " + joined(pods), false};
  }
  EventWords operator()(const PodsPlaced& e) const {
    std::vector<std::string> places;
    for (const auto& pod : e.pods)
      places.push_back(std::string(pod.name) + (pod.values.empty() ? "" : " on " + std::string(pod.values[pod.values.size() - 1])));
    return {"podsPlaced", counted(e.pods.size(), "gated pod") + " placed: " + joined(places), false};
  }
  EventWords operator()(const NodesUnhealthy& e) const {
    if (e.nodes.empty()) return {"nodesHealthy", "all its nodes are well again"};
    return {"nodesUnhealthy", "nodes failed: " + name_words(e.nodes)};
  }
  EventWords operator()(const TopologyReassigned& e) const {
    if (e.given_up)
      return {"reassigned", "it gives places up and keeps those of the pods that are left; it stands on " + place_words(e.assignments)};
    if (e.nodes.empty()) return {"reassigned", "its pods run on hosts that came back; it stands on " + place_words(e.assignments)};
    return {"reassigned", "its pods on " + name_words(e.nodes) + " get other places; it stands on " + place_words(e.assignments)};
  }
  EventWords operator()(const TopologyAssigned& e) const { return {"placed", "places were found for it: " + place_words(e.assignments)}; }
  EventWords operator()(const SecondPassFailed& e) const {
    return {"secondPassFailed", "no places were found for it (attempt " + std::to_string(e.attempt) + "): " + std::string(e.message)};
  }
  EventWords operator()(const PodsFailed& e) const {
    std::vector<std::string> pods;
    for (const auto& pod : e.pods) pods.emplace_back(pod.name);
    return {"podsFailed", counted(e.pods.size(), "pod") + " cannot start where it was to stand, and fails: " + joined(pods), false};
  }
  EventWords operator()(const GateChanged& e) const {
    const std::string gate = (e.contract == GateContract::scheduling ? "scheduling gate " : "admission gate ") + std::string(e.value);
    switch (e.change) {
      case GateChange::observed:
        return {"gated", "held back by " + gate, false};
      case GateChange::shrunk:
        return {"gated", "still held back by " + gate, false};
      case GateChange::cleared:
        return {"gateCleared", "released: " + gate + " was taken away", false};
      case GateChange::ignored:
        break;
    }
    return {"gateIgnored", gate + " is ignored: there is a Workload already", false};
  }
  EventWords operator()(const ConditionChanged& e) const {
    const std::string type(api_name(e.type));
    if (e.remove) return {"condition", type + " taken away"};
    if (e.type == ConditionType::quota_reserved && e.status == ConditionStatus::false_)
      return {"pending", "pending" + in_brackets(e.reason, e.message)};
    return {"condition", type + "=" + std::string(api_name(e.status)) + in_brackets(e.reason, e.message)};
  }
  EventWords operator()(const WorkloadDeactivated&) const { return {"deactivated", "deactivated"}; }
  EventWords operator()(const ChecksChanged& e) const {
    std::vector<std::string> checks;
    for (const auto& c : e.checks) checks.push_back(std::string(c.name) + " " + std::string(api_name(c.state)));
    return {"checks", "admission checks: " + (checks.empty() ? std::string("none") : joined(checks))};
  }
  EventWords operator()(const RequeueStateChanged& e) const {
    if (!e.present) return {"requeueState", "count of requeues cleared"};
    return {"requeueState", "requeued " + std::to_string(e.count) + " times" +
                                (e.at.is_set() ? ", not before " + format_rfc3339(e.at) : ", back-off over")};
  }
  EventWords operator()(const ReclaimableChanged& e) const {
    std::vector<std::string> counts;
    for (const auto& c : e.reclaimable) counts.push_back(std::string(c.pod_set) + " " + std::to_string(c.count));
    return {"reclaimable", "reclaimable pods: " + joined(counts)};
  }
  // What of a family is not part of its Workloads cannot be seen to be without effect.
  EventWords operator()(const FamilyFormed&) const {
    return {"familyFormed", "becomes a Parent: its Options are queued in its place", false};
  }
  EventWords operator()(const FamilyDissolved& e) const {
    return {"familyDissolved", "is no Parent any more, and its Options go" + in_brackets({}, e.message), false};
  }
  EventWords operator()(const FamilyReset& e) const {
    return {"familyReset", "its Options begin anew" + in_brackets({}, e.message), false};
  }
  EventWords operator()(const OptionRequested& e) const {
    return {"optionRequested",
            "Option " + std::string(e.name) + " requested for " + (e.flavors.size() == 1 ? "flavor " : "flavors ") + name_words(e.flavors) +
                (e.active ? std::string() : ", inactive" + in_brackets({}, e.message)),
            false};
  }
  EventWords operator()(const OptionSwitched& e) const {
    const std::string kind = e.active ? "optionActivated" : "optionDeactivated";
    if (e.message.empty()) return {kind, e.active ? "activated" : "deactivated"};
    return {kind, std::string(e.message)};  // it says both
  }
  EventWords operator()(const OptionAdopted& e) const { return {"optionAdopted", "takes over what " + full_name(e.from) + " holds"}; }
  EventWords operator()(const OptionAdmitted& e) const { return {"optionAdmitted", "admitted by its Option " + full_name(e.option)}; }
  EventWords operator()(const MigrationStarted& e) const {
    return {"migrationStarted",
            "goes before " + full_name(e.from) + " in " + std::string(e.cluster_queue) +
                (e.assignments.empty() ? std::string(" with what it holds") : ", kept for it: " + assignment_words(e.assignments)),
            false};
  }
  EventWords operator()(const PreemptionGateChanged& e) const {
    if (e.open) return {"preemptionGateOpened", "has its family's right to preempt", false};
    return {"preemptionGateClosed",
            e.unused ? "loses the right to preempt: nothing came of it in its time" : "gives back the right to preempt", false};
  }
  EventWords operator()(const ExecutionTimeReset&) const { return {"executionTimeReset", "count of execution time cleared"}; }
  EventWords operator()(const TreeReactivated& e) const { return {"reactivated", "tree " + std::string(e.root) + " reactivated", false}; }
};

}  // namespace

EventWords words_for(const Event& event, bool as_preemptor) { return std::visit(Words{as_preemptor}, event); }

std::string plan_words(List<PlannedAmount> plan) {
  std::vector<std::string> parts;
  for (const auto& p : plan)
    parts.push_back(std::string(p.container) + " " + std::string(p.resource) + " " + format_amount(p.original, p.resource) + " -> " +
                    format_amount(p.amount, p.resource));
  return joined(parts);
}

namespace {

constexpr std::size_t domains_shown = 8;

/// `domain(i)` gives the path and the pods of one.
template <class Domain>
std::string places(std::size_t n, Domain domain) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(n, domains_shown); ++i) {
    const auto [path, pods] = domain(i);
    std::string part;
    for (const auto value : path) part += (part.empty() ? "" : "/") + std::string(value);
    parts.push_back(part + ": " + std::to_string(pods));
  }
  if (n > domains_shown) {
    std::int64_t left = 0;
    for (std::size_t i = domains_shown; i < n; ++i) left += domain(i).second;
    parts.push_back("and " + std::to_string(n - domains_shown) + " more (" +
                    counted(static_cast<std::size_t>(std::max<std::int64_t>(0, left)), "pod") + ")");
  }
  return joined(parts);
}

}  // namespace

std::string placement_words(const admission::TopologyAssignment& assignment) {
  return places(assignment.size(), [&](std::size_t i) {
    std::vector<std::string_view> path;
    for (const Symbol& value : assignment.domain(i)) path.push_back(value.text());
    return std::pair(std::move(path), assignment.counts[i]);
  });
}

std::string assignment_words(List<PodSetAssignmentFacts> assignments) {
  std::vector<std::string> parts;
  for (const auto& p : assignments) {
    std::string part = std::string(p.pod_set) + " x" + std::to_string(p.count);
    for (const auto& choice : p.flavors) {
      part += " " + std::string(choice.flavor) + "/" + std::string(choice.resource);
      for (const auto& u : p.usage)
        if (u.resource == choice.resource) part += " " + format_amount(u.amount, u.resource);
    }
    if (!p.topology.empty())
      part += " on " + places(p.topology.size(), [&](std::size_t i) { return std::pair(p.topology[i].values, p.topology[i].count); });
    parts.push_back(std::move(part));
  }
  return joined(parts);
}

std::string pod_set_words(const std::vector<admission::PodSetSpec>& pod_sets) {
  std::vector<std::string> parts;
  for (const auto& p : pod_sets) {
    std::vector<std::string> requests;
    for (const auto& r : p.requests) requests.push_back(std::string(r.resource.text()) + " " + amount_text(r.amount, r.resource));
    parts.push_back(std::string(p.name.text()) + " x" + std::to_string(p.count) +
                    (requests.empty() ? "" : " (" + joined(requests) + " each)"));
  }
  return joined(parts);
}

}  // namespace hindsight::projections
