// What users do to those for whom the model answers.

#include <algorithm>
#include <functional>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"
#include "projections/jobs_again.hpp"
#include "whatif/subject.hpp"
#include "whatif/world.hpp"

namespace hindsight::whatif {

using namespace admission;

namespace {

/// Sorts the parts into those that the API server takes and those that it refuses.
template <class Object>
Edited judged(const UserPart& before, const UserPart& wanted, const Object& object) {
  Edited out;
  out.here = standing_of(object);
  for (const EditedPart part : edited_parts(before, wanted)) {
    if (auto why = refusal(part, wanted, object))
      out.refused.emplace_back(part, std::move(*why));
    else
      out.done.push_back(part);
  }
  return out;
}

Edited refused_whole(const UserPart& before, const UserPart& wanted, const std::string& why) {
  Edited out;
  for (const EditedPart part : edited_parts(before, wanted)) out.refused.emplace_back(part, why);
  return out;
}

std::optional<std::int32_t> seconds(std::int32_t n) { return n > 0 ? std::optional(n) : std::nullopt; }

}  // namespace

Edited World::edit(const std::string& subject, const UserPart& before, const UserPart& wanted, const JobObserved& recorded) {
  const auto at = find(subject);
  if (!at || !at->parent->job()) return refused_whole(before, wanted, "it is not there here");
  Edited out = judged(before, wanted, *at->parent->job());
  if (out.done.empty()) return out;
  arena_.clear();
  const auto edited_pod_sets = [&](List<PodSetFacts> from, const std::function<void(PodSetFacts&)>& change) {
    auto to = arena_.make<PodSetFacts>(from.size());
    std::ranges::copy(from, to.begin());
    for (auto& p : to) change(p);
    return List<PodSetFacts>(to);
  };
  tell_job(*at->parent, [&](JobObserved& o) {
    ++o.meta.generation;
    for (const EditedPart part : out.done) {
      switch (part) {
        case EditedPart::queue:
          o.queue_name = arena_.copy(wanted.queue_name);
          break;
        case EditedPart::priority:
          o.priority_class = arena_.copy(wanted.priority_class);
          break;
        case EditedPart::admission_gate:
          o.admission_gated_by = arena_.copy(wanted.admission_gated_by);
          break;
        case EditedPart::scheduling_gate:
          o.scheduling_gated_by = arena_.copy(wanted.scheduling_gated_by);
          break;
        case EditedPart::bounds:
          o.resource_policy = wanted.resource_policy;
          o.resource_bounds = arena_.copy(wanted.resource_bounds);
          o.pod_sets = edited_pod_sets(o.pod_sets, [&](PodSetFacts& p) {
            for (const auto& as_recorded : recorded.pod_sets) {
              if (as_recorded.name != p.name) continue;
              p.sized = as_recorded.sized;
              p.bare_hash = as_recorded.bare_hash;
            }
          });
          break;
        case EditedPart::time:
          o.max_exec_seconds = seconds(wanted.max_exec_seconds);
          break;
        case EditedPart::hold:
          o.on_hold = wanted.on_hold;
          break;
        case EditedPart::size:
          o.pod_sets = edited_pod_sets(o.pod_sets, [&](PodSetFacts& p) {
            for (const auto& [name, count] : wanted.counts)
              if (p.name == name) p.count = count;
          });
          if (o.elastic) o.workload_name = arena_.copy(recorded.workload_name);  // each size has a slice of its own name
          if (o.pods_ready && o.ready_pods >= 0) {
            o.ready_pods = 0;
            for (const auto& p : o.pod_sets) o.ready_pods += p.count;
          }
          break;
        case EditedPart::form:
          o.pod_sets = recorded.pod_sets;
          break;
        case EditedPart::boost:
        case EditedPart::active:
          break;  // of Workloads
      }
    }
  });
  look_at(subject);
  return out;
}

Edited World::edit(const std::string& subject, const UserPart& before, const UserPart& wanted, const WorkloadObserved& recorded) {
  const auto at = find(subject);
  const WorkloadState* w = nullptr;
  if (at)
    for (const auto& one : at->parent->workloads())
      if (std::string_view(one.name) == recorded.meta.name && one.namespace_.text() == recorded.meta.namespace_) w = &one;
  if (w == nullptr) return refused_whole(before, wanted, "it is not there here");
  Edited out = judged(before, wanted, *w);
  if (out.done.empty()) return out;
  arena_.clear();
  WorkloadObserved o = shown(*w, *at->parent);
  ++o.meta.generation;
  for (const EditedPart part : out.done) {
    switch (part) {
      case EditedPart::queue:
        o.queue_name = arena_.copy(wanted.queue_name);
        break;
      case EditedPart::priority:
        o.priority = wanted.priority;
        o.priority_class_kind = wanted.priority_class_kind;
        o.priority_class = arena_.copy(wanted.priority_class);
        break;
      case EditedPart::boost:
        o.priority_boost = wanted.priority_boost;
        break;
      case EditedPart::admission_gate:
        o.admission_gated_by = arena_.copy(wanted.admission_gated_by);
        break;
      case EditedPart::time:
        o.max_exec_seconds = seconds(wanted.max_exec_seconds);
        break;
      case EditedPart::active:
        o.active = wanted.active;
        break;
      case EditedPart::form:
        o.pod_sets = recorded.pod_sets;
        break;
      case EditedPart::scheduling_gate:
      case EditedPart::bounds:
      case EditedPart::hold:
      case EditedPart::size:
        break;  // of jobs
    }
  }
  tell_(Observation{o});
  look_at(subject);
  return out;
}

void World::remove_workload(const std::string& subject, std::string_view workload_uid) {
  const auto at = find(subject);
  if (!at) return;
  for (const auto& w : at->parent->workloads()) {
    if (std::string_view(w.uid) != workload_uid || w.deleting) continue;
    arena_.clear();
    WorkloadObserved o = shown(w, *at->parent);
    o.meta.deleting = true;
    if (o.meta.in_use_finalizer)
      tell_(Observation{o});  // it goes when its job has stopped
    else
      tell_(Observation{ObjectDeleted{ObjectKind::workload, o.meta.namespace_, o.meta.name, o.meta.uid, {}}});
    look_at(subject);
    return;
  }
}

void World::remove(const std::string& subject, std::string_view departed_to) {
  const auto at = find(subject);
  if (!at) return;
  if (const auto it = subjects_.find(subject); it != subjects_.end()) take_children(subject, it->second);
  Arena arena;  // of its own: it may be called while the other is in use
  for (auto o : objects_of(*at->parent, arena)) {
    o.departed_to = departed_to;
    tell_(Observation{o});
  }
  look_at(subject);
}

}  // namespace hindsight::whatif
