#include "admission/domain/entities.hpp"

#include "admission/domain/finalizers.hpp"

#include <deque>

#include "admission/domain/queue_status.hpp"

namespace hindsight::admission {

// ---- delivery -----------------------------------------------------------------------------------------------------------------

Entity* Entities::receiver(const Message& m, bool applying) {
  switch (m.to.kind) {
    case EntityKind::workload_parent:
      return parent_for(m, applying);
    case EntityKind::cluster_queue:
      return queue_for(m, applying);
    case EntityKind::cohort_tree:
      return tree_for(m, applying);
    case EntityKind::topology_domain:
      return topology_domain_for(m);
    case EntityKind::domain:
      break;
  }
  return nullptr;
}

Entity* Entities::parent_for(const Message& m, bool applying) {
  const std::uint32_t index = m.to.index;
  if (index >= parents_.size()) {
    parents_.resize(index + 1);
    parent_touched_.resize(index + 1, false);
  }
  auto& p = parents_[index];
  if (!p) p = std::make_unique<WorkloadParent>(m.to);
  if (applying) {
    domain_.touched(m.to);
    if (!parent_touched_[index]) {
      parent_touched_[index] = true;
      touched_parents_.push_back(index);
    }
  }
  return p.get();
}

Entity* Entities::queue_for(const Message& m, bool applying) {
  const Symbol name = Symbol::from_id(m.to.index);
  auto it = queues_.find(m.to.index);
  if (std::holds_alternative<msg::Notice>(m.payload) || std::holds_alternative<msg::CloseQueue>(m.payload))
    touch(name);  // the status of its LocalQueues follows, whether it exists or not
  if (it == queues_.end()) {
    // A queue lives as long as the catalog has it: others may write to it before it hears from the domain that it exists.
    if (domain_.catalog()->queue(name) == nullptr) return nullptr;
    it = queues_.emplace(m.to.index, std::make_unique<ClusterQueue>(name)).first;
  }
  if (std::holds_alternative<msg::OpenQueue>(m.payload)) {
    touch(name);
    return nullptr;
  }
  if (std::holds_alternative<msg::CloseQueue>(m.payload)) {
    closed_.push_back(std::move(it->second));
    queues_.erase(it);
    return nullptr;
  }
  if (applying) {
    touch(name);
    domain_.touched(m.to);
  }
  return it->second.get();
}

Entity* Entities::tree_for(const Message& m, bool applying) {
  auto& t = trees_[m.to.index];
  // a member may join before the tree hears from the domain that it is to be built
  const bool begins = std::holds_alternative<msg::BuildTree>(m.payload) || std::holds_alternative<msg::Joined>(m.payload);
  if (!t && begins) t = std::make_unique<CohortTree>(Symbol::from_id(m.to.index));
  if (applying) domain_.touched(m.to);
  return t.get();
}

Entity* Entities::topology_domain_for(const Message& m) {
  const std::uint32_t index = m.to.index;
  if (index >= topology_domains_.size()) topology_domains_.resize(index + 1);
  auto& part = topology_domains_[index];
  if (!part) part = std::make_unique<TopologyDomain>(m.to);
  return part.get();
}

void Entities::deliver(Message& m, Outbox& out, bool applying) {
  if (m.to.kind == EntityKind::domain) {
    domain_.receive(m, out);
  } else if (auto* entity = receiver(m, applying)) {
    Context context = domain_.context();
    context.trace = trace_;
    entity->receive(m, context, out);
  }
}

void Entities::deliver_all(Outbox& out, bool applying, const DeliveryOrder& order) {
  if (order) {
    deliver_shuffled(out, applying, order);
  } else {
    // first in, first out: what one wave of messages causes makes the next one
    while (!out.empty()) {
      wave_.swap(out.messages());
      for (auto& m : wave_) deliver(m, out, applying);
      wave_.clear();
    }
  }
  sweep();
}

void Entities::deliver_shuffled(Outbox& out, bool applying, const DeliveryOrder& order) {
  std::deque<Message> waiting;
  const auto take = [&] {
    for (auto& m : out.messages()) waiting.push_back(std::move(m));
    out.messages().clear();
  };
  take();
  while (!waiting.empty()) {
    std::size_t pick = waiting.size() > 1 ? order(waiting.size()) : 0;
    // between two entities the order is kept: take the oldest message with the same ends
    for (std::size_t i = 0; i < pick; ++i)
      if (waiting[i].to == waiting[pick].to && waiting[i].from == waiting[pick].from) {
        pick = i;
        break;
      }
    Message m = std::move(waiting[pick]);
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(pick));
    deliver(m, out, applying);
    take();
  }
}

void Entities::touch(Symbol queue) {
  if (queue.id() >= queue_touched_.size()) queue_touched_.resize(queue.id() + 1, false);
  if (queue_touched_[queue.id()]) return;
  queue_touched_[queue.id()] = true;
  touched_queues_.push_back(queue);
}

// ---- reading ------------------------------------------------------------------------------------------------------------------

const ClusterQueue* Entities::queue(Symbol name) const {
  const auto it = queues_.find(name.id());
  return it == queues_.end() ? nullptr : it->second.get();
}

const CohortTree* Entities::tree(Symbol root) const {
  const auto it = trees_.find(root.id());
  return it == trees_.end() ? nullptr : it->second.get();
}

std::uint64_t Entities::state_hash() const {
  std::uint64_t sum = domain_.hash();
  for (const auto& p : parents_)
    if (p && !p->empty()) sum += p->hash();  // a sum: the tables have no order
  for (const auto& [id, q] : queues_) sum += q->hash();
  return sum;
}

// ---- intents ------------------------------------------------------------------------------------------------------------------

namespace {

/// Queues are told by their statuses. Of other kinds nothing is shown but Events: they have no condition of ours. Nor of what failed while
/// something was planned or written: to such an object nothing is written until it changes.
void add_quarantine_intent(const std::string& uid, const Domain::Quarantined& q, std::vector<Intent>& out) {
  if (q.kind != ObjectKind::workload || q.stage != QuarantineStage::read) return;
  out.emplace_back(QuarantineIntent{uid, q.namespace_, q.name, condition_message(std::string(set_aside_prefix) + q.reason), q.since});
}

}  // namespace

std::vector<Intent> Entities::collect_intents() {
  std::vector<Intent> out;
  const Context context = domain_.context();
  for (const std::uint32_t index : touched_parents_) {
    parent_touched_[index] = false;
    if (parents_[index]) parents_[index]->collect_intents(context, false, out);
  }
  touched_parents_.clear();
  auto held = domain_.take_held_changes();
  if (!touched_queues_.empty()) {
    const Catalog& catalog = *domain_.catalog();
    for (const Symbol& q : touched_queues_) {
      if (catalog.queue(q) != nullptr) out.emplace_back(cluster_queue_status(*this, q));
      for (const auto& [namespace_, name] : catalog.local_queues_of(q))
        out.emplace_back(local_queue_status(*this, *catalog.local_queue(namespace_, name)));
      if (domain_.held().contains({ObjectKind::cluster_queue, q})) held.insert({ObjectKind::cluster_queue, q});
    }
    forget_touched_queues();
  }
  for (const auto& key : held)
    if (auto intent = finalizer_intent(*this, key)) out.emplace_back(std::move(*intent));
  for (const auto& queue : domain_.take_quarantined_queue_changes())
    if (auto status = changed_queue_status(*this, queue)) out.emplace_back(std::move(*status));
  for (const auto& uid : domain_.take_quarantine_changes())
    if (const auto it = domain_.quarantined().find(uid); it != domain_.quarantined().end())
      add_quarantine_intent(it->first, it->second, out);
  return out;
}

std::vector<Intent> Entities::intents_of(std::uint32_t parent) {
  std::vector<Intent> out;
  if (parent < parents_.size() && parents_[parent]) parents_[parent]->collect_intents(domain_.context(), true, out);
  return out;
}

std::vector<Intent> Entities::all_intents() {
  forget_touched();
  std::vector<Intent> out;
  const Context context = domain_.context();
  for (const auto& p : parents_)
    if (p) p->collect_intents(context, true, out);
  for (const auto& [name, config] : domain_.catalog()->queues) out.emplace_back(cluster_queue_status(*this, name));
  for (const auto& [key, lq] : domain_.catalog()->local_queues) out.emplace_back(local_queue_status(*this, lq));
  for (const auto& [key, held] : domain_.held())
    if (auto intent = finalizer_intent(*this, key)) out.emplace_back(std::move(*intent));
  for (const auto& [uid, q] : domain_.quarantined()) {
    add_quarantine_intent(uid, q, out);
    if (q.kind != ObjectKind::cluster_queue && q.kind != ObjectKind::local_queue) continue;
    if (auto status = changed_queue_status(*this, {q.kind, q.namespace_, q.name})) out.emplace_back(std::move(*status));
  }
  return out;
}

void Entities::forget_touched() {
  for (const std::uint32_t index : touched_parents_) {
    parent_touched_[index] = false;
    if (parents_[index]) parents_[index]->forget_releases();
  }
  touched_parents_.clear();
  (void)domain_.take_held_changes();
  (void)domain_.take_quarantine_changes();
  (void)domain_.take_quarantined_queue_changes();
  forget_touched_queues();
}

void Entities::forget_touched_queues() {
  for (const Symbol& q : touched_queues_) queue_touched_[q.id()] = false;
  touched_queues_.clear();
}

}  // namespace hindsight::admission
