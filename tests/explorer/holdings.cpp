#include "tests/explorer/holdings.hpp"

#include <algorithm>

namespace hindsight::explorer {
namespace {

using admission::Catalog;
using admission::PodSetReservation;
using admission::WorkloadParent;
using admission::WorkloadState;

std::int32_t counted_pods(const WorkloadState& w, const PodSetReservation& p) {
  std::int32_t spec = p.count, given_back = 0;
  for (const auto& s : w.pod_sets)
    if (s.name == p.pod_set) spec = s.count;
  for (const auto& [name, n] : w.reclaimable)
    if (name == p.pod_set) given_back = n;
  return std::min(p.count, spec - std::min(given_back, spec));
}

}  // namespace

Amounts amounts_of(const admission::Admission& admission, const WorkloadState& pods) {
  Amounts out;
  for (const auto& p : admission.pod_sets)
    for (const auto& [resource, total] : p.usage)
      for (const auto& [name, flavor] : p.flavors)
        if (name == resource && p.count > 0) out[{flavor, resource}] += total / p.count * counted_pods(pods, p);
  return out;
}

const WorkloadState* parent_of(const WorkloadParent& entity, const WorkloadState& option) {
  if (!option.is_made_as_option()) return nullptr;
  for (const auto& w : entity.workloads())
    if (w.family && w.uid == option.option_of() && w.namespace_ == option.namespace_) return &w;
  return nullptr;
}

Part part_of(const WorkloadParent& entity, const WorkloadState& w) {
  if (w.family) return Part::parent;
  if (!w.is_made_as_option()) return Part::plain;
  return parent_of(entity, w) == nullptr ? Part::stray : Part::option;
}

bool wants_options(const WorkloadState& w, const Catalog& catalog) {
  if (!catalog.settings.concurrent_admission || w.is_made_as_option()) return false;
  const auto* local = catalog.local_queue(w.namespace_, w.queue_name);
  const auto* queue = local == nullptr ? nullptr : catalog.queue(local->cluster_queue);
  return queue != nullptr && queue->concurrent.enabled;
}

const WorkloadState* admitted_option(const WorkloadParent& entity, const WorkloadState& parent) {
  const WorkloadState* out = nullptr;
  for (const auto& w : entity.workloads()) {
    if (parent_of(entity, w) != &parent || !w.reserved() || !w.admitted() || w.finished()) continue;
    if (out == nullptr || out->evicted()) out = &w;
  }
  return out;
}

bool holds_quota(const WorkloadParent& entity, const WorkloadState& w, const Catalog&) {
  const bool reserved = w.reserved() && !w.finished();
  switch (part_of(entity, w)) {
    case Part::parent:
      return reserved && w.active && w.family->holds_itself;
    case Part::option:
      return reserved;  // also when it is inactive: the job runs on it until it has stopped
    case Part::stray:
      return false;
    case Part::plain:
      break;
  }
  // CA-120: what it holds when it becomes a Parent counts until an Option takes it over.
  return reserved && w.active;
}

Amounts kept_for_migration(const WorkloadParent& entity, const WorkloadState& parent) {
  if (!parent.family || !parent.family->hold) return {};
  Amounts out = amounts_of(*parent.family->hold, parent);
  if (const auto* before = admitted_option(entity, parent))
    for (const auto& [cell, amount] : amounts_of(*before->admission, *before))
      if (const auto it = out.find(cell); it != out.end()) it->second = std::max<Amount>(0, it->second - amount);
  return out;
}

}  // namespace hindsight::explorer
