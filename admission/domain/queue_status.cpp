#include "admission/domain/queue_status.hpp"

#include <algorithm>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "admission/queue/cohort_tree.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::admission {
namespace {

std::vector<QueueStatusIntent::Usage> usage_view(const QueueCounters& counters, const QueueConfig& config, bool used, bool borrows) {
  std::vector<QueueStatusIntent::Usage> out;
  for (const auto& g : config.groups)
    for (const auto& f : g.flavors) {
      QueueStatusIntent::Usage u{std::string(f.flavor.text()), {}};
      for (std::size_t i = 0; i < g.resources.size(); ++i) {
        Amount total = 0;
        for (const auto& cell : counters.cells)
          if (cell.flavor == f.flavor && cell.resource == g.resources[i]) total = used ? cell.used : cell.reserved;
        const Amount borrowed = borrows && !config.cohort.empty() ? std::max<Amount>(0, subtract(total, f.quotas[i].nominal)) : 0;
        u.resources.emplace_back(std::string(g.resources[i].text()), std::pair(total, borrowed));
      }
      out.push_back(std::move(u));
    }
  return out;
}

/// What was set aside goes on as it was read last, so it is as active as before.
void tell_set_aside(const StateView& state, const Domain::QueueName& queue, QueueStatusIntent& i) {
  const auto* q = state.domain().quarantined_queue(queue);
  if (q == nullptr) return;
  std::string message = i.active_message;
  while (message.ends_with('.')) message.pop_back();
  i.active_message = condition_message(message.append(". ").append(set_aside_prefix).append(q->reason));
}

/// One that was never readable is as if it were not there, but for this.
QueueStatusIntent unread_queue_status(const Domain::Quarantined& q) {
  QueueStatusIntent i;
  i.local = q.kind == ObjectKind::local_queue;
  i.namespace_ = q.namespace_;
  i.name = q.name;
  i.active_reason = "Misconfigured";
  i.active_message = condition_message(std::string(set_aside_prefix).append(q.reason));
  i.active_since = q.since;
  return i;
}

}  // namespace

std::optional<QueueStatusIntent> changed_queue_status(const StateView& state, const Domain::QueueName& queue) {
  const Catalog& catalog = *state.domain().catalog();
  if (queue.kind == ObjectKind::cluster_queue) {
    if (const Symbol name(queue.name); catalog.queue(name) != nullptr) return cluster_queue_status(state, name);
  } else if (const auto* lq = catalog.local_queue(Symbol(queue.namespace_), Symbol(queue.name)); lq != nullptr) {
    return local_queue_status(state, *lq);
  }
  if (const auto* q = state.domain().quarantined_queue(queue); q != nullptr) return unread_queue_status(*q);
  return std::nullopt;
}

QueueStatusIntent cluster_queue_status(const StateView& state, const Symbol& name) {
  QueueStatusIntent i;
  i.name = name.text();
  const Catalog& catalog = *state.domain().catalog();
  const auto* config = catalog.queue(name);
  const auto* q = state.queue(name);
  if (config == nullptr || q == nullptr) return i;
  const QueueCounters& c = q->counters();
  i.pending = c.pending;
  i.reserving = c.reserving;
  i.admitted = c.admitted;
  i.reservation = usage_view(c, *config, false, true);
  i.usage = usage_view(c, *config, true, true);
  if (const auto a = catalog.activity.find(name); a != catalog.activity.end()) {
    i.active = a->second.active;
    i.active_reason = a->second.reason;
    i.active_message = a->second.message;
  }
  tell_set_aside(state, {ObjectKind::cluster_queue, {}, i.name}, i);
  i.active_since = state.domain().now();
  if (catalog.settings.fair_sharing)
    if (const auto* t = state.tree(catalog.root_of(name)); t != nullptr && t->quota() != nullptr)
      i.weighted_share = t->quota()->weighted_share(name);
  return i;
}

QueueStatusIntent local_queue_status(const StateView& state, const LocalQueueConfig& lq) {
  QueueStatusIntent i;
  i.local = true;
  i.namespace_ = lq.namespace_.text();
  i.name = lq.name.text();
  const Catalog& catalog = *state.domain().catalog();
  const auto* config = catalog.queue(lq.cluster_queue);
  if (const auto* q = state.queue(lq.cluster_queue); q != nullptr && config != nullptr) {
    const QueueCounters c = q->local_counters(lq.namespace_, lq.name);
    i.pending = c.pending;
    i.reserving = c.reserving;
    i.admitted = c.admitted;
    i.reservation = usage_view(c, *config, false, false);
    i.usage = usage_view(c, *config, true, false);
    if (const auto* ledger = q->ledger(lq.namespace_, lq.name); ledger != nullptr && ledger->sampled_at().is_set()) {
      i.consumed.emplace();
      for (const auto& part : ledger->consumed().parts()) i.consumed->emplace_back(part.resource.text(), format_nano_amount(part.amount));
      i.consumed_at = ledger->sampled_at();
    }
  }
  i.active_since = state.domain().now();
  if (lq.stop_policy != StopPolicy::none) {  // base-api §6.5
    i.active_reason = "Stopped";
    i.active_message = "LocalQueue is stopped";
  } else if (config == nullptr) {
    i.active_reason = "ClusterQueueDoesNotExist";
    i.active_message = "Can't submit new workloads to clusterQueue";
  } else if (!catalog.queue_active(lq.cluster_queue)) {
    i.active_reason = "ClusterQueueIsInactive";
    i.active_message = "Can't submit new workloads to clusterQueue";
  } else {
    i.active = true;
    i.active_reason = "Ready";
    i.active_message = "Can submit new workloads to localQueue";
  }
  tell_set_aside(state, {ObjectKind::local_queue, i.namespace_, i.name}, i);
  return i;
}

}  // namespace hindsight::admission
