// What an observation says of a Workload, in the forms that the state keeps.

#include <algorithm>
#include <utility>

#include "admission/model/workload_parts.hpp"

namespace hindsight::admission {
namespace {

OwnedTerm own_term(const SelectorTerm& term) {
  const auto own = [](List<Requirement> list) {
    std::vector<OwnedRequirement> out;
    for (const auto& r : list) out.push_back({Symbol(r.key), r.op, {r.values.begin(), r.values.end()}});
    return out;
  };
  return {own(term.requirements), own(term.fields)};
}

PodShape own_shape(const PodSetFacts& f) {
  PodShape shape;
  if (f.node_selector.empty() && !f.has_affinity && f.preferred_terms.empty() && f.tolerations.empty()) return shape;
  for (const auto& p : f.node_selector) shape.node_selector.emplace_back(Symbol(p.key), std::string(p.value));
  std::sort(shape.node_selector.begin(), shape.node_selector.end(),
            [](const auto& a, const auto& b) { return ByText{}(a.first, b.first); });
  shape.has_affinity = f.has_affinity;
  for (const auto& t : f.affinity_terms) shape.affinity_terms.push_back(own_term(t));
  for (const auto& p : f.preferred_terms) shape.preferred.push_back({p.weight, own_term(p.term)});
  for (const auto& t : f.tolerations)
    shape.tolerations.push_back({std::string(t.key), std::string(t.value), t.exists, t.effect, t.seconds});
  return shape;
}

}  // namespace

std::vector<SizedPart> own_sized(List<SizedContainer> facts) {
  std::vector<SizedPart> out;
  for (const auto& f : facts) {
    SizedPart part{std::string(f.name), f.role, {}};
    for (const auto& a : f.amounts) part.amounts.push_back({Symbol(a.resource), a.request, a.limit, a.low, a.high, a.step});
    out.push_back(std::move(part));
  }
  return out;
}

std::optional<TopologyRequest> own_topology(const PodSetFacts& f) {
  if (!f.topology_requested) return {};
  TopologyRequest out;
  if (!f.required_topology.empty()) out.required = f.required_topology;
  if (!f.preferred_topology.empty()) out.preferred = f.preferred_topology;
  out.unconstrained = f.unconstrained_topology;
  for (const auto& layer : f.topology_layers) out.slices.push_back({std::string(layer.level), layer.size});
  return out;
}

std::vector<Symbol> own_names(List<Text> names) {
  std::vector<Symbol> out;
  for (const Text& name : names) out.emplace_back(name);
  std::sort(out.begin(), out.end(), ByText{});
  return out;
}

SizingPlan own_plan(List<PlannedAmount> facts) {
  SizingPlan out;
  for (const auto& p : facts) out.push_back({Symbol(p.pod_set), std::string(p.container), Symbol(p.resource), p.original, p.amount});
  return out;
}

std::vector<PodSetSpec> own_pod_sets(List<PodSetFacts> facts) {
  std::vector<PodSetSpec> out;
  out.reserve(facts.size());
  for (const auto& f : facts) {
    PodSetSpec p;
    p.name = Symbol(f.name);
    p.count = f.count;
    p.min_count = f.min_count.value_or(-1);
    p.requests.reserve(f.requests.size());
    for (const auto& r : f.requests) p.requests.push_back({Symbol(r.resource), r.amount});
    std::sort(p.requests.begin(), p.requests.end(), [](const auto& a, const auto& b) { return ByText{}(a.resource, b.resource); });
    p.shape = own_shape(f);
    p.shape_hash = f.shape_hash;
    p.template_hash = f.template_hash;
    p.core_hash = f.core_hash;
    p.group = Symbol(f.pod_set_group);
    p.limits_error = f.limits_error;
    p.limit_range_error = f.limit_range_error;
    p.sized = own_sized(f.sized);
    p.bare_hash = f.bare_hash;
    p.topology = own_topology(f);
    p.ranked = f.topology_ranked;
    p.groups = f.topology_groups;
    out.push_back(std::move(p));
  }
  return out;
}

std::vector<PodSetReservation> own_assignments(List<PodSetAssignmentFacts> facts) {
  std::vector<PodSetReservation> out;
  out.reserve(facts.size());
  const auto by_text = [](const auto& a, const auto& b) { return ByText{}(a.first, b.first); };
  for (const auto& f : facts) {
    PodSetReservation r{Symbol(f.pod_set), f.count, {}, {}};
    for (const auto& x : f.flavors) r.flavors.emplace_back(Symbol(x.resource), Symbol(x.flavor));
    for (const auto& u : f.usage) r.usage.emplace_back(Symbol(u.resource), u.amount);
    std::sort(r.flavors.begin(), r.flavors.end(), by_text);
    std::sort(r.usage.begin(), r.usage.end(), by_text);
    TopologyAssignment where;
    for (const Text level : f.topology_levels) where.levels.emplace_back(level);
    for (const auto& domain : f.topology) {
      if (domain.values.size() != where.levels.size()) continue;  // of a record that no build of ours wrote
      for (const Text value : domain.values) where.values.emplace_back(value);
      where.counts.push_back(domain.count);
    }
    if (!where.empty()) r.topology = std::move(where);
    r.delayed = f.delayed;
    out.push_back(std::move(r));
  }
  return out;
}

CheckStatus own_check(const CheckFacts& c) {
  std::vector<PodSetUpdate> updates;
  for (const auto& u : c.updates) {
    PodSetUpdate update{Symbol(u.pod_set), {}, {}};
    for (const auto& p : u.node_selector) update.node_selector.emplace_back(Symbol(p.key), std::string(p.value));
    for (const auto& t : u.tolerations)
      update.tolerations.push_back({std::string(t.key), std::string(t.value), t.exists, t.effect, t.seconds});
    if (!update.node_selector.empty() || !update.tolerations.empty()) updates.push_back(std::move(update));
  }
  return {Symbol(c.name),
          c.state,
          c.last_transition,
          std::string(c.message),
          c.requeue_after_seconds.value_or(-1),
          c.retry_count.value_or(-1),
          std::string(c.pod_set_updates),
          std::move(updates)};
}

CheckFacts view_check(const CheckStatus& c, Arena& arena) {
  CheckFacts f;
  f.name = c.name.text();
  f.state = c.state;
  f.last_transition = c.last_transition;
  f.message = arena.copy(c.message);
  if (c.requeue_after_seconds >= 0) f.requeue_after_seconds = c.requeue_after_seconds;
  if (c.retry_count >= 0) f.retry_count = c.retry_count;
  f.pod_set_updates = arena.copy(c.pod_set_updates);
  auto updates = arena.make<PodSetUpdateFacts>(c.updates.size());
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const PodSetUpdate& u = c.updates[i];
    auto selector = arena.make<Pair>(u.node_selector.size());
    for (std::size_t k = 0; k < selector.size(); ++k)
      selector[k] = {u.node_selector[k].first.text(), arena.copy(u.node_selector[k].second)};
    auto tolerations = arena.make<Toleration>(u.tolerations.size());
    for (std::size_t k = 0; k < tolerations.size(); ++k) {
      const OwnedToleration& t = u.tolerations[k];
      tolerations[k] = {arena.copy(t.key), arena.copy(t.value), t.exists, t.effect, t.seconds};
    }
    updates[i] = {u.pod_set.text(), selector, tolerations};
  }
  f.updates = updates;
  return f;
}

}  // namespace hindsight::admission
