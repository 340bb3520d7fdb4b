#include "projections/observed_again.hpp"

#include <vector>

namespace hindsight::projections {
namespace {

using namespace admission;

template <class To, class From, class F>
List<To> list_of(const std::vector<From>& from, Arena& arena, const F& one) {
  auto out = arena.make<To>(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) out[i] = one(from[i]);
  return out;
}

List<Text> texts(const std::vector<Symbol>& names, Arena& arena) {
  return list_of<Text>(names, arena, [&](const Symbol& name) { return arena.copy(name.text()); });
}

List<ResourceGroupFacts> groups_of(const std::vector<ResourceGroup>& groups, Arena& arena) {
  return list_of<ResourceGroupFacts>(groups, arena, [&](const ResourceGroup& group) {
    return ResourceGroupFacts{texts(group.resources, arena), list_of<FlavorQuotasFacts>(group.flavors, arena, [&](const FlavorQuotas& f) {
                                auto quotas = arena.make<QuotaFacts>(f.quotas.size());
                                for (std::size_t i = 0; i < quotas.size(); ++i)
                                  quotas[i] = {arena.copy(group.resources[i].text()), f.quotas[i].nominal, f.quotas[i].borrowing_limit,
                                               f.quotas[i].lending_limit};
                                return FlavorQuotasFacts{arena.copy(f.flavor.text()), quotas};
                              })};
  });
}

ConcurrentAdmissionFacts facts_of(const ConcurrentAdmission& c, Arena& arena) {
  ConcurrentAdmissionFacts out;
  out.enabled = c.enabled;
  out.kueue_form = c.kueue_form;
  out.on_success = c.on_success;
  out.target_flavor = arena.copy(c.target.text());
  out.upgrades = c.upgrades;
  out.options = list_of<ExplicitOptionFacts>(c.options, arena, [&](const OptionConfig& o) {
    return ExplicitOptionFacts{arena.copy(o.name.text()), o.create_delay_seconds, o.delete_delay_seconds, texts(o.flavors, arena)};
  });
  return out;
}

}  // namespace

ClusterQueueObserved observed_again(const QueueConfig& queue, Arena& arena) {
  ClusterQueueObserved out;
  out.meta.name = arena.copy(queue.name.text());
  out.meta.deleting = queue.deleting;
  out.cohort = arena.copy(queue.cohort.text());
  out.resource_groups = groups_of(queue.groups, arena);
  out.queueing_strategy = queue.strategy;
  out.has_namespace_selector = queue.has_namespace_selector;
  out.namespace_selector = list_of<Requirement>(queue.namespace_selector, arena, [&](const OwnedRequirement& r) {
    return Requirement{arena.copy(r.key.text()), r.op,
                       list_of<Text>(r.values, arena, [&](const std::string& value) { return arena.copy(value); })};
  });
  out.when_can_borrow = queue.when_can_borrow;
  out.when_can_preempt = queue.when_can_preempt;
  out.preference = queue.preference;
  out.within_cluster_queue = queue.within_cluster_queue;
  out.reclaim_within_cohort = queue.reclaim_within_cohort;
  out.borrow_within_cohort = queue.borrow_within_cohort;
  out.max_priority_threshold = queue.max_priority_threshold;
  out.admission_checks = list_of<AdmissionCheckRule>(queue.checks, arena, [&](const CheckRule& k) {
    return AdmissionCheckRule{arena.copy(k.name.text()), texts(k.on_flavors, arena)};
  });
  out.stop_policy = queue.stop_policy;
  out.stop_policy_set = queue.stop_policy_set;
  out.fair_weight_nano = queue.fair_weight_nano;
  out.admission_mode = queue.admission_mode;
  out.concurrent = facts_of(queue.concurrent, arena);
  return out;
}

CohortObserved observed_again(const CohortConfig& cohort, Arena& arena) {
  CohortObserved out;
  out.meta.name = arena.copy(cohort.name.text());
  out.parent = arena.copy(cohort.parent.text());
  out.resource_groups = groups_of(cohort.groups, arena);
  out.fair_weight_nano = cohort.fair_weight_nano;
  return out;
}

LocalQueueObserved observed_again(const LocalQueueConfig& queue, Arena& arena) {
  LocalQueueObserved out;
  out.meta.namespace_ = arena.copy(queue.namespace_.text());
  out.meta.name = arena.copy(queue.name.text());
  out.cluster_queue = arena.copy(queue.cluster_queue.text());
  out.stop_policy = queue.stop_policy;
  out.stop_policy_set = queue.stop_policy_set;
  out.fair_weight_nano = queue.fair_weight_nano;
  out.labels = list_of<Pair>(queue.labels, arena, [&](const auto& label) {
    return Pair{arena.copy(label.first.text()), arena.copy(label.second)};
  });
  return out;
}

NodeObserved observed_as(const NodeConfig& like, Text name, Arena& arena) {
  NodeObserved out;
  out.meta.name = out.meta.uid = name;
  out.meta.resource_version = 1;
  static const Symbol hostname("kubernetes.io/hostname");
  const auto labels = like.labels.all();
  out.labels = list_of<Pair>(labels, arena, [&](const auto& label) {
    return Pair{arena.copy(label.first.text()), label.first == hostname ? name : arena.copy(std::string_view(label.second))};
  });
  out.taints = list_of<Taint>(like.taints, arena, [&](const OwnedTaint& t) {
    return Taint{arena.copy(t.key), arena.copy(t.value), t.effect};
  });
  out.allocatable = list_of<ResourceAmount>(like.allocatable.value(), arena, [&](const auto& a) {
    return ResourceAmount{arena.copy(a.first.text()), a.second};
  });
  out.ready = like.ready;
  out.unschedulable = like.unschedulable;
  out.silent = like.silent;
  return out;
}

}  // namespace hindsight::projections
