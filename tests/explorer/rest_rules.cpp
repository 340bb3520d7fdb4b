#include "tests/explorer/rest_rules.hpp"

#include <algorithm>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "admission/queue/cohort_tree.hpp"
#include "admission/scheduling/cycle.hpp"

namespace hindsight::explorer {
namespace {

using admission::Catalog;
using admission::StateView;
using admission::WorkloadInfo;

bool gate_open(const WorkloadInfo& w, Time now) { return !w.requeued_false && (!w.requeue_at.is_set() || w.requeue_at <= now); }

/// The trees that a change of configuration concerns, as the catalog has them: those in it are woken too late, or not at all.
std::set<Symbol, ByText> concerned(const Catalog& catalog, const RecordView& record) {
  std::set<Symbol, ByText> out;
  const auto* o = std::get_if<Observation>(&record.body);
  if (o == nullptr) return out;
  const auto all = [&] {
    for (const auto& [queue, root] : catalog.roots) out.insert(root);
  };
  if (const auto* q = std::get_if<ClusterQueueObserved>(o)) {
    out.insert(catalog.root_of(Symbol(q->meta.name)));
  } else if (const auto* c = std::get_if<CohortObserved>(o)) {
    out.insert(catalog.topmost(Symbol(c->meta.name)));
    for (const Symbol& below : catalog.below(Symbol(c->meta.name))) out.insert(catalog.topmost(below));
  } else if (const auto* lq = std::get_if<LocalQueueObserved>(o)) {
    out.insert(catalog.root_of(Symbol(lq->cluster_queue)));
  } else if (std::holds_alternative<ConfigurationObserved>(*o)) {
    all();
  } else if (const auto* gone = std::get_if<ObjectDeleted>(o)) {
    if (gone->kind != ObjectKind::workload && gone->kind != ObjectKind::job) all();
  }
  return out;
}

admission::CycleContext context_of(const StateView& state) {
  const auto catalog = state.domain().catalog();
  admission::CycleContext out;
  out.now = state.domain().now();
  out.settings = &catalog->settings;
  out.flavor = [catalog](Symbol name) { return catalog->flavor(name); };
  out.namespace_labels = [catalog](Symbol name) -> const admission::NamespaceLabels* {
    const auto it = catalog->namespaces.find(name);
    return it == catalog->namespaces.end() ? nullptr : &it->second->labels;
  };
  return out;
}

}  // namespace

std::string QueueRules::before(const StateView& state, const RecordView& record) {
  unsettled_.merge(concerned(*state.domain().catalog(), record));
  const auto* d = std::get_if<Decisions>(&record.body);
  if (d == nullptr || d->step != StepKind::cycle || d->base != state.domain().sequence()) return {};  // overtaken: decided on another state
  if (record.envelope.epoch < state.domain().epoch()) return {};
  const Catalog& catalog = *state.domain().catalog();
  std::set<std::string, std::less<>> parked;                           // in earlier rounds of this cycle, alone
  std::set<std::pair<std::string, std::uint64_t>> parked_with_equals;  // the same, with what is equal to it in the queue
  for (const Event& e : d->events) {
    if (const auto* requeued = std::get_if<EntryRequeued>(&e); requeued != nullptr && !requeued->to_heap) {
      parked.emplace(requeued->workload.uid);
      const Symbol name(requeued->cluster_queue);
      const auto* queue = state.queue(name);
      const bool fits_nowhere =
          requeued->requeue_reason == RequeueReason::no_fit || requeued->requeue_reason == RequeueReason::preemption_no_candidates;
      if (fits_nowhere && queue != nullptr)
        for (const auto& w : queue->waiting())
          if (w.workload->uid == requeued->workload.uid && w.workload->equivalence_hash != 0)
            parked_with_equals.emplace(name.text(), w.workload->equivalence_hash);
    }
    const auto* reserved = std::get_if<QuotaReserved>(&e);
    if (reserved == nullptr) continue;
    const Symbol name(reserved->cluster_queue);
    const auto* queue = state.queue(name);
    const auto* config = catalog.queue(name);
    if (queue == nullptr || config == nullptr) continue;
    if (queue->image().sticky_uid == reserved->workload.uid) continue;  // §3.5
    const bool strict = config->strategy == QueueingStrategy::strict_fifo && !unsettled_.contains(catalog.root_of(name));
    for (const auto& w : queue->waiting()) {
      if (w.workload->uid == reserved->workload.uid) break;
      if (!strict &&
          (parked.contains(w.workload->uid) || parked_with_equals.contains({std::string(name.text()), w.workload->equivalence_hash})))
        continue;
      const bool may_wait = w.parked && (!strict || !gate_open(*w.workload, state.domain().now()) || w.workload->failed_checks ||
                                         !catalog.namespace_matches(*config, w.workload->namespace_));
      if (!may_wait)
        return "ClusterQueue " + std::string(name.text()) + ": Workload " + std::string(reserved->workload.uid) +
               " got quota, although Workload " + w.workload->uid + " was before it";
    }
  }
  return {};
}

void QueueRules::after(const StateView& state, const RecordView& record) {
  const Catalog& catalog = *state.domain().catalog();
  unsettled_.merge(concerned(catalog, record));
  if (const auto* o = std::get_if<Observation>(&record.body)) {
    const auto* gone = std::get_if<ObjectDeleted>(o);
    if (gone != nullptr && gone->kind == ObjectKind::local_queue) missing_.insert({Symbol(gone->namespace_), Symbol(gone->name)});
    if (const auto* lq = std::get_if<LocalQueueObserved>(o)) missing_.erase({Symbol(lq->meta.namespace_), Symbol(lq->meta.name)});
  }
  const auto* d = std::get_if<Decisions>(&record.body);
  if (d == nullptr || record.envelope.epoch < state.domain().epoch()) return;
  // One decision is made upon the other: what knows less than the last one is that one, written again. It is no second try.
  if (d->base < std::exchange(decided_, record.envelope.sequence)) return;
  for (const Event& e : d->events)
    if (const auto* r = std::get_if<TreeReactivated>(&e)) {
      unsettled_.erase(Symbol(r->root));
      std::erase_if(resumed_equals_, [&](const auto& one) { return catalog.root_of(one.first) == Symbol(r->root); });
    } else if (const auto* q = std::get_if<EntryRequeued>(&e)) {
      const std::string uid(q->workload.uid);
      const Symbol name(q->cluster_queue);
      const auto* queue = state.queue(name);
      const auto waiting = queue == nullptr ? std::vector<admission::ClusterQueue::Waiting>() : queue->waiting();
      const bool resumed = unfinished_.erase(uid) != 0;
      if (resumed) {
        resumed_.insert(uid);
        // Its equals were parked with it, by what is true of its last flavors (BA-56).
        for (const auto& w : waiting)
          if (q->bulk_parked != 0 && w.parked) resumed_.insert(std::string(w.workload->uid));
      } else {
        resumed_.erase(uid);
      }
      if (q->requeue_reason == RequeueReason::no_fit || q->requeue_reason == RequeueReason::preemption_no_candidates)
        for (const auto& w : waiting) {
          if (w.workload->uid != uid) continue;
          if (resumed)
            resumed_equals_.emplace(name, w.workload->equivalence_hash);
          else
            resumed_equals_.erase({name, w.workload->equivalence_hash});
        }
      const bool left = std::any_of(q->progress.begin(), q->progress.end(), [](const ScanProgress& p) { return p.flavor_index != -1; });
      if (left) unfinished_.insert(uid);
    }
  // D12: what ends in a stopped or missing LocalQueue wakes nobody
  for (const auto& [key, lq] : catalog.local_queues)
    if (lq.stop_policy != StopPolicy::none || catalog.queue(lq.cluster_queue) == nullptr)
      unsettled_.insert(catalog.root_of(lq.cluster_queue));
  if (!missing_.empty())
    for (const auto& [queue, root] : catalog.roots) unsettled_.insert(root);
}

std::string QueueRules::check_rest(const StateView& state) {
  const Catalog& catalog = *state.domain().catalog();
  const auto context = context_of(state);
  for (const auto& [name, config] : catalog.queues) {
    const Symbol root = catalog.root_of(name);
    if (root.empty() || unsettled_.contains(root) || state.domain().reactivation_due(root).is_set()) continue;
    const auto* tree = state.tree(root);
    const auto* queue = state.queue(name);
    if (!catalog.queue_active(name) || tree == nullptr || tree->quota() == nullptr || queue == nullptr) continue;
    for (const auto& w : queue->waiting()) {
      if (!w.parked || !gate_open(*w.workload, state.domain().now()) || w.workload->failed_checks) continue;
      if (resumed_.contains(w.workload->uid) || resumed_equals_.contains({name, w.workload->equivalence_hash})) continue;
      // Its back-off ended while the job still stops. When it has stopped the Option is told to its queue anew, and is tried.
      if (w.workload->option != nullptr && w.workload->option->waits && w.workload->requeue_at.is_set()) continue;
      if (w.workload->pending_reason.text() == "PendingEvaluation") continue;  // its checks had failed when it was looked at
      ++looked_at_;
      admission::QuotaTree copy = *tree->quota();
      const auto outcomes = admission::run_cycle(copy, {admission::Head{w.workload, name, {}, false}}, context);
      if (outcomes.size() == 1 && outcomes[0].kind == admission::Outcome::Kind::admit)
        return "ClusterQueue " + std::string(name.text()) + ": Workload " + w.workload->uid +
               " is parked, although it would get quota if it were tried";
    }
  }
  return {};
}

std::string EvictionPairs::see(const RecordView& record) {
  const auto* d = std::get_if<Decisions>(&record.body);
  if (d == nullptr) return {};
  for (const Event& e : d->events) {
    const auto* p = std::get_if<WorkloadPreempted>(&e);
    if (p == nullptr) continue;
    const std::string victim(p->workload.uid), preemptor(p->preemptor.uid);
    const int mine = ++preempted_[{victim, preemptor}];
    const auto back = preempted_.find({preemptor, victim});
    if (back != preempted_.end() && std::min(mine, back->second) >= often)
      return "Workloads " + std::min(victim, preemptor) + " and " + std::max(victim, preemptor) + " keep evicting each other";
  }
  return {};
}

}  // namespace hindsight::explorer
