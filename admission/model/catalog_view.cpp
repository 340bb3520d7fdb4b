#include "admission/model/catalog_view.hpp"

#include <algorithm>

namespace hindsight::admission {
namespace {

std::vector<std::pair<Symbol, std::string>> own(List<Pair> pairs) {
  std::vector<std::pair<Symbol, std::string>> out;
  out.reserve(pairs.size());
  for (const auto& p : pairs) out.emplace_back(Symbol(p.key), std::string(p.value));
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return ByText{}(a.first, b.first); });
  return out;
}

std::vector<ResourceGroup> own(List<ResourceGroupFacts> groups) {
  std::vector<ResourceGroup> out;
  out.reserve(groups.size());
  for (const auto& g : groups) {
    ResourceGroup group;
    for (const Text r : g.covered_resources) group.resources.emplace_back(r);
    for (const auto& f : g.flavors) {
      FlavorQuotas quotas{Symbol(f.flavor), {}};
      for (const auto& q : f.resources) quotas.quotas.push_back({q.nominal, q.borrowing_limit, q.lending_limit});
      quotas.quotas.resize(group.resources.size());  // a queue that skipped validation: what is not given is zero
      group.flavors.push_back(std::move(quotas));
    }
    out.push_back(std::move(group));
  }
  return out;
}

void hash_list(StateHash& h, const std::vector<ResourceGroup>& groups) {
  h.add(static_cast<std::uint64_t>(groups.size()));
  for (const auto& g : groups) {
    h.add(static_cast<std::uint64_t>(g.resources.size()));
    for (const Symbol& r : g.resources) h.add(r);
    h.add(static_cast<std::uint64_t>(g.flavors.size()));
    for (const auto& f : g.flavors) {
      h.add(f.flavor);
      for (const auto& q : f.quotas) {
        h.add(q.nominal);
        h.add(q.borrowing_limit);
        h.add(q.lending_limit);
      }
    }
  }
}

void hash_list(StateHash& h, const std::vector<OwnedRequirement>& requirements) {
  h.add(static_cast<std::uint64_t>(requirements.size()));
  for (const auto& r : requirements) {
    h.add(r.key);
    h.add(r.op);
    for (const auto& v : r.values) h.add(std::string_view(v));
  }
}

template <class Labels>
void hash_labels(StateHash& h, const Labels& labels) {
  h.add(static_cast<std::uint64_t>(labels.size()));
  for (const auto& [k, v] : labels) {
    h.add(k);
    h.add(std::string_view(v));
  }
}

void hash_taints(StateHash& h, const std::vector<OwnedTaint>& taints) {
  h.add(static_cast<std::uint64_t>(taints.size()));
  for (const auto& t : taints) {
    h.add(std::string_view(t.key));
    h.add(std::string_view(t.value));
    h.add(t.effect);
  }
}

std::string joined(std::vector<std::string_view> names) {
  std::sort(names.begin(), names.end());
  std::string out;
  for (const auto n : names) {
    if (!out.empty()) out += ',';
    out += n;
  }
  return out;
}

}  // namespace

FlavorConfig to_config(const ResourceFlavorObserved& o) {
  FlavorConfig c;
  c.name = Symbol(o.meta.name);
  c.node_labels = own(o.node_labels);
  for (const auto& t : o.node_taints) c.taints.push_back({std::string(t.key), std::string(t.value), t.effect});
  for (const auto& t : o.tolerations) c.tolerations.push_back({std::string(t.key), std::string(t.value), t.exists, t.effect, t.seconds});
  c.topology = Symbol(o.topology_name);
  return c;
}

QueueConfig to_config(const ClusterQueueObserved& o) {
  QueueConfig c;
  c.name = Symbol(o.meta.name);
  c.cohort = Symbol(o.cohort);
  c.groups = own(o.resource_groups);
  c.strategy = o.queueing_strategy;
  c.has_namespace_selector = o.has_namespace_selector;
  for (const auto& r : o.namespace_selector) {
    OwnedRequirement req{Symbol(r.key), r.op, {}};
    for (const Text v : r.values) req.values.emplace_back(v);
    c.namespace_selector.push_back(std::move(req));
  }
  c.when_can_borrow = o.when_can_borrow;
  c.when_can_preempt = o.when_can_preempt;
  c.preference = o.preference;
  c.within_cluster_queue = o.within_cluster_queue;
  c.reclaim_within_cohort = o.reclaim_within_cohort;
  c.borrow_within_cohort = o.borrow_within_cohort;
  c.max_priority_threshold = o.max_priority_threshold;
  for (const auto& k : o.admission_checks) {
    CheckRule rule{Symbol(k.name), {}};
    for (const Text f : k.on_flavors) rule.on_flavors.emplace_back(f);
    c.checks.push_back(std::move(rule));
  }
  c.stop_policy = o.stop_policy;
  c.stop_policy_set = o.stop_policy_set;
  c.fair_weight_nano = o.fair_weight_nano;
  c.admission_mode = o.admission_mode;
  c.deleting = o.meta.deleting;
  c.concurrent = {o.concurrent.enabled,
                  o.concurrent.kueue_form,
                  o.concurrent.on_success,
                  Symbol(o.concurrent.target_flavor),
                  {},
                  o.concurrent.upgrades,
                  {}};
  for (const auto& option : o.concurrent.options) {
    c.concurrent.options.push_back({Symbol(option.name), option.create_delay_seconds, option.delete_delay_seconds, {}});
    for (const Text flavor : option.allowed_flavors) c.concurrent.options.back().flavors.emplace_back(flavor);
  }
  return c;
}

CohortConfig to_config(const CohortObserved& o) {
  return {Symbol(o.meta.name), Symbol(o.parent), own(o.resource_groups), o.fair_weight_nano};
}

NamespaceConfig to_config(const NamespaceObserved& o) { return {Symbol(o.meta.name), own(o.labels), 0}; }

LocalQueueConfig to_config(const LocalQueueObserved& o) {
  LocalQueueConfig out{
      Symbol(o.meta.namespace_), Symbol(o.meta.name), Symbol(o.cluster_queue), o.stop_policy, o.stop_policy_set, o.fair_weight_nano, {}};
  for (const auto& [key, value] : o.labels) out.labels.emplace_back(Symbol(key), std::string(value));
  std::sort(out.labels.begin(), out.labels.end(), [](const auto& a, const auto& b) { return ByText{}(a.first, b.first); });
  return out;
}

NodeConfig to_config(const NodeObserved& o) {
  NodeConfig c;
  c.name = Symbol(o.meta.name);
  c.uid = o.meta.uid;
  c.version = o.meta.resource_version;
  LabelList labels;
  for (const auto& [key, value] : o.labels) labels.emplace_back(Symbol(key), value);
  c.labels = std::move(labels);
  for (const auto& t : o.taints) c.taints.push_back({std::string(t.key), std::string(t.value), t.effect});
  AmountList allocatable;
  for (const auto& r : o.allocatable) allocatable.emplace_back(Symbol(r.resource), r.amount);
  std::sort(allocatable.begin(), allocatable.end(), [](const auto& a, const auto& b) { return ByText{}(a.first, b.first); });
  c.allocatable = std::move(allocatable);
  c.ready = o.ready;
  c.unschedulable = o.unschedulable;
  c.silent = o.silent;
  return c;
}

std::uint64_t content_hash(const FlavorConfig& c) {
  StateHash h;
  h.add(c.name);
  hash_labels(h, c.node_labels);
  hash_taints(h, c.taints);
  h.add(static_cast<std::uint64_t>(c.tolerations.size()));
  for (const auto& t : c.tolerations) {
    h.add(std::string_view(t.key));
    h.add(std::string_view(t.value));
    h.add(t.exists);
    h.add(t.effect);
    h.add(t.seconds);
  }
  h.add(c.topology);
  return h.value();
}

std::uint64_t content_hash(const NodeConfig& c) {
  StateHash h;
  h.add(c.name);
  h.add(std::string_view(c.uid));
  h.add(c.version);
  hash_labels(h, c.labels.all());
  hash_taints(h, c.taints);
  h.add(static_cast<std::uint64_t>(c.allocatable.size()));
  for (const auto& [resource, amount] : c.allocatable.value()) {
    h.add(resource);
    h.add(amount);
  }
  h.add(c.ready);
  h.add(c.unschedulable);
  if (!c.ready) {
    h.add(c.silent);
    h.add(c.not_ready_since);
  }
  return h.value();
}

std::uint64_t content_hash(const QueueConfig& c) {
  StateHash h;
  h.add(c.name);
  h.add(c.cohort);
  hash_list(h, c.groups);
  h.add(c.strategy);
  h.add(c.has_namespace_selector);
  hash_list(h, c.namespace_selector);
  h.add(c.when_can_borrow);
  h.add(c.when_can_preempt);
  h.add(c.preference);
  h.add(c.within_cluster_queue);
  h.add(c.reclaim_within_cohort);
  h.add(c.borrow_within_cohort);
  h.add(c.max_priority_threshold);
  h.add(static_cast<std::uint64_t>(c.checks.size()));
  for (const auto& k : c.checks) {
    h.add(k.name);
    h.add(static_cast<std::uint64_t>(k.on_flavors.size()));
    for (const Symbol& f : k.on_flavors) h.add(f);
  }
  h.add(c.stop_policy);
  h.add(c.stop_policy_set);
  h.add(c.fair_weight_nano);
  h.add(c.admission_mode);
  h.add(c.deleting);
  if (c.concurrent.enabled) {  // as long as it is off, logs keep their hashes
    h.add(c.concurrent.kueue_form);
    h.add(c.concurrent.on_success);
    h.add(c.concurrent.target);
    h.add(static_cast<std::uint64_t>(c.concurrent.options.size()));
    for (const auto& option : c.concurrent.options) {
      h.add(option.name);
      h.add(option.create_delay_seconds);
      h.add(option.delete_delay_seconds);
      h.add(static_cast<std::uint64_t>(option.flavors.size()));
      for (const Symbol& f : option.flavors) h.add(f);
    }
    if (c.concurrent.upgrades != UpgradeFungibility::always) h.add(c.concurrent.upgrades);
  }
  return h.value();
}

std::uint64_t content_hash(const CohortConfig& c) {
  StateHash h;
  h.add(c.name);
  h.add(c.parent);
  hash_list(h, c.groups);
  h.add(c.fair_weight_nano);
  return h.value();
}

bool delays_topology(const QueueConfig& queue, Symbol flavor, const Catalog::Table<CheckConfig>& checks) {
  return std::any_of(queue.checks.begin(), queue.checks.end(), [&](const CheckRule& rule) {
    if (!rule.on_flavors.empty() && std::find(rule.on_flavors.begin(), rule.on_flavors.end(), flavor) == rule.on_flavors.end())
      return false;
    const auto check = checks.find(rule.name);
    return check != checks.end() &&
           (check->second->controller == provisioning_controller || check->second->controller == multikueue_controller);
  });
}

bool matches(const std::vector<OwnedRequirement>& selector, const std::vector<std::pair<Symbol, std::string>>& labels) {
  for (const auto& r : selector) {
    const std::string* value = nullptr;
    for (const auto& [k, v] : labels)
      if (k == r.key) value = &v;
    const bool in = value != nullptr && std::find(r.values.begin(), r.values.end(), *value) != r.values.end();
    switch (r.op) {
      case SelectorOperator::in:
        if (!in) return false;
        break;
      case SelectorOperator::not_in:
        if (in) return false;
        break;
      case SelectorOperator::exists:
        if (value == nullptr) return false;
        break;
      case SelectorOperator::does_not_exist:
        if (value != nullptr) return false;
        break;
      default:
        return false;  // Gt and Lt are not label selector operators
    }
  }
  return true;
}

// ---- Catalog ------------------------------------------------------------------------------------------------------------

const LocalQueueConfig* Catalog::local_queue(const Symbol& namespace_, const Symbol& name) const {
  const auto it = local_queues.find(LocalQueueKeyView(namespace_, name));
  return it == local_queues.end() ? nullptr : &it->second;
}

const FlavorConfig* Catalog::flavor(const Symbol& name) const {
  const auto it = flavors.find(name);
  return it == flavors.end() ? nullptr : it->second.get();
}

bool Catalog::queue_active(const Symbol& name) const {
  const auto it = activity.find(name);
  return it != activity.end() && it->second.active;
}

bool Catalog::namespace_matches(const QueueConfig& queue, const Symbol& namespace_) const {
  if (!queue.has_namespace_selector) return false;
  const auto it = namespaces.find(namespace_);
  return it != namespaces.end() && matches(queue.namespace_selector, it->second->labels);
}

std::uint64_t Catalog::match_since(const QueueConfig& queue, const Symbol& namespace_) const {
  const auto it = namespaces.find(namespace_);
  return std::max(queue.selector_since, it == namespaces.end() ? 0 : it->second->labels_since);
}

bool Catalog::manages_jobs_in(const Symbol& namespace_) const {
  static const Symbol name_label("kubernetes.io/metadata.name");
  const auto it = namespaces.find(namespace_);
  if (it != namespaces.end()) return matches(settings.managed_jobs_namespaces, it->second->labels);
  return matches(settings.managed_jobs_namespaces, {{name_label, std::string(namespace_.text())}});
}

void Catalog::refresh_activity(const QueueConfig& queue) {
  QueueActivity a;
  std::vector<std::pair<std::string, std::string>> findings;  // reason, text
  if (queue.stop_policy != StopPolicy::none) findings.emplace_back("Stopped", "is stopped");
  std::vector<std::string_view> missing_flavors, missing_checks, inactive_checks;
  std::vector<std::pair<std::string, std::string>> missing_topologies;
  for (const auto& g : queue.groups)
    for (const auto& f : g.flavors) {
      const auto* flavor_config = flavor(f.flavor);
      if (flavor_config == nullptr) {
        missing_flavors.push_back(f.flavor.text());
      } else if (!flavor_config->topology.empty() && !topologies.contains(flavor_config->topology)) {
        missing_topologies.emplace_back(flavor_config->topology.text(), f.flavor.text());
      }
    }
  for (const auto& rule : queue.checks) {
    const auto it = checks.find(rule.name);
    if (it == checks.end())
      missing_checks.push_back(rule.name.text());
    else if (!it->second->active)
      inactive_checks.push_back(rule.name.text());
  }
  std::vector<std::string_view> multikueue, per_flavor, provisioning;
  for (const auto& rule : queue.checks) {
    const auto it = checks.find(rule.name);
    if (it == checks.end()) continue;
    if (it->second->controller == provisioning_controller) provisioning.push_back(rule.name.text());
    if (it->second->controller != multikueue_controller) continue;
    multikueue.push_back(rule.name.text());
    if (!rule.on_flavors.empty()) per_flavor.push_back(rule.name.text());
  }
  if (!missing_flavors.empty()) findings.emplace_back("FlavorNotFound", "references missing ResourceFlavor(s): " + joined(missing_flavors));
  if (!missing_checks.empty())
    findings.emplace_back("AdmissionCheckNotFound", "references missing AdmissionCheck(s): " + joined(missing_checks));
  if (!inactive_checks.empty())
    findings.emplace_back("AdmissionCheckInactive", "references inactive AdmissionCheck(s): " + joined(inactive_checks));
  if (multikueue.size() > 1)  // BA-163
    findings.emplace_back("MultipleMultiKueueAdmissionChecks",
                          "Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, found: " + joined(multikueue));
  if (!per_flavor.empty())
    findings.emplace_back("MultiKueueAdmissionCheckAppliedPerFlavor",
                          "Cannot specify MultiKueue AdmissionCheck per flavor, found: " + joined(per_flavor));
  if (!multikueue.empty() && !provisioning.empty())
    findings.emplace_back("MultiKueueWithProvisioningRequest",
                          "Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks together, found: " + joined(multikueue) +
                              ", " + joined(provisioning));
  if (!multikueue.empty() && queue.concurrent.enabled && settings.concurrent_admission)  // CA-96
    findings.emplace_back("MultiKueueWithConcurrentAdmission",
                          "Cannot use MultiKueue AdmissionChecks together with concurrent admission, found: " + joined(multikueue));
  for (const auto& [topology, flavor_name] : missing_topologies)
    findings.emplace_back("TopologyNotFound", "there is no Topology \"" + topology + "\" for TAS flavor \"" + flavor_name + "\"");

  if (queue.deleting) {
    a.reason = "Terminating";
    a.message = "Can't admit new workloads; clusterQueue is terminating";
  } else if (!findings.empty()) {
    a.reason = findings.front().first;
    a.message = "Can't admit new workloads: ";
    for (std::size_t i = 0; i < findings.size(); ++i) a.message += (i != 0 ? ", " : "") + findings[i].second;
    a.message += '.';
  } else if (const auto root = roots.find(queue.name); root != roots.end() && root->second.empty()) {
    a.reason = "Unknown";
    a.message = "Can't admit new workloads.";
  } else {
    a.active = true;
    a.reason = "Ready";
    a.message = "Can admit new workloads";
  }
  activity[queue.name] = std::move(a);
}

std::uint64_t Catalog::hash() const {
  StateHash h;
  h.add(std::string_view(settings_json));
  for (const auto& [name, c] : flavors) h.add(content_hash(*c));
  for (const auto& [name, c] : queues) {
    h.add(content_hash(*c));
    if (c->selector_since != 0) h.add(c->selector_since);
  }
  for (const auto& [name, c] : cohorts) h.add(content_hash(*c));
  for (const auto& [name, c] : namespaces) {
    h.add(name);
    if (c->labels_since != 0) h.add(c->labels_since);
    for (const auto& [k, v] : c->labels) {
      h.add(k);
      h.add(std::string_view(v));
    }
  }
  for (const auto& [name, c] : checks) {
    h.add(name);
    h.add(std::string_view(c->controller));
    h.add(c->active);
  }
  for (const auto& [name, levels] : topologies) {
    h.add(name);
    for (const auto& l : levels) h.add(std::string_view(l));
  }
  for (const auto* classes : {&workload_priority_classes, &pod_priority_classes})
    for (const auto& [name, c] : *classes) {
      h.add(name);
      h.add(c.value);
      h.add(c.global_default);
    }
  std::uint64_t local = 0;  // a sum, because the table has no order
  for (const auto& [key, q] : local_queues) {
    StateHash one;
    one.add(q.namespace_);
    one.add(q.name);
    one.add(q.cluster_queue);
    one.add(q.stop_policy);
    one.add(q.stop_policy_set);
    one.add(q.fair_weight_nano);
    for (const auto& [k, v] : q.labels) {
      one.add(k);
      one.add(std::string_view(v));
    }
    local += one.value();
  }
  h.add(local);
  return h.value();
}

}  // namespace hindsight::admission
