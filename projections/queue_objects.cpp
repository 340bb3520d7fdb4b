#include <algorithm>
#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "admission/domain/queue_status.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "events/decision_fields.hpp"
#include "projections/families.hpp"
#include "projections/format.hpp"
#include "projections/objects.hpp"
#include "projections/queue_members.hpp"
#include "projections/quota_report.hpp"

namespace hindsight::projections {
namespace {

using admission::QueueStatusIntent;
using admission::ResourceGroup;
using events::api_name;

Json head(const char* kind, Symbol name) {
  return {{"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", kind}, {"metadata", {{"name", text(name)}}}};
}

Json groups_json(const std::vector<ResourceGroup>& groups) {
  Json out = Json::array();
  for (const auto& g : groups) {
    Json one{{"coveredResources", Json::array()}, {"flavors", Json::array()}};
    for (const Symbol& r : g.resources) one["coveredResources"].push_back(text(r));
    for (const auto& f : g.flavors) {
      Json flavor{{"name", text(f.flavor)}, {"resources", Json::array()}};
      for (std::size_t i = 0; i < g.resources.size() && i < f.quotas.size(); ++i) {
        const auto& q = f.quotas[i];
        Json quota{{"name", text(g.resources[i])}, {"nominalQuota", format_amount(q.nominal, g.resources[i].text())}};
        if (q.borrowing_limit) quota["borrowingLimit"] = format_amount(*q.borrowing_limit, g.resources[i].text());
        if (q.lending_limit) quota["lendingLimit"] = format_amount(*q.lending_limit, g.resources[i].text());
        flavor["resources"].push_back(std::move(quota));
      }
      one["flavors"].push_back(std::move(flavor));
    }
    out.push_back(std::move(one));
  }
  return out;
}

Json selector_json(const std::vector<admission::OwnedRequirement>& requirements) {
  Json out = Json::object();
  for (const auto& r : requirements) {
    Json one{{"key", text(r.key)}, {"operator", api_name(r.op)}};
    if (!r.values.empty()) one["values"] = r.values;
    out["matchExpressions"].push_back(std::move(one));
  }
  return out;
}

void put_weight(Json& spec, std::int64_t nano) {
  if (nano != 1'000'000'000) spec["fairSharing"] = {{"weight", weight_text(nano)}};
}

Json options_json(const std::vector<admission::OptionConfig>& options, const char* delete_delay) {
  Json out = Json::array();
  for (const auto& o : options) {
    Json one{{"name", text(o.name)}};
    if (o.create_delay_seconds > 0) one["createDelaySeconds"] = o.create_delay_seconds;
    if (o.delete_delay_seconds) one[delete_delay] = *o.delete_delay_seconds;
    for (const Symbol& flavor : o.flavors) one["allowedResourceFlavors"].push_back(text(flavor));
    out.push_back(std::move(one));
  }
  return out;
}

/// In the form in which it was given (8691 §2.4).
void put_concurrent(Json& spec, const admission::ConcurrentAdmission& c) {
  if (c.kueue_form) {
    Json migration{{"mode", c.on_success == OnSuccess::remove_other ? "RetainFirstAdmission" : "TryPreferredFlavors"}};
    if (!c.target.empty()) migration["constraints"]["lastAcceptableFlavorName"] = text(c.target);
    if (!c.options.empty()) migration["constraints"]["explicitVariants"] = options_json(c.options, "maxDeleteDelaySeconds");
    if (c.upgrades != UpgradeFungibility::always) migration["constraints"]["upgradeFungibility"] = api_name(c.upgrades);
    spec["concurrentAdmissionPolicy"] = {{"migration", std::move(migration)}};
    return;
  }
  Json out{{"onSuccess", api_name(c.on_success)}};
  if (!c.target.empty()) out["removeBelowTargetConfig"] = {{"targetResourceFlavor", text(c.target)}};
  if (!c.options.empty()) out["explicitOptions"] = options_json(c.options, "deleteDelaySeconds");
  if (c.upgrades != UpgradeFungibility::always) out["upgradeFungibility"] = api_name(c.upgrades);
  spec["concurrentAdmission"] = std::move(out);
}

Json usage_json(const std::vector<QueueStatusIntent::Usage>& usage, bool with_borrowed) {
  Json out = Json::array();
  for (const auto& u : usage) {
    Json flavor{{"name", u.flavor}, {"resources", Json::array()}};
    for (const auto& [resource, amounts] : u.resources) {
      Json one{{"name", resource}, {"total", format_amount(amounts.first, resource)}};
      if (with_borrowed) one["borrowed"] = format_amount(amounts.second, resource);
      flavor["resources"].push_back(std::move(one));
    }
    out.push_back(std::move(flavor));
  }
  return out;
}

Json status_json(const QueueStatusIntent& s) {
  Json out{
      {"conditions",
       Json::array(
           {{{"type", "Active"}, {"status", s.active ? "True" : "False"}, {"reason", s.active_reason}, {"message", s.active_message}}})},
      {"pendingWorkloads", s.pending},
      {"reservingWorkloads", s.reserving},
      {"admittedWorkloads", s.admitted},
      {"flavorsReservation", usage_json(s.reservation, !s.local)},
      {"flavorsUsage", usage_json(s.usage, !s.local)}};
  if (s.weighted_share) out["fairSharing"] = {{"weightedShare", *s.weighted_share}};
  if (s.consumed) {
    Json consumed = Json::object();
    for (const auto& [resource, quantity] : *s.consumed) consumed[resource] = quantity;
    out["fairSharing"]["weightedShare"] = 0;  // the API requires it
    out["fairSharing"]["admissionFairSharingStatus"] = {{"consumedResources", std::move(consumed)},
                                                        {"lastUpdate", format_rfc3339(s.consumed_at)}};
  }
  return out;
}

// ---- status.hindsight ---------------------------------------------------------------------------------------------------------------

/// An amount without end is left out.
void put_quantity(Json& out, const char* key, Amount amount, const Symbol& resource) {
  if (amount != unlimited) out[key] = format_amount(amount, resource.text());
}

Json subtree_json(const std::vector<SubtreeQuota>& lines, bool own) {
  Json out = Json::array();
  for (const auto& l : lines) {
    Json one{{"flavor", text(l.flavor)}, {"resource", text(l.resource)}};
    if (own) put_quantity(one, "own", l.own, l.resource);
    put_quantity(one, "nominal", l.nominal, l.resource);
    put_quantity(one, "used", l.used, l.resource);
    put_quantity(one, "borrowed", l.borrowed, l.resource);
    put_quantity(one, "available", l.available, l.resource);
    put_quantity(one, "maximum", l.maximum, l.resource);
    put_quantity(one, "guaranteed", l.guaranteed, l.resource);
    put_quantity(one, "lendable", l.lendable(), l.resource);
    put_quantity(one, "borrowable", l.borrowable(), l.resource);
    out.push_back(std::move(one));
  }
  return out;
}

Json reservations_json(const std::vector<std::shared_ptr<const admission::Reservation>>& holders) {
  Json out = Json::array();
  for (const auto& r : holders) {
    const auto& w = *r->workload;
    Json one{{"namespace", text(w.namespace_)}, {"name", w.name}, {"uid", w.uid}, {"priority", w.priority}, {"uses", Json::array()}};
    for (const auto& c : r->charges) {
      one["uses"].push_back({{"flavor", text(c.flavor)}, {"resource", text(c.resource)}});
      put_quantity(one["uses"].back(), "amount", c.amount, c.resource);
    }
    if (w.evicted) one["evicted"] = true;
    if (r->hold) one["keptForMigration"] = true;
    if (w.option != nullptr && !r->hold) one["optionOf"] = w.option->parent_name;
    out.push_back(std::move(one));
  }
  return out;
}

Json pending_json(const StateView& state, const std::vector<InLine>& line) {
  Json out = Json::array();
  for (const auto& [position, x] : line) {
    const auto& w = *x.workload;
    Json one{{"position", position}, {"namespace", text(w.namespace_)}, {"name", w.option == nullptr ? w.name : w.option->parent_name}};
    if (w.option != nullptr) one["option"] = w.name;
    one["priority"] = w.priority;
    if (w.queue_time.is_set()) one["queuedAt"] = format_rfc3339(w.queue_time);
    one["parked"] = x.parked;
    if (!w.pending_reason.empty()) one["reason"] = text(w.pending_reason);
    if (family_holds_quota(state, w)) one["familyHoldsQuota"] = true;
    out.push_back(std::move(one));
  }
  return out;
}

Json names_json(const std::vector<Symbol>& names) {
  Json out = Json::array();
  for (const Symbol& name : names) out.push_back(text(name));
  return out;
}

}  // namespace

Json cluster_queue_object(const StateView& state, const admission::QueueConfig& q, Detail detail) {
  Json out = head("ClusterQueue", q.name);
  Json spec = Json::object();
  if (!q.cohort.empty()) spec["cohortName"] = text(q.cohort);
  spec["resourceGroups"] = groups_json(q.groups);
  spec["queueingStrategy"] = api_name(q.strategy);
  if (q.has_namespace_selector) spec["namespaceSelector"] = selector_json(q.namespace_selector);
  spec["flavorFungibility"] = {{"whenCanBorrow", api_name(q.when_can_borrow)}, {"whenCanPreempt", api_name(q.when_can_preempt)}};
  if (q.preference != FungibilityPreference::unset) spec["flavorFungibility"]["preference"] = api_name(q.preference);
  spec["preemption"] = {{"withinClusterQueue", api_name(q.within_cluster_queue)},
                        {"reclaimWithinCohort", api_name(q.reclaim_within_cohort)},
                        {"borrowWithinCohort", {{"policy", api_name(q.borrow_within_cohort)}}}};
  if (q.max_priority_threshold) spec["preemption"]["borrowWithinCohort"]["maxPriorityThreshold"] = *q.max_priority_threshold;
  for (const auto& check : q.checks) {
    Json rule{{"name", text(check.name)}};
    for (const Symbol& f : check.on_flavors) rule["onFlavors"].push_back(text(f));
    spec["admissionChecksStrategy"]["admissionChecks"].push_back(std::move(rule));
  }
  if (q.stop_policy_set || q.stop_policy != StopPolicy::none) spec["stopPolicy"] = api_name(q.stop_policy);
  put_weight(spec, q.fair_weight_nano);
  if (q.concurrent.enabled) put_concurrent(spec, q.concurrent);
  if (q.admission_mode != AdmissionMode::unset) spec["admissionScope"] = {{"admissionMode", api_name(q.admission_mode)}};
  out["spec"] = std::move(spec);
  out["status"] = status_json(admission::cluster_queue_status(state, q.name));
  Json& more = out["status"]["hindsight"];
  if (q.deleting) more["deleting"] = true;
  auto path = cohorts_above(state, q.name);
  std::reverse(path.begin(), path.end());
  more["cohortPath"] = names_json(path);
  more["quota"] = subtree_json(subtree_of_queue(state, q.name), false);
  if (const auto* queue = state.queue(q.name); queue != nullptr && detail == Detail::whole) {
    more["holders"] = reservations_json(holders_in(*queue));
    more["pending"] = pending_json(state, waiting_in(state, *queue));
  }
  return out;
}

Json local_queue_object(const StateView& state, const admission::LocalQueueConfig& q, Detail detail) {
  Json out = head("LocalQueue", q.name);
  out["metadata"]["namespace"] = text(q.namespace_);
  for (const auto& [key, value] : q.labels) out["metadata"]["labels"][text(key)] = value;
  out["spec"] = {{"clusterQueue", text(q.cluster_queue)}};
  if (q.stop_policy_set || q.stop_policy != StopPolicy::none) out["spec"]["stopPolicy"] = api_name(q.stop_policy);
  put_weight(out["spec"], q.fair_weight_nano);
  out["status"] = status_json(admission::local_queue_status(state, q));
  if (const auto* queue = state.queue(q.cluster_queue); queue != nullptr && detail == Detail::whole) {
    out["status"]["hindsight"]["holders"] = reservations_json(holders_in(*queue, &q));
    out["status"]["hindsight"]["pending"] = pending_json(state, waiting_in(state, *queue, &q));
  }
  return out;
}

Json cohort_object(const StateView& state, const Symbol& cohort) {
  Json out = head("Cohort", cohort);
  const auto& catalog = *state.domain().catalog();
  if (const auto it = catalog.cohorts.find(cohort); it != catalog.cohorts.end()) {
    Json spec = Json::object();
    if (!it->second->parent.empty()) spec["parentName"] = text(it->second->parent);
    if (!it->second->groups.empty()) spec["resourceGroups"] = groups_json(it->second->groups);
    put_weight(spec, it->second->fair_weight_nano);
    out["spec"] = std::move(spec);
  }
  if (const auto* tree = tree_of_cohort(state, cohort); tree != nullptr && catalog.settings.fair_sharing) {
    out["status"] = {{"fairSharing", {{"weightedShare", tree->cohort_weighted_share(cohort)}}}};
  }
  Json& more = out["status"]["hindsight"];
  more["quota"] = subtree_json(subtree_of_cohort(state, cohort), true);
  more["cohorts"] = names_json(cohorts_in(state, cohort));
  more["clusterQueues"] = names_json(queues_in(state, cohort));
  return out;
}

Json resource_flavor_object(const admission::FlavorConfig& f) {
  Json out = head("ResourceFlavor", f.name);
  Json spec = Json::object();
  for (const auto& [key, value] : f.node_labels) spec["nodeLabels"][text(key)] = value;
  for (const auto& t : f.taints) {
    Json one{{"key", t.key}};
    if (!t.value.empty()) one["value"] = t.value;
    one["effect"] = api_name(t.effect);
    spec["nodeTaints"].push_back(std::move(one));
  }
  for (const auto& t : f.tolerations) {
    Json one = Json::object();
    if (!t.key.empty()) one["key"] = t.key;
    one["operator"] = t.exists ? "Exists" : "Equal";
    if (!t.exists) one["value"] = t.value;
    if (t.effect != TaintEffect::unspecified) one["effect"] = api_name(t.effect);
    if (t.seconds) one["tolerationSeconds"] = *t.seconds;
    spec["tolerations"].push_back(std::move(one));
  }
  if (!f.topology.empty()) spec["topologyName"] = text(f.topology);
  out["spec"] = std::move(spec);
  return out;
}

Json resource_flavor_object(const StateView& state, const admission::FlavorConfig& f) {
  Json out = resource_flavor_object(f);
  Json quota = Json::array();
  for (const auto& share : shares_of_flavor(state, f.name)) {
    quota.push_back({{share.is_cohort ? "cohort" : "clusterQueue", text(share.name)}, {"resource", text(share.resource)}});
    put_quantity(quota.back(), "nominal", share.nominal, share.resource);
    if (!share.is_cohort) put_quantity(quota.back(), "used", share.used, share.resource);
  }
  out["status"] = {{"hindsight", {{"quota", std::move(quota)}}}};
  return out;
}

Json admission_check_object(const admission::CheckConfig& c) {
  Json out = head("AdmissionCheck", c.name);
  out["spec"] = {{"controllerName", c.controller}};
  out["status"] = {{"conditions", Json::array({{{"type", "Active"}, {"status", c.active ? "True" : "False"}}})}};
  return out;
}

Json priority_class_object(Symbol name, const admission::PriorityClassConfig& c) {
  Json out = head("WorkloadPriorityClass", name);
  out["value"] = c.value;
  return out;
}

}  // namespace hindsight::projections
