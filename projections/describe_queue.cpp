#include <algorithm>
#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "admission/domain/queue_status.hpp"
#include "admission/options/option_plan.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "events/decision_fields.hpp"
#include "projections/describe.hpp"
#include "projections/families.hpp"
#include "projections/format.hpp"
#include "projections/queue_members.hpp"
#include "projections/quota_report.hpp"

namespace hindsight::projections {
namespace {

using events::api_name;

constexpr std::size_t shown_max = 100;  // of those who hold or wait; -o json has them all, and the text says how many it leaves out

/// `own`: a column for what is the object's own, beside what is of all below it.
Json quota(const std::vector<SubtreeQuota>& lines, bool own) {
  Json out = Json::array();
  for (const auto& l : lines) {
    const auto amount = [&](Amount a) { return amount_text(a, l.resource); };
    Json one{{"flavor", text(l.flavor)}, {"resource", text(l.resource)}};
    if (own) one["own"] = amount(l.own);
    one["nominal"] = amount(l.nominal);
    one["borrowingLimit"] = l.borrowing_limit ? amount(*l.borrowing_limit) : "-";
    one["lendingLimit"] = l.lending_limit ? amount(*l.lending_limit) : "-";
    one["used"] = amount(l.used);
    one["borrowed"] = amount(l.borrowed);
    one["available"] = amount(l.available);
    one["maximum"] = amount(l.maximum);
    out.push_back(std::move(one));
  }
  return out;
}

/// The last line of a list that is cut: how many are left out, and how much.
Json left_out(std::size_t n, const std::string& amounts) {
  return {{"workload", "and " + std::to_string(n) + " more" + (amounts.empty() ? "" : " (" + amounts + ")")}};
}

Json holding(const std::vector<std::shared_ptr<const admission::Reservation>>& list) {
  Json out = Json::array();
  for (const auto& r : list) {
    if (out.size() == shown_max) {
      out.push_back(left_out(list.size() - shown_max, charged_from(list, shown_max)));
      break;
    }
    std::vector<std::string> uses;
    for (const auto& c : r->charges) uses.push_back(text(c.flavor) + "/" + text(c.resource) + " " + amount_text(c.amount, c.resource));
    out.push_back({{"workload", full_name(r->workload->namespace_.text(), r->workload->name)},
                   {"priority", r->workload->priority},
                   {"uses", joined(uses)},
                   {"evicted", r->workload->evicted ? "yes" : ""}});
    if (r->hold) out.back()["kept"] = "for a migration";
    if (const auto* option = r->workload->option.get(); option != nullptr && !r->hold) out.back()["optionOf"] = option->parent_name;
  }
  return out;
}

Json pending(const StateView& state, const std::vector<InLine>& line) {
  Json out = Json::array();
  for (const auto& [position, x] : line) {
    if (out.size() == shown_max) {
      out.push_back(left_out(line.size() - shown_max, asked_from(line, shown_max)));
      break;
    }
    const auto& w = *x.workload;
    out.push_back({{"position", position},
                   {"workload", family_name(w)},
                   {"priority", w.priority},
                   {"queuedAt", format_rfc3339(w.queue_time)},
                   {"state", x.parked ? "parked" : "ready"},
                   {"reason", text(w.pending_reason)}});
    if (w.option != nullptr) out.back()["option"] = w.name;
    if (family_holds_quota(state, w)) out.back()["note"] = "another of its Options holds quota";
  }
  return out;
}

/// What becomes of the Options of a family, and which there are.
Json concurrent(const StateView& state, const admission::QueueConfig& q) {
  const auto& c = q.concurrent;
  Json out{{"onSuccess", api_name(c.on_success)}};
  if (!c.target.empty()) out["targetFlavor"] = text(c.target);
  out["upgradeFungibility"] = c.upgrades == UpgradeFungibility::always ? "Always" : api_name(c.upgrades);
  if (!state.domain().catalog()->settings.concurrent_admission) out["effect"] = "none: feature gate ConcurrentAdmission is off";
  out["options"] = Json::array();
  for (const auto& spec : admission::option_specs(q, nullptr)) {
    Json one{{"name", text(spec.name)}, {"flavors", joined(spec.flavors)}};
    if (spec.create_delay_seconds > 0) one["createDelaySeconds"] = spec.create_delay_seconds;
    if (spec.delete_delay_seconds) one["deleteDelaySeconds"] = *spec.delete_delay_seconds;
    out["options"].push_back(std::move(one));
  }
  return out;
}

void put_status(Json& out, const admission::QueueStatusIntent& s) {
  out["active"] = (s.active ? "True, " : "False, ") + s.active_reason + ": " + s.active_message;
  out["pendingWorkloads"] = s.pending;
  out["reservingWorkloads"] = s.reserving;
  out["admittedWorkloads"] = s.admitted;
  if (s.weighted_share) out["weightedShare"] = *s.weighted_share;
}

std::string selector_text(const admission::QueueConfig& q) {
  if (!q.has_namespace_selector) return "no namespace";
  if (q.namespace_selector.empty()) return "every namespace";
  std::vector<std::string> parts;
  for (const auto& r : q.namespace_selector)
    parts.push_back(text(r.key) + " " + std::string(api_name(r.op)) + (r.values.empty() ? "" : " " + joined(r.values, "|")));
  return joined(parts);
}

/// A line for each pair: what the cohort above has is the sum of these and of its own.
void add_member(Json& out, const Symbol& name, const std::vector<SubtreeQuota>& lines) {
  if (lines.empty()) out.push_back({{"name", text(name)}});
  for (const auto& l : lines)
    out.push_back({{"name", text(name)},
                   {"flavor", text(l.flavor)},
                   {"resource", text(l.resource)},
                   {"nominal", amount_text(l.nominal, l.resource)},
                   {"used", amount_text(l.used, l.resource)},
                   {"borrowed", amount_text(l.borrowed, l.resource)}});
}

}  // namespace

Json describe_cluster_queue(const StateView& state, const admission::QueueConfig& q) {
  const auto status = admission::cluster_queue_status(state, q.name);
  Json out{{"name", text(q.name)}};
  std::vector<Symbol> path = cohorts_above(state, q.name);
  std::reverse(path.begin(), path.end());
  out["cohort"] = path.empty() ? "none" : joined(path, " > ");
  out["queueingStrategy"] = api_name(q.strategy);
  out["namespaceSelector"] = selector_text(q);
  if (q.stop_policy != StopPolicy::none) out["stopPolicy"] = api_name(q.stop_policy);
  if (q.deleting) out["deleting"] = true;
  out["preemption"] = {{"withinClusterQueue", api_name(q.within_cluster_queue)},
                       {"reclaimWithinCohort", api_name(q.reclaim_within_cohort)},
                       {"borrowWithinCohort", api_name(q.borrow_within_cohort)}};
  if (q.max_priority_threshold) out["preemption"]["maxPriorityThreshold"] = *q.max_priority_threshold;
  out["flavorFungibility"] = {{"whenCanBorrow", api_name(q.when_can_borrow)}, {"whenCanPreempt", api_name(q.when_can_preempt)}};
  if (q.preference != FungibilityPreference::unset) out["flavorFungibility"]["preference"] = api_name(q.preference);
  if (q.concurrent.enabled) out["concurrentAdmission"] = concurrent(state, q);
  for (const auto& c : q.checks)
    out["admissionChecks"].push_back({{"name", text(c.name)}, {"onFlavors", c.on_flavors.empty() ? "all" : joined(c.on_flavors)}});
  if (q.fair_weight_nano != 1'000'000'000) out["fairSharingWeight"] = weight_text(q.fair_weight_nano);
  put_status(out, status);
  out["quota"] = quota(subtree_of_queue(state, q.name), false);
  if (const auto* queue = state.queue(q.name)) {
    out["holdingQuota"] = holding(holders_in(*queue));
    out["pending"] = pending(state, waiting_in(state, *queue));
  }
  return out;
}

Json describe_local_queue(const StateView& state, const admission::LocalQueueConfig& q) {
  Json out{{"name", text(q.name)}, {"namespace", text(q.namespace_)}, {"clusterQueue", text(q.cluster_queue)}};
  if (q.stop_policy != StopPolicy::none) out["stopPolicy"] = api_name(q.stop_policy);
  put_status(out, admission::local_queue_status(state, q));
  if (const auto* queue = state.queue(q.cluster_queue)) {
    out["holdingQuota"] = holding(holders_in(*queue, &q));
    out["pending"] = pending(state, waiting_in(state, *queue, &q));
  }
  return out;
}

Json describe_cohort(const StateView& state, const Symbol& cohort) {
  const auto& catalog = *state.domain().catalog();
  Json out{{"name", text(cohort)}};
  const auto it = catalog.cohorts.find(cohort);
  out["parent"] = it == catalog.cohorts.end() || it->second->parent.empty() ? "none" : text(it->second->parent);
  if (it == catalog.cohorts.end()) out["exists"] = "no: it is only named by its members";
  if (it != catalog.cohorts.end() && it->second->fair_weight_nano != 1'000'000'000)
    out["fairSharingWeight"] = weight_text(it->second->fair_weight_nano);
  if (const auto* tree = tree_of_cohort(state, cohort); tree != nullptr && catalog.settings.fair_sharing)
    out["weightedShare"] = tree->cohort_weighted_share(cohort);
  const auto lines = subtree_of_cohort(state, cohort);
  out["quota"] = quota(lines, std::any_of(lines.begin(), lines.end(), [](const SubtreeQuota& l) { return l.own != 0; }));
  out["cohorts"] = Json::array();
  for (const Symbol& name : cohorts_in(state, cohort)) add_member(out["cohorts"], name, subtree_of_cohort(state, name));
  out["clusterQueues"] = Json::array();
  for (const Symbol& name : queues_in(state, cohort)) add_member(out["clusterQueues"], name, subtree_of_queue(state, name));
  return out;
}

Json describe_resource_flavor(const StateView& state, const admission::FlavorConfig& f) {
  Json out{{"name", text(f.name)}, {"nodeLabels", Json::array()}, {"taints", Json::array()}, {"tolerations", Json::array()}};
  for (const auto& [key, value] : f.node_labels) out["nodeLabels"].push_back(text(key) + "=" + value);
  for (const auto& t : f.taints) out["taints"].push_back(t.key + "=" + t.value + ":" + std::string(api_name(t.effect)));
  for (const auto& t : f.tolerations) out["tolerations"].push_back((t.key.empty() ? "*" : t.key) + (t.exists ? " exists" : "=" + t.value));
  if (!f.topology.empty()) out["topology"] = text(f.topology);
  out["quota"] = Json::array();
  for (const auto& share : shares_of_flavor(state, f.name)) {
    Json one{{share.is_cohort ? "cohort" : "clusterQueue", text(share.name)},
             {"resource", text(share.resource)},
             {"nominal", amount_text(share.nominal, share.resource)}};
    if (!share.is_cohort) one["used"] = amount_text(share.used, share.resource);
    out["quota"].push_back(std::move(one));
  }
  return out;
}

}  // namespace hindsight::projections
