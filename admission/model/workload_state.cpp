#include "admission/model/workload_state.hpp"

#include <algorithm>
#include <cmath>

#include "vocabulary/saturated.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::admission {
namespace {

const Symbol reason_quota_reserved("QuotaReserved");
const Symbol reason_no_reservation("NoReservation");

constexpr std::uint32_t bit(Section s) { return 1U << static_cast<unsigned>(s); }
constexpr std::uint32_t bit(ConditionType t) { return 1U << static_cast<unsigned>(t); }

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

bool same(const Condition& mine, const ConditionFacts& seen) {
  return mine.status == seen.status && mine.reason.text() == seen.reason && mine.message == seen.message;
}

bool same(const TopologyAssignment& mine, const PodSetAssignmentFacts& seen) {
  const auto is = [](Symbol a, Text b) { return a.text() == b; };
  if (mine.size() != seen.topology.size() ||
      !std::equal(mine.levels.begin(), mine.levels.end(), seen.topology_levels.begin(), seen.topology_levels.end(), is))
    return false;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto values = mine.domain(i);
    if (mine.counts[i] != seen.topology[i].count ||
        !std::equal(values.begin(), values.end(), seen.topology[i].values.begin(), seen.topology[i].values.end(), is))
      return false;
  }
  return true;
}

bool same(const Admission& mine, const WorkloadObserved& o) {
  if (mine.cluster_queue.text() != o.admission_cluster_queue || mine.pod_sets.size() != o.assignments.size()) return false;
  for (std::size_t i = 0; i < mine.pod_sets.size(); ++i) {
    const auto& a = mine.pod_sets[i];
    const auto& b = o.assignments[i];
    if (a.pod_set.text() != b.pod_set || a.count != b.count || a.flavors.size() != b.flavors.size() || a.usage.size() != b.usage.size())
      return false;
    for (const auto& f : b.flavors)
      if (std::none_of(a.flavors.begin(), a.flavors.end(),
                       [&](const auto& x) { return x.first.text() == f.resource && x.second.text() == f.flavor; }))
        return false;
    for (const auto& u : b.usage)
      if (std::none_of(a.usage.begin(), a.usage.end(), [&](const auto& x) { return x.first.text() == u.resource && x.second == u.amount; }))
        return false;
    if (!same(a.topology, b) || a.delayed != b.delayed) return false;
  }
  return true;
}

template <class T, class U>
bool assign(T& mine, U&& seen) {
  if (mine == seen) return false;
  mine = std::forward<U>(seen);
  return true;
}

std::vector<SizedPart> own_sized(List<SizedContainer> facts) {
  std::vector<SizedPart> out;
  for (const auto& f : facts) {
    SizedPart part{std::string(f.name), f.role, {}};
    for (const auto& a : f.amounts) part.amounts.push_back({Symbol(a.resource), a.request, a.limit, a.low, a.high, a.step});
    out.push_back(std::move(part));
  }
  return out;
}

/// The same template may ask for something else when a LimitRange or a RuntimeClass has changed.
bool same_requests(const PodSetSpec& mine, const PodSetFacts& seen) {
  if (mine.limits_error != seen.limits_error || mine.limit_range_error != seen.limit_range_error ||
      mine.requests.size() != seen.requests.size())
    return false;
  return std::all_of(seen.requests.begin(), seen.requests.end(), [&](const ResourceAmount& r) {
    return std::any_of(mine.requests.begin(), mine.requests.end(),
                       [&](const ResourceRequest& m) { return m.resource.text() == r.resource && m.amount == r.amount; });
  });
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

bool same_pod_sets(const std::vector<PodSetSpec>& mine, List<PodSetFacts> seen) {
  if (mine.size() != seen.size()) return false;
  for (std::size_t i = 0; i < mine.size(); ++i)
    if (mine[i].name.text() != seen[i].name || mine[i].count != seen[i].count || mine[i].min_count != seen[i].min_count.value_or(-1) ||
        mine[i].template_hash != seen[i].template_hash || mine[i].core_hash != seen[i].core_hash ||
        mine[i].shape_hash != seen[i].shape_hash || !same_requests(mine[i], seen[i]) || mine[i].sized != own_sized(seen[i].sized) ||
        mine[i].topology != own_topology(seen[i]) || mine[i].ranked != seen[i].topology_ranked || mine[i].groups != seen[i].topology_groups)
      return false;
  return true;
}

}  // namespace

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

// ---- reading ------------------------------------------------------------------------------------------------------------

std::int32_t WorkloadState::reclaimable_of(Symbol pod_set) const {
  for (const auto& [p, n] : reclaimable)
    if (p == pod_set) return n;
  return 0;
}

std::int64_t WorkloadState::effective_priority(const Settings& settings) const {
  return std::int64_t{priority.value_or(0)} + (settings.priority_boost ? priority_boost : 0);
}

Time WorkloadState::queue_time(const Settings& settings) const {
  static const Symbol pods_ready_timeout("PodsReadyTimeout");
  static const Symbol admission_check("AdmissionCheck");
  static const Symbol while_borrowing("InCohortReclaimWhileBorrowing");
  const auto* e = find(ConditionType::evicted);
  if (e != nullptr && e->is_true()) {
    if (e->reason == pods_ready_timeout && settings.requeue_by_eviction_time) return e->last_transition;
    if (e->reason == admission_check) return e->last_transition;
  }
  if (!settings.priority_sorting_within_cohort) {
    const auto* p = find(ConditionType::preempted);
    if (p != nullptr && p->is_true() && p->reason == while_borrowing) return p->last_transition + Duration::millis(1);
  }
  return created;
}

// ---- changing -----------------------------------------------------------------------------------------------------------

namespace {

/// EJ-64: what is reclaimable was counted from the old size. Were it taken from a smaller one, the pods that still run would seem to hold
/// nothing until the count is told anew, and others would get their quota.
void keep_remaining(WorkloadState& w, const std::vector<PodSetSpec>& wanted) {
  for (auto& [name, n] : w.reclaimable)
    for (const auto& before : w.pod_sets)
      for (const auto& after : wanted)
        if (before.name == name && after.name == name && after.count < before.count) {
          n = std::max(0, n - (before.count - after.count));
          w.await(Section::reclaimable);
        }
  std::erase_if(w.reclaimable, [](const auto& r) { return r.second == 0; });
}

}  // namespace

bool WorkloadState::observe(const WorkloadObserved& o, std::uint64_t sequence) {
  if (o.meta.resource_version != 0 && o.meta.resource_version <= resource_version) return false;
  const bool first = uid.empty();
  bool news = first;
  if (o.meta.resource_version != 0) resource_version = o.meta.resource_version;  // 0: the same version seen in another light
  if (uid.empty()) {
    namespace_ = Symbol(o.meta.namespace_);
    name = o.meta.name;
    uid = o.meta.uid;
    created = o.meta.created;
  }
  news |= assign(owner_uid, std::string(o.owner_uid));
  const bool revised = generation != o.meta.generation || admission_gated_by != o.admission_gated_by ||
                       resource_policy != o.resource_policy || resource_bounds != o.resource_bounds;
  generation = o.meta.generation;
  news |= assign(deleting, o.meta.deleting);
  news |= assign(in_use_finalizer, o.meta.in_use_finalizer);
  news |= assign(job_made, !o.job_uid.empty());

  // spec: the API server's word, but for spec.active while our own deactivation is on its way
  bool spec_news = assign(queue_name, Symbol(o.queue_name));
  if (!same_pod_sets(pod_sets, o.pod_sets)) {
    auto wanted = own_pod_sets(o.pod_sets);
    if (elastic && reserved()) keep_remaining(*this, wanted);
    pod_sets = std::move(wanted);
    spec_news = true;
  }
  spec_news |= assign(priority, o.priority);
  spec_news |= assign(priority_class_kind, o.priority_class_kind);
  spec_news |= assign(priority_class, Symbol(o.priority_class));
  spec_news |= assign(max_exec_seconds, o.max_exec_seconds.value_or(0));
  spec_news |= assign(admission_gated_by, std::string(o.admission_gated_by));
  spec_news |= assign(priority_boost, o.priority_boost);
  spec_news |= assign(elastic, o.elastic);
  spec_news |= assign(replacement_for, std::string(o.replacement_for));
  spec_news |= assign(slice_name, std::string(o.slice_name));
  spec_news |= assign(resource_policy, o.resource_policy);
  spec_news |= assign(resource_bounds, std::string(o.resource_bounds));
  if (waits_for(Section::active)) {
    if (o.active == active) unconfirmed &= ~bit(Section::active);
  } else {
    spec_news |= assign(active, o.active);
  }
  if (revised) {
    // Another write than the revision may have made this generation, as our own deactivation does. Then the revision is decided anew, which
    // is no repeated step.
    news |= revision_pending;
    revision_pending = false;
  }
  news |= spec_news;

  // a Finished that somebody else wrote counts at once, and what of ours was not written by then comes too late
  const bool ended = !finished() && std::any_of(o.conditions.begin(), o.conditions.end(), [](const ConditionFacts& c) {
    return c.type == ConditionType::finished && c.status == ConditionStatus::true_;
  });
  if (ended) unconfirmed &= bit(Section::spec) | bit(Section::active);

  // conditions, each on its own
  for (auto it = conditions.begin(); it != conditions.end();) {
    const auto seen = std::find_if(o.conditions.begin(), o.conditions.end(), [&](const ConditionFacts& c) { return c.type == it->type; });
    const std::uint32_t b = bit(it->type);
    if (seen == o.conditions.end()) {
      if ((unconfirmed & b) == 0) {
        it = conditions.erase(it);
        news = true;
        continue;
      }
    } else if (same(*it, *seen)) {
      unconfirmed &= ~b;
    } else if ((unconfirmed & b) == 0) {
      *it = {seen->type, seen->status, Symbol(seen->reason), std::string(seen->message), seen->last_transition};
      news = true;
    }
    ++it;
  }
  for (const auto& c : o.conditions) {
    if (c.type == ConditionType::unspecified || find(c.type) != nullptr) continue;
    const std::uint32_t b = bit(c.type);
    if ((unconfirmed & b) != 0) continue;  // we removed it and the server still shows it
    conditions.push_back({c.type, c.status, Symbol(c.reason), std::string(c.message), c.last_transition});
    news = true;
  }
  for (unsigned t = 1; t < 16; ++t) {  // removed conditions are confirmed by their absence
    const auto type = static_cast<ConditionType>(t);
    if ((unconfirmed >> t & 1U) == 0 || find(type) != nullptr) continue;
    if (std::none_of(o.conditions.begin(), o.conditions.end(), [&](const ConditionFacts& c) { return c.type == type; }))
      unconfirmed &= ~bit(type);
  }
  // What was decided after it wins: that there is no reservation is not written, and a write that was thought refused shows one. Of others
  // than Options a record goes on to mean what it meant before there were any.
  const auto* reserved_now = find(ConditionType::quota_reserved);
  if (is_made_as_option() && o.has_admission && !admission && waits_for(ConditionType::quota_reserved) && reserved_now != nullptr &&
      reserved_now->is_false())
    await(Section::admission);
  const bool admission_same = o.has_admission == admission.has_value() && (!o.has_admission || same(*admission, o));
  if (admission_same) {
    unconfirmed &= ~bit(Section::admission);
  } else if (!waits_for(Section::admission)) {
    if (o.has_admission)
      admission = Admission{Symbol(o.admission_cluster_queue), own_assignments(o.assignments)};
    else
      admission.reset();
    news = true;
  }

  // The plan is ours alone: where a log begins it is taken over with the admission; after that a changed annotation is written again.
  if (first && o.has_admission) plan = own_plan(o.plan);
  if (own_plan(o.plan) == plan)
    unconfirmed &= ~bit(Section::plan);
  else
    await(Section::plan);

  std::vector<CheckStatus> seen_checks;
  for (const auto& c : o.checks) seen_checks.push_back(own_check(c));
  std::sort(seen_checks.begin(), seen_checks.end(), [](const auto& a, const auto& b) { return ByText{}(a.name, b.name); });
  const auto check_key = [](const CheckStatus& c) { return std::tie(c.name, c.state, c.message); };
  const bool checks_same = std::equal(checks.begin(), checks.end(), seen_checks.begin(), seen_checks.end(),
                                      [&](const auto& a, const auto& b) { return check_key(a) == check_key(b); });
  if (checks_same) {
    unconfirmed &= ~bit(Section::checks);
    checks = std::move(seen_checks);
  } else if (!waits_for(Section::checks)) {
    checks = std::move(seen_checks);
    news = true;
  }

  const bool requeue_same = has_requeue_state == o.has_requeue_state && requeue_count == o.requeue_count &&
                            (requeue_at.is_set() ? requeue_at.floor_seconds() == o.requeue_at.floor_seconds() : !o.requeue_at.is_set());
  if (requeue_same) {
    unconfirmed &= ~bit(Section::requeue_state);
  } else if (!waits_for(Section::requeue_state)) {
    has_requeue_state = o.has_requeue_state;
    requeue_count = o.requeue_count;
    requeue_at = o.requeue_at;
    news = true;
  }

  std::vector<std::pair<Symbol, std::int32_t>> seen_reclaimable;
  for (const auto& r : o.reclaimable) seen_reclaimable.emplace_back(Symbol(r.pod_set), r.count);
  if (seen_reclaimable == reclaimable) {
    unconfirmed &= ~bit(Section::reclaimable);
  } else if (!waits_for(Section::reclaimable)) {
    reclaimable = std::move(seen_reclaimable);
    news = true;
  }

  if (accumulated_exec_seconds == o.accumulated_exec_seconds) {
    unconfirmed &= ~bit(Section::exec_time);
  } else if (!waits_for(Section::exec_time)) {
    accumulated_exec_seconds = o.accumulated_exec_seconds;
    news = true;
  }

  bool stats_same = evictions.size() == o.evictions.size();
  for (std::size_t i = 0; stats_same && i < evictions.size(); ++i)
    stats_same = evictions[i].reason.text() == o.evictions[i].reason && evictions[i].cause.text() == o.evictions[i].underlying_cause &&
                 evictions[i].count == o.evictions[i].count;
  if (stats_same) {
    unconfirmed &= ~bit(Section::evictions);
  } else if (!waits_for(Section::evictions)) {
    evictions.clear();
    for (const auto& e : o.evictions) evictions.push_back({Symbol(e.reason), Symbol(e.underlying_cause), e.count});
    news = true;
  }

  if (auto seen = own_names(o.unhealthy_nodes); seen == unhealthy_nodes) {
    unconfirmed &= ~bit(Section::unhealthy_nodes);
  } else if (!waits_for(Section::unhealthy_nodes)) {
    unhealthy_nodes = std::move(seen);
    news = true;
  }

  news |= observe_family(o);
  if (news) resolve_since = sequence;
  return news;
}

/// True: it told more than our own writes coming back. What a status says of Options and gates is ours alone: it is written again.
bool WorkloadState::observe_family(const WorkloadObserved& o) {
  static constexpr std::string_view own_gate = "kueue.x-k8s.io/concurrent-admission";
  FamilyFacts seen;
  if (o.owner_kind == "Workload") {
    seen.option_of = o.owner_uid;
    seen.parent_name = o.owner_name;
  }
  seen.parent_marked = o.parent_marked;
  seen.constrained = o.constrained;
  seen.allowed = own_names(o.allowed_flavors);
  const PreemptionGateFacts* gate = nullptr;
  for (const auto& g : o.preemption_gates) {
    if (g.name == own_gate)
      gate = &g;
    else
      seen.closed_gate = seen.closed_gate || !g.open;
  }
  seen.option_made = gate != nullptr;
  const bool seen_as_option = seen.option_made && !seen.option_of.empty();
  const bool known = family_facts.has_value();
  const bool same = known ? *family_facts == seen : seen == FamilyFacts{};
  const bool marked_by_us = known && waits_for(Section::parent_markers) && seen.parent_marked != family_facts->parent_marked;
  if (!same) {
    if (seen == FamilyFacts{})
      family_facts.reset();
    else
      family_facts = std::move(seen);
    revision_pending = revision_pending && !seen_as_option;  // its flavors may have to be set back once more
  }
  const auto confirm = [this](Section s, bool shown) {
    if (shown)
      unconfirmed &= ~bit(s);
    else
      await(s);
  };
  // of an Option the markers of a Parent are taken away (CA-11)
  if (family || waits_for(Section::parent_markers) || (seen_as_option && o.parent_marked))
    confirm(Section::parent_markers, o.parent_marked == family.has_value());
  if (family) {
    const auto shown = [](const OptionStatus& a, const OptionStatusFacts& b) {
      return a.name == b.name && a.phase == b.phase && a.message == b.message && a.flavors == own_names(b.flavors);
    };
    confirm(Section::options, std::equal(family->options.begin(), family->options.end(), o.options.begin(), o.options.end(), shown));
  } else if (waits_for(Section::options)) {
    confirm(Section::options, o.options.empty());
  }
  if (option && option->gate_since.is_set()) confirm(Section::preemption_gates, gate != nullptr && gate->open == option->gate_open);
  return !same && !marked_by_us;
}

void WorkloadState::set_unhealthy(std::vector<Symbol> nodes) {
  if (unhealthy_nodes == nodes) return;
  unhealthy_nodes = std::move(nodes);
  await(Section::unhealthy_nodes);
}

void WorkloadState::decide_condition(ConditionType type, ConditionStatus status, Symbol reason, std::string_view text, Time now) {
  std::string message = condition_message(text);  // also of a decision that an earlier build recorded whole
  for (auto& c : conditions) {
    if (c.type != type) continue;
    if (c.status == status && c.reason == reason && c.message == message) return;
    if (c.status != status) c.last_transition = now;
    c.status = status;
    c.reason = reason;
    c.message = std::move(message);
    unconfirmed |= bit(type);
    return;
  }
  conditions.push_back({type, status, reason, std::move(message), now});
  unconfirmed |= bit(type);
}

void WorkloadState::remove_condition(ConditionType type) {
  const auto it = std::find_if(conditions.begin(), conditions.end(), [&](const Condition& c) { return c.type == type; });
  if (it == conditions.end()) return;
  conditions.erase(it);
  unconfirmed |= bit(type);
}

void WorkloadState::add_exec_time(std::optional<std::int32_t> before, Time since, Time now) {
  const std::int64_t seconds = std::max<std::int64_t>(0, now.floor_seconds() - since.floor_seconds());
  accumulated_exec_seconds = saturated_add(before.value_or(0), saturated<std::int32_t>(seconds));
  await(Section::exec_time);
}

bool WorkloadState::lacks_places() const {
  return admission && std::any_of(admission->pod_sets.begin(), admission->pod_sets.end(),
                                  [](const PodSetReservation& p) { return p.delayed == DelayedTopology::pending; });
}

bool WorkloadState::checks_ready() const {
  return std::all_of(checks.begin(), checks.end(), [](const CheckStatus& k) { return k.state == CheckState::ready; });
}

void WorkloadState::set_second_pass(std::int32_t in_vain, Time next) {
  second_passes = in_vain;
  second_pass_at = next;
}

void WorkloadState::clear_reservation(Symbol reason, std::string_view message, Time now) {
  if (admitted()) {
    const auto* a = find(ConditionType::admitted);
    if (max_exec_seconds > 0) add_exec_time(accumulated_exec_seconds, a->last_transition, now);  // BA-130
  }
  decide_condition(ConditionType::quota_reserved, ConditionStatus::false_, reason, message, now);
  decide_condition(ConditionType::admitted, ConditionStatus::false_, reason_no_reservation, "The workload has no reservation", now);
  if (admission) {
    admission.reset();
    await(Section::admission);
  }
  set_unhealthy({});
  set_second_pass(0, Time::never());
  set_plan({});
}

void WorkloadState::set_plan(SizingPlan wanted) {
  if (plan == wanted) return;
  plan = std::move(wanted);
  await(Section::plan);
}

void WorkloadState::take_back_reservation() {
  admission.reset();
  set_second_pass(0, Time::never());
  set_plan({});
  remove_condition(ConditionType::quota_reserved);
  remove_condition(ConditionType::admitted);
  unconfirmed &= ~(bit(Section::admission) | bit(ConditionType::quota_reserved) | bit(ConditionType::admitted));
}

void WorkloadState::reset_previous(Time now) {
  static const Symbol quota_reserved("QuotaReserved");
  for (const auto type : {ConditionType::evicted, ConditionType::preempted, ConditionType::blocked_on_preemption_gates}) {
    const auto* c = find(type);
    if (c == nullptr || !c->is_true()) continue;
    const std::string previous = "Previously: " + c->message;
    decide_condition(type, ConditionStatus::false_, quota_reserved, previous, now);
  }
}

void WorkloadState::evict(Symbol reason, Symbol cause, std::string_view message, Time now, Symbol counted_as) {
  decide_condition(ConditionType::evicted, ConditionStatus::true_, reason, message, now);
  bool changed = false;
  for (auto& c : checks) {
    if (c.state == CheckState::pending) continue;
    const char* previous = c.state == CheckState::ready ? "Ready" : c.state == CheckState::retry ? "Retry" : "Rejected";
    c.retry_count = c.state == CheckState::retry ? saturated_add(std::max(c.retry_count, 0), 1) : -1;
    c.state = CheckState::pending;
    c.last_transition = now;
    c.message = std::string("Reset to Pending after eviction. Previously: ") + previous;
    c.pod_set_updates.clear();
    c.updates.clear();
    changed = true;
  }
  if (changed) await(Section::checks);
  set_unhealthy({});  // TAS-106

  if (const auto* blocked = find(ConditionType::blocked_on_preemption_gates); blocked != nullptr && blocked->is_true())  // CA-64
    decide_condition(ConditionType::blocked_on_preemption_gates, ConditionStatus::false_, reason, message, now);
  if (!reserved() || is_made_as_option()) return;  // evicted while pending: no statistics (§8.2); nor of Options (CA-65)
  const auto it =
      std::find_if(evictions.begin(), evictions.end(), [&](const EvictionStat& e) { return e.reason == counted_as && e.cause == cause; });
  if (it == evictions.end())
    evictions.push_back({counted_as, cause, 1});
  else
    it->count = saturated_add(it->count, 1);
  await(Section::evictions);
}

void add_plan(StateHash& h, const SizingPlan& plan) {
  for (const auto& p : plan) {
    h.add(p.pod_set);
    h.add(std::string_view(p.container));
    h.add(p.resource);
    h.add(p.original);
    h.add(p.amount);
  }
}

namespace {

void add_names(StateHash& h, const std::vector<Symbol>& names) {
  h.add(static_cast<std::uint64_t>(names.size()));
  for (const Symbol& name : names) h.add(name);
}

void add_facts(StateHash& h, const FamilyFacts& f) {
  h.add(std::string_view(f.option_of));
  for (const bool b : {f.option_made, f.parent_marked, f.constrained, f.closed_gate}) h.add(b);
  add_names(h, f.allowed);
}

void add_option(StateHash& h, const OptionState& o) {
  for (const bool b : {o.rejected, o.gate_open, o.passed_over}) h.add(b);
  h.add(o.cause);
  h.add(std::string_view(o.message));
  h.add(o.gate_since);
  if (o.anew) h.add(std::string_view("anew"));
}

void add_family(StateHash& h, const FamilyState& f) {
  h.add(f.cycle_start);
  h.add(f.first_admitted);
  h.add(f.holds_itself);
  h.add(std::string_view(f.shown));
  h.add(std::string_view(f.migrating_to));
  h.add(f.hold.has_value());
  if (f.hold) {
    h.add(f.hold->cluster_queue);
    for (const auto& p : f.hold->pod_sets)
      for (const auto& [resource, amount] : p.usage) {
        h.add(resource);
        h.add(amount);
      }
  }
  for (const auto& r : f.requested) {
    h.add(std::string_view(r.name));
    h.add(r.active);
    h.add(r.refused);
    h.add(r.since);
  }
  add_names(h, f.foreign);
  if (f.migrated_at.is_set() || f.paused_until.is_set()) {
    h.add(f.migrated_at);
    h.add(f.undone);
    h.add(f.paused_until);
  }
  for (const auto& o : f.options) {
    h.add(std::string_view(o.name));
    h.add(o.phase);
    h.add(std::string_view(o.message));
    h.add(o.last_transition);
  }
}

}  // namespace

std::uint64_t WorkloadState::hash() const {
  StateHash h;
  h.add(std::string_view(uid));
  h.add(namespace_);
  h.add(std::string_view(name));
  h.add(std::string_view(owner_uid));
  h.add(created);
  h.add(resource_version);
  h.add(generation);
  h.add(deleting);
  h.add(in_use_finalizer);
  h.add(job_made);
  h.add(queue_name);
  for (const auto& p : pod_sets) {
    h.add(p.name);
    h.add(p.count);
    h.add(p.min_count);
    for (const auto& r : p.requests) {
      h.add(r.resource);
      h.add(r.amount);
    }
    h.add(p.shape_hash);
    h.add(p.template_hash);
    h.add(p.core_hash);
    h.add(std::string_view(p.limits_error));
    h.add(std::string_view(p.limit_range_error));
    for (const auto& part : p.sized) {
      h.add(std::string_view(part.container));
      h.add(part.role);
      for (const auto& a : part.amounts) {
        h.add(a.resource);
        h.add(a.request);
        h.add(a.limit);
        for (const Amount x : {a.low, a.high, a.step}) h.add(x);
      }
    }
    h.add(p.bare_hash);
  }
  h.add(priority);
  h.add(priority_class_kind);
  h.add(priority_class);
  h.add(active);
  h.add(max_exec_seconds);
  h.add(std::string_view(admission_gated_by));
  h.add(priority_boost);
  h.add(elastic);
  h.add(std::string_view(replacement_for));
  h.add(std::string_view(slice_name));
  for (const auto& c : conditions) {
    h.add(c.type);
    h.add(c.status);
    h.add(c.reason);
    h.add(std::string_view(c.message));
    h.add(c.last_transition);
  }
  h.add(admission.has_value());
  if (admission) {
    h.add(admission->cluster_queue);
    for (const auto& p : admission->pod_sets) {
      h.add(p.pod_set);
      h.add(p.count);
      for (const auto& [r, f] : p.flavors) {
        h.add(r);
        h.add(f);
      }
      for (const auto& [r, a] : p.usage) {
        h.add(r);
        h.add(a);
      }
    }
  }
  for (const auto& c : checks) {
    h.add(c.name);
    h.add(c.state);
    h.add(c.last_transition);
    h.add(std::string_view(c.message));
    h.add(c.requeue_after_seconds);
    h.add(c.retry_count);
  }
  h.add(has_requeue_state);
  h.add(requeue_count);
  h.add(requeue_at);
  for (const auto& [p, n] : reclaimable) {
    h.add(p);
    h.add(n);
  }
  h.add(accumulated_exec_seconds);
  for (const auto& e : evictions) {
    h.add(e.reason);
    h.add(e.cause);
    h.add(e.count);
  }
  for (const Symbol& node : unhealthy_nodes) h.add(node);
  h.add(unconfirmed);
  h.add(last_decision);
  h.add(resolve_since);
  h.add(revision_pending);
  h.add(revised_for);
  h.add(removal_pending);
  h.add(std::string_view(gate_noted));
  h.add(gated_since);
  h.add(resource_policy);
  h.add(std::string_view(resource_bounds));
  add_plan(h, plan);
  h.add(plan_refusals);
  h.add(std::string_view(plan_refusal));
  h.add(sizing_barred);
  h.add(sizing_barred_at);
  if (!quarantined.empty()) h.add(std::string_view(quarantined));
  if (family_facts) add_facts(h, *family_facts);
  if (option) add_option(h, *option);
  if (family) add_family(h, *family);
  return h.value();
}

}  // namespace hindsight::admission
