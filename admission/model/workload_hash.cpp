// The hash of a Workload's state.

#include <string_view>

#include "admission/model/workload_state.hpp"

namespace hindsight::admission {

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
  if (gone) h.add(gone);
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
