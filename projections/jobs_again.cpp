#include "projections/jobs_again.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace hindsight::projections {
namespace {

using namespace admission;

template <class To, class From, class F>
List<To> each_again(const From& from, Arena& arena, const F& one) {
  auto out = arena.make<To>(from.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = one(from[i]);
  return out;
}

List<Text> names_again(const std::vector<Symbol>& names, Arena& arena) {
  return each_again<Text>(names, arena, [&](const Symbol& name) { return arena.copy(name.text()); });
}

List<Requirement> requirements_again(const std::vector<OwnedRequirement>& list, Arena& arena) {
  return each_again<Requirement>(list, arena, [&](const OwnedRequirement& r) {
    return Requirement{arena.copy(r.key.text()), r.op,
                       each_again<Text>(r.values, arena, [&](const std::string& value) { return arena.copy(value); })};
  });
}

SelectorTerm term_again(const OwnedTerm& term, Arena& arena) {
  return {requirements_again(term.requirements, arena), requirements_again(term.fields, arena)};
}

List<PodSetCount> counts_again(const std::vector<std::pair<Symbol, std::int32_t>>& counts, Arena& arena) {
  return each_again<PodSetCount>(counts, arena, [&](const auto& c) { return PodSetCount{arena.copy(c.first.text()), c.second}; });
}

List<PlannedAmount> plan_again(const SizingPlan& plan, Arena& arena) {
  return each_again<PlannedAmount>(plan, arena, [&](const PlannedSize& p) {
    return PlannedAmount{arena.copy(p.pod_set.text()), arena.copy(p.container), arena.copy(p.resource.text()), p.original, p.amount};
  });
}

List<SizedContainer> containers_again(const std::vector<SizedPart>& parts, Arena& arena) {
  return each_again<SizedContainer>(parts, arena, [&](const SizedPart& part) {
    return SizedContainer{arena.copy(part.container), part.role, each_again<SizedAmount>(part.amounts, arena, [&](const SizedResource& r) {
                            return SizedAmount{arena.copy(r.resource.text()), r.request, r.limit, r.low, r.high, r.step};
                          })};
  });
}

void add_shape(const PodShape& shape, PodSetFacts& out, Arena& arena) {
  out.node_selector = each_again<Pair>(shape.node_selector, arena, [&](const auto& p) {
    return Pair{arena.copy(p.first.text()), arena.copy(p.second)};
  });
  out.has_affinity = shape.has_affinity;
  out.affinity_terms = each_again<SelectorTerm>(shape.affinity_terms, arena, [&](const OwnedTerm& t) { return term_again(t, arena); });
  out.preferred_terms = each_again<PreferredTerm>(shape.preferred, arena, [&](const PodShape::Preferred& p) {
    return PreferredTerm{p.weight, term_again(p.term, arena)};
  });
  out.tolerations = each_again<Toleration>(shape.tolerations, arena, [&](const OwnedToleration& t) {
    return Toleration{arena.copy(t.key), arena.copy(t.value), t.exists, t.effect, t.seconds};
  });
}

PodSetFacts pod_set_again(const PodSetSpec& p, Arena& arena) {
  PodSetFacts out;
  out.name = arena.copy(p.name.text());
  out.count = p.count;
  if (p.min_count >= 0) out.min_count = p.min_count;
  out.requests = each_again<ResourceAmount>(p.requests, arena, [&](const ResourceRequest& r) {
    return ResourceAmount{arena.copy(r.resource.text()), r.amount};
  });
  add_shape(p.shape.value(), out, arena);
  out.shape_hash = p.shape_hash;
  out.template_hash = p.template_hash;
  out.core_hash = p.core_hash;
  out.pod_set_group = arena.copy(p.group.text());
  out.limits_error = arena.copy(std::string_view(p.limits_error));
  out.limit_range_error = arena.copy(std::string_view(p.limit_range_error));
  out.sized = containers_again(p.sized, arena);
  out.bare_hash = p.bare_hash;
  if (p.topology) show_topology(*p.topology, out, arena);
  out.topology_ranked = p.ranked;
  out.topology_groups = p.groups;
  return out;
}

PodSetAssignmentFacts assignment_again(const PodSetReservation& r, Arena& arena) {
  PodSetAssignmentFacts out;
  out.pod_set = arena.copy(r.pod_set.text());
  out.count = r.count;
  out.flavors = each_again<FlavorChoice>(r.flavors, arena, [&](const auto& f) {
    return FlavorChoice{arena.copy(f.first.text()), arena.copy(f.second.text())};
  });
  out.usage = each_again<ResourceAmount>(r.usage, arena, [&](const auto& u) {
    return ResourceAmount{arena.copy(u.first.text()), u.second};
  });
  const TopologyAssignment& places = r.topology.value();
  if (!places.empty()) {
    out.topology_levels = names_again(places.levels, arena);
    auto domains = arena.make<TopologyDomainFacts>(places.size());
    for (std::size_t i = 0; i < domains.size(); ++i) {
      const auto values = places.domain(i);
      domains[i] = {names_again({values.begin(), values.end()}, arena), places.counts[i]};
    }
    out.topology = domains;
  }
  out.delayed = r.delayed;
  return out;
}

void add_status(const WorkloadState& w, WorkloadObserved& out, Arena& arena) {
  out.conditions = each_again<ConditionFacts>(w.conditions, arena, [&](const Condition& c) {
    return ConditionFacts{c.type, c.status, arena.copy(c.reason.text()), arena.copy(c.message.value()), c.last_transition};
  });
  out.has_admission = w.admission.has_value();
  if (w.admission) {
    out.admission_cluster_queue = arena.copy(w.admission->cluster_queue.text());
    out.assignments = each_again<PodSetAssignmentFacts>(w.admission->pod_sets, arena,
                                                        [&](const PodSetReservation& r) { return assignment_again(r, arena); });
  }
  out.checks = each_again<CheckFacts>(w.checks, arena, [&](const CheckStatus& c) { return view_check(c, arena); });
  out.has_requeue_state = w.has_requeue_state;
  out.requeue_count = w.requeue_count;
  out.requeue_at = w.requeue_at;
  out.reclaimable = counts_again(w.reclaimable, arena);
  out.accumulated_exec_seconds = w.accumulated_exec_seconds;
  out.evictions = each_again<EvictionCount>(w.evictions, arena, [&](const EvictionStat& e) {
    return EvictionCount{arena.copy(e.reason.text()), arena.copy(e.cause.text()), e.count};
  });
  out.plan = plan_again(w.plan, arena);
  out.unhealthy_nodes = names_again(w.unhealthy_nodes, arena);
}

/// See WorkloadState::observe_family, which reads this.
void add_family(const WorkloadState& w, WorkloadObserved& out, Arena& arena) {
  out.parent_marked = w.waits_for(Section::parent_markers) ? w.family.has_value() : w.family_facts && w.family_facts->parent_marked;
  if (w.family_facts) {
    const FamilyFacts& f = *w.family_facts;
    if (!f.option_of.empty()) {
      out.owner_kind = "Workload";
      out.owner_uid = arena.copy(std::string_view(f.option_of));
      out.owner_name = arena.copy(std::string_view(f.parent_name));
    }
    out.constrained = f.constrained;
    out.allowed_flavors = names_again(f.allowed, arena);
    auto gates = arena.make<PreemptionGateFacts>((f.option_made ? 1 : 0) + (f.closed_gate ? 1 : 0));
    std::size_t n = 0;
    if (f.option_made) gates[n++] = {"kueue.x-k8s.io/concurrent-admission", w.option && w.option->gate_open};
    if (f.closed_gate) gates[n++] = {"another", false};
    out.preemption_gates = gates;
  }
  if (w.family)
    out.options = each_again<OptionStatusFacts>(w.family->options, arena, [&](const OptionStatus& o) {
      return OptionStatusFacts{arena.copy(std::string_view(o.name)), names_again(o.flavors, arena), o.phase, arena.copy(o.message.value()),
                               o.last_transition};
    });
}

}  // namespace

void show_topology(const TopologyRequest& request, PodSetFacts& out, Arena& arena) {
  out.topology_requested = true;
  out.required_topology = arena.copy(request.required.value_or(""));
  out.preferred_topology = arena.copy(request.preferred.value_or(""));
  out.unconstrained_topology = request.unconstrained;
  out.topology_layers = each_again<TopologyLayerFacts>(request.slices, arena, [&](const TopologyRequest::Layer& l) {
    return TopologyLayerFacts{arena.copy(l.level), l.size};
  });
}

List<PodSetFacts> observed_again(const std::vector<PodSetSpec>& pod_sets, Arena& arena) {
  return each_again<PodSetFacts>(pod_sets, arena, [&](const PodSetSpec& p) { return pod_set_again(p, arena); });
}

JobObserved observed_again(const JobState& job, Arena& arena) {
  JobObserved out;
  out.meta.namespace_ = arena.copy(job.namespace_.text());
  out.meta.name = arena.copy(std::string_view(job.name));
  out.meta.uid = arena.copy(std::string_view(job.uid));
  out.meta.resource_version = job.resource_version;
  out.meta.generation = job.generation;
  out.meta.deleting = job.deleting;
  out.kind = arena.copy(job.kind.text());
  out.group = arena.copy(job.group.text());
  out.queue_name = arena.copy(job.queue_name.text());
  out.priority_class = arena.copy(job.priority_class.text());
  out.pod_priority_class = arena.copy(job.pod_priority_class.text());
  out.prebuilt_workload = arena.copy(std::string_view(job.prebuilt_workload));
  if (job.max_exec_seconds > 0) out.max_exec_seconds = job.max_exec_seconds;
  out.suspended = job.suspended;
  out.active = job.active;
  out.pods_ready = job.pods_ready;
  out.stopping = job.stopping;
  out.finished = job.finished;
  out.succeeded = job.succeeded;
  out.finish_message = arena.copy(std::string_view(job.finish_message));
  out.on_hold = job.on_hold;
  out.managed = job.managed;
  out.admission_gated_by = arena.copy(std::string_view(job.admission_gated_by));
  out.pod_sets = observed_again(job.pod_sets.value(), arena);
  out.reclaimable = counts_again(job.reclaimable, arena);
  out.workload_name = arena.copy(std::string_view(job.workload_name));
  out.elastic = job.elastic;
  out.remaining = counts_again(job.remaining, arena);
  out.ready_pods = job.ready_pods;
  out.scheduling_gated_by = arena.copy(std::string_view(job.scheduling_gated_by));
  out.resource_policy = job.resource_policy;
  out.resource_bounds = arena.copy(std::string_view(job.resource_bounds));
  out.pods_gated = job.pods_gated;
  return out;
}

WorkloadObserved observed_again(const WorkloadState& w, Arena& arena) {
  WorkloadObserved out;
  out.meta.namespace_ = arena.copy(w.namespace_.text());
  out.meta.name = arena.copy(std::string_view(w.name));
  out.meta.uid = arena.copy(std::string_view(w.uid));
  out.meta.resource_version = w.resource_version;
  out.meta.generation = w.generation;
  out.meta.created = w.created;
  out.meta.deleting = w.deleting;
  out.meta.in_use_finalizer = w.in_use_finalizer || w.gone;  // of one that has gone it is what keeps its quota as it is kept
  out.owner_uid = arena.copy(std::string_view(w.owner_uid));
  out.queue_name = arena.copy(w.queue_name.text());
  out.pod_sets = observed_again(w.pod_sets.value(), arena);
  out.priority = w.priority;
  out.priority_class_kind = w.priority_class_kind;
  out.priority_class = arena.copy(w.priority_class.text());
  out.active = w.active;
  if (w.max_exec_seconds > 0) out.max_exec_seconds = w.max_exec_seconds;
  out.admission_gated_by = arena.copy(std::string_view(w.admission_gated_by));
  out.priority_boost = w.priority_boost;
  out.elastic = w.elastic;
  out.replacement_for = arena.copy(std::string_view(w.replacement_for));
  out.slice_name = arena.copy(std::string_view(w.slice_name));
  out.resource_policy = w.resource_policy;
  out.resource_bounds = arena.copy(std::string_view(w.resource_bounds));
  if (w.job_made) out.job_uid = out.owner_uid.empty() ? "a job" : out.owner_uid;
  add_status(w, out, arena);
  add_family(w, out, arena);
  return out;
}

}  // namespace hindsight::projections
