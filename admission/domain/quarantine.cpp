// Objects that were set aside: what the domain knows of each, and when it knows better. What it knew of an object before stays as it was.

#include <algorithm>

#include "admission/domain/domain.hpp"

namespace hindsight::admission {
namespace {

/// An object as an observation shows it. Without version: the one that was seen last, or it is gone.
struct Shown {
  Text uid;
  std::uint64_t resource_version = 0;
};

Shown shown(const Observation& o) {
  return std::visit(
      []<class T>(const T& x) -> Shown {
        if constexpr (requires { x.meta; }) return {x.meta.uid, x.meta.resource_version};
        if constexpr (std::is_same_v<T, ObjectDeleted>) return {x.uid, 0};
        return {};
      },
      o);
}

}  // namespace

bool Domain::lift_quarantine(const Observation& o) {
  const Shown object = shown(o);
  const auto it = quarantined_.find(object.uid);
  if (it == quarantined_.end()) return true;
  if (object.resource_version != 0 && object.resource_version < it->second.resource_version) return false;
  lift_quarantine(object.uid);
  return true;
}

void Domain::lift_quarantine(Text uid) {
  const auto it = quarantined_.find(uid);
  if (it == quarantined_.end()) return;
  quarantine_changes_.insert(it->first);
  index_queue(it->first, it->second, false);
  quarantined_.erase(it);
}

/// Statuses of queues ask by name, each time that one is told; so there must be no need to look at all that was set aside.
void Domain::index_queue(const std::string& uid, const Quarantined& q, bool set_aside) {
  if (q.kind != ObjectKind::cluster_queue && q.kind != ObjectKind::local_queue) return;
  const QueueName queue{q.kind, q.namespace_, q.name};
  quarantined_queue_changes_.insert(queue);
  if (set_aside) {
    quarantined_queues_[queue].insert(uid);
  } else if (const auto it = quarantined_queues_.find(queue); it != quarantined_queues_.end()) {
    it->second.erase(uid);
    if (it->second.empty()) quarantined_queues_.erase(it);
  }
}

/// Of two with the same name one has gone, and its end was not seen yet: the later one stands for the name.
const Domain::Quarantined* Domain::quarantined_queue(const QueueName& queue) const {
  const auto it = quarantined_queues_.find(queue);
  if (it == quarantined_queues_.end()) return nullptr;
  const Quarantined* out = nullptr;
  for (const auto& uid : it->second) {
    const Quarantined& q = quarantined_.find(uid)->second;
    if (out == nullptr || out->since < q.since) out = &q;
  }
  return out;
}

void Domain::apply(const ObjectQuarantined& o, Outbox& out) {
  if (o.uid.empty()) return;
  const auto known = quarantined_.find(o.uid);
  if (known != quarantined_.end() && o.resource_version != 0 && o.resource_version < known->second.resource_version) return;  // told late
  const Text reason = o.lifted ? Text() : o.reason.empty() ? Text("unknown") : o.reason;
  if (o.lifted) {
    lift_quarantine(o.uid);
  } else {
    auto [it, fresh] = quarantined_.try_emplace(std::string(o.uid));
    Quarantined& q = it->second;
    if (fresh)
      q.since = now_;
    else
      index_queue(it->first, q, false);
    q.kind = o.kind;
    q.api_kind = o.api_kind;
    q.namespace_ = o.namespace_;
    q.name = o.name;
    q.resource_version = o.resource_version;
    q.stage = o.stage;
    q.reason = reason;
    index_queue(it->first, q, true);
    quarantine_changes_.insert(it->first);
  }
  if (o.kind == ObjectKind::workload) {
    if (const auto w = registry_.find_workload(o.uid))
      out.send(domain_address, {EntityKind::workload_parent, w.parent}, msg::Quarantined{w.id, o.resource_version, reason});
  } else if (o.kind == ObjectKind::job && !o.lifted && !o.outline.empty()) {
    const std::uint32_t parent = parent_of(o.uid);
    out.send(domain_address, {EntityKind::workload_parent, parent}, msg::JobSeen{&o.outline.front(), reason});
    link_job(parent, o.outline.front(), out);
  } else if (o.kind == ObjectKind::job) {
    if (const auto parent = registry_.find_parent(o.uid); parent != Registry::none)
      out.send(domain_address, {EntityKind::workload_parent, parent}, msg::Quarantined{std::nullopt, o.resource_version, reason});
  }
}

bool Domain::has_passed_over(const std::set<std::uint64_t>& sequences) const {
  return std::equal(passed_over_.begin(), passed_over_.end(), sequences.begin(), sequences.upper_bound(sequence_));
}

}  // namespace hindsight::admission
