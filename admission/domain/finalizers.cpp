#include "admission/domain/finalizers.hpp"

#include <algorithm>

#include "admission/queue/cluster_queue.hpp"

namespace hindsight::admission {
namespace {

bool uses(const QueueConfig& queue, const Domain::HeldKey& key) {
  if (key.kind == ObjectKind::admission_check)
    return std::any_of(queue.checks.begin(), queue.checks.end(), [&](const CheckRule& rule) { return rule.name == key.name; });
  return std::any_of(queue.groups.begin(), queue.groups.end(), [&](const ResourceGroup& group) {
    return std::any_of(group.flavors.begin(), group.flavors.end(), [&](const FlavorQuotas& f) { return f.flavor == key.name; });
  });
}

bool in_use(const StateView& state, const Domain::HeldKey& key) {
  if (key.kind == ObjectKind::cluster_queue) {
    const auto* queue = state.queue(key.name);
    return queue != nullptr && queue->holds_quota();
  }
  if (key.kind == ObjectKind::topology) {
    const auto& flavors = state.domain().catalog()->flavors;
    return std::any_of(flavors.begin(), flavors.end(), [&](const auto& entry) { return entry.second->topology == key.name; });
  }
  const auto& queues = state.domain().catalog()->queues;
  return std::any_of(queues.begin(), queues.end(), [&](const auto& entry) { return uses(*entry.second, key); });
}

}  // namespace

std::optional<FinalizerIntent> finalizer_intent(const StateView& state, const Domain::HeldKey& key) {
  const auto it = state.domain().held().find(key);
  if (it == state.domain().held().end()) return std::nullopt;
  const auto& seen = it->second;
  const FinalizerIntent intent{key.kind, std::string(key.name.text()), !seen.deleting};
  if (seen.deleting == !seen.finalizer) return std::nullopt;
  if (!seen.deleting && key.kind == ObjectKind::topology && !state.domain().catalog()->settings.topologies) return std::nullopt;
  if (seen.deleting && (!state.domain().listed() || in_use(state, key))) return std::nullopt;
  return intent;
}

// ---- the domain's part ----------------------------------------------------------------------------------------------------------

void Domain::note_held(ObjectKind kind, const ObjectMeta& meta) {
  const auto [it, fresh] = held_.try_emplace({kind, Symbol(meta.name)});
  if (!fresh && it->second.deleting == meta.deleting && it->second.finalizer == meta.in_use_finalizer) return;
  it->second = {meta.deleting, meta.in_use_finalizer};
  held_changes_.insert(it->first);
}

void Domain::forget_held(ObjectKind kind, Text name) { held_.erase({kind, Symbol(name)}); }

/// What is being deleted may go once its last user has gone or uses it no more.
void Domain::lost_a_user(ObjectKind kind, Symbol name) {
  const auto it = held_.find({kind, name});
  if (it != held_.end() && it->second.deleting) held_changes_.insert(it->first);
}

void Domain::users_changed(const QueueConfig& queue) {
  for (const auto& group : queue.groups)
    for (const auto& f : group.flavors) lost_a_user(ObjectKind::resource_flavor, f.flavor);
  for (const auto& rule : queue.checks) lost_a_user(ObjectKind::admission_check, rule.name);
}

}  // namespace hindsight::admission
