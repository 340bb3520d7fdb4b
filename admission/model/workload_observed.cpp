// An observation of a Workload, merged with what was decided and is not written yet.

#include <algorithm>
#include <tuple>
#include <utility>

#include "admission/model/workload_parts.hpp"

namespace hindsight::admission {
namespace {

bool same(const Condition& mine, const ConditionFacts& seen) {
  return mine.status == seen.status && mine.reason.text() == seen.reason && mine.message == seen.message;
}

bool same(const TopologyAssignment& mine, const PodSetAssignmentFacts& seen) {
  const auto is = [](const Symbol& a, Text b) { return a.text() == b; };
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
  news |= assign(gone, false);
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

}  // namespace hindsight::admission
