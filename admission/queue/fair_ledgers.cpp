// What a ClusterQueue keeps of its LocalQueues for admission fair sharing (base-admission §10): who has used how much, and in which order
// their workloads are served because of it.

#include <algorithm>

#include "admission/queue/cluster_queue.hpp"

namespace hindsight::admission {

/// The ways of the queue may have changed: whether usage counts at all, and how much each resource and LocalQueue weighs.
void ClusterQueue::follow_catalog(const Context& c, Outbox& out) {
  const auto* config = c.catalog->queue(name_);
  const auto& settings = c.catalog->settings.admission_fair_sharing;
  const bool fair = config != nullptr && config->admission_mode == AdmissionMode::usage_based && settings.has_value();
  if (!fair && !fair_) return;
  if (fair != fair_) {
    std::vector<Pending*> waiting, parked;  // those that are parked alone are in no lane
    for (auto& [id, p] : pending_)
      if (p.group != nullptr) (p.in_heap() ? waiting : parked).push_back(&p);
    for (const auto* list : {&waiting, &parked})
      for (Pending* p : *list) take_out(*p);
    for (auto& [key, l] : local_) {
      l.ledger = {};
      l.lane.usage = 0;
    }
    for (auto& [id, h] : holding_) h.penalty.clear();
    fair_ = fair;
    for (Pending* p : waiting) push(*p);
    for (Pending* p : parked) push_parked(*p);
    if (fair_)
      for (auto& [id, h] : holding_) {
        begin_ledger(*h.local, c);
        if (!h.admitted) continue;
        for (const auto& charge : h.reservation->charges)
          h.local->ledger.count_admitted(charge.resource, to_nano(charge.amount, charge.resource));
      }
  }
  Time due;
  if (fair_)
    for (auto& [key, l] : local_) {
      weigh(l, c);
      const Time t = l.ledger.sampled_at() + settings->sampling_interval;
      if (!l.ledger.dormant() && (!due.is_set() || t < due)) due = t;
    }
  if (sampling_due_ != due) announce_sampling(due, out);
  out.send(queue_address(name_), tree_, msg::LocalUsage{name_, local_usage(), true});
}

void ClusterQueue::weigh(Local& l, const Context& c) {
  if (!c.catalog->settings.admission_fair_sharing) return;  // the news that it is off is still on its way here
  const auto* config = c.catalog->local_queue(l.key.first, l.key.second);
  heap_.weigh(l.lane,
              l.ledger.usage(*c.catalog->settings.admission_fair_sharing, config == nullptr ? 1'000'000'000 : config->fair_weight_nano));
}

void ClusterQueue::begin_ledger(Local& local, const Context& c) {
  if (fair_) local.ledger.begin(c.sequence, c.now);
}

/// The entry penalty of one reservation: charged when it is assumed, usage when it is admitted and the API server knows it, so that one
/// whose write is refused is dropped (BA-166). A slice that takes the place of another pays for what it asks for more, since its job has
/// paid for the rest; one that asks for less gets nothing back (EJ-42).
void ClusterQueue::pay(Holding& h, const msg::Reserve& m, bool fresh, const Context& c) {
  if (!fair_ || !c.catalog->settings.admission_fair_sharing) return;
  const auto& settings = *c.catalog->settings.admission_fair_sharing;
  if (fresh && m.assumed) {
    const Fraction share = decay(settings.sampling_interval, settings.half_life);
    UsageVector requests;
    if (m.delta) {
      for (const auto& [resource, amount] : *m.delta) requests.add(resource, to_nano(std::max<Amount>(0, amount), resource));
    } else {
      for (const auto& charge : h.reservation->charges) requests.add(charge.resource, to_nano(charge.amount, charge.resource));
    }
    requests.scale_by(share);
    h.penalty = std::move(requests);
    h.local->ledger.push_penalty(h.penalty);
  }
  if (h.admitted && m.written && !h.penalty.empty()) {
    h.local->ledger.sample(c.now, settings);
    h.local->ledger.settle_penalty(h.penalty);
    h.penalty.clear();
  }
}

/// After any change of a ledger: its lane moves, the tree hears of it, and the next sampling is asked for.
void ClusterQueue::usage_changed(Local& l, const Context& c, Outbox& out) {
  if (!fair_ || !c.catalog->settings.admission_fair_sharing) return;
  const double before = l.lane.usage;
  weigh(l, c);
  if (l.lane.usage != before) out.send(queue_address(name_), tree_, msg::LocalUsage{name_, {{l.key, l.lane.usage}}, false});
  if (l.ledger.dormant()) return;
  const Time due = l.ledger.sampled_at() + c.catalog->settings.admission_fair_sharing->sampling_interval;
  if (!sampling_due_.is_set() || due < sampling_due_) announce_sampling(due, out);
}

void ClusterQueue::announce_sampling(Time due, Outbox& out) {
  sampling_due_ = due;
  out.send(queue_address(name_), domain_address, msg::SamplingDue{due});
}

/// The first of the ledgers that is due decides: then all are sampled, which comes to the same and wakes the domain once. What was
/// announced may be too early, for a settlement samples too; it follows from nothing that a snapshot holds and must change nothing.
void ClusterQueue::sample_usage(const Context& c, Outbox& out) {
  sampling_due_ = Time::never();
  if (!fair_ || !c.catalog->settings.admission_fair_sharing) return;
  const auto& settings = *c.catalog->settings.admission_fair_sharing;
  bool due = false;
  for (const auto& [key, l] : local_) due = due || (!l.ledger.dormant() && l.ledger.sampled_at() + settings.sampling_interval <= c.now);
  for (auto& [key, l] : local_) {
    if (l.ledger.dormant()) continue;
    if (due) {
      l.ledger.begin(c.sequence, c.now);
      l.ledger.sample(c.now, settings);
    }
    usage_changed(l, c, out);
  }
  if (due) out.send(queue_address(name_), domain_address, msg::WorldChanged{});  // another LocalQueue may be first now
}

void ClusterQueue::consumed_seen(const msg::ConsumedSeen& m, const Context& c, Outbox& out) {
  if (!fair_ && c.catalog->queue(name_) != nullptr) follow_catalog(c, out);  // the message may come before the news of the queue itself
  if (!m.at.is_set()) {
    const auto it = local_.find(m.local_queue);
    if (it == local_.end()) return;
    if (fair_) {
      begin_ledger(it->second, c);
      it->second.ledger.put_back({}, c.now);
      usage_changed(it->second, c, out);
    }
    return forget_idle(m.local_queue, c, out);
  }
  if (!fair_) return;
  Local& l = local_[m.local_queue];
  l.key = m.local_queue;
  begin_ledger(l, c);
  l.ledger.restore(m.consumed, m.at);
  usage_changed(l, c, out);
}

std::vector<std::pair<Catalog::LocalQueueKey, double>> ClusterQueue::local_usage() const {
  std::vector<std::pair<Catalog::LocalQueueKey, double>> out;
  if (fair_)
    for (const auto& [key, l] : local_) out.emplace_back(key, l.lane.usage);
  return out;
}

bool ClusterQueue::served_before(const Pending& a, const Pending& b) const {
  if (fair_ && a.local->lane.usage != b.local->lane.usage) return a.local->lane.usage < b.local->lane.usage;
  return rank(a).before(rank(b));
}

const UsageLedger* ClusterQueue::ledger(const Symbol& namespace_, const Symbol& local_queue) const {
  if (!fair_) return nullptr;
  const auto it = local_.find({namespace_, local_queue});
  return it == local_.end() ? nullptr : &it->second.ledger;
}

// ---- snapshots ------------------------------------------------------------------------------------------------------------------

namespace {

std::vector<std::pair<Symbol, NanoAmount>> plain(const UsageVector& usage) {
  std::vector<std::pair<Symbol, NanoAmount>> out;
  for (const auto& p : usage.parts()) out.emplace_back(p.resource, p.amount);
  return out;
}

UsageVector usage_of(const std::vector<std::pair<Symbol, NanoAmount>>& amounts) {
  UsageVector out;
  for (const auto& [resource, amount] : amounts) out.add(resource, amount);
  return out;
}

}  // namespace

void ClusterQueue::put_ledgers(Image& image) const {
  if (!fair_) return;
  for (const auto& [key, l] : local_)
    if (l.ledger.sampled_at().is_set()) image.ledgers.push_back({key.first, key.second, l.ledger.sampled_at(), plain(l.ledger.consumed())});
  for (const auto& [id, h] : holding_)
    if (!h.penalty.empty()) image.penalties.push_back({h.reservation->workload->uid, plain(h.penalty)});
}

void ClusterQueue::take_ledgers(const Image& image, const Context& c, Outbox& out) {
  follow_catalog(c, out);
  if (!fair_) return;
  for (auto& [key, l] : local_) l.ledger.put_back({}, Time::never());
  for (const auto& x : image.ledgers) {
    Local& l = local_[{x.namespace_, x.name}];
    l.key = {x.namespace_, x.name};
    l.ledger.put_back(usage_of(x.consumed), x.sampled_at);
  }
  std::map<std::string_view, const Image::Penalty*> by_uid;
  for (const auto& p : image.penalties) by_uid[p.uid] = &p;
  for (auto& [id, h] : holding_)
    if (const auto it = by_uid.find(h.reservation->workload->uid); it != by_uid.end()) {
      h.penalty = usage_of(it->second->amounts);
      h.local->ledger.push_penalty(h.penalty);
    }
  sampling_due_ = Time::never();
  for (auto& [key, l] : local_) usage_changed(l, c, out);
  out.send(queue_address(name_), tree_, msg::LocalUsage{name_, local_usage(), true});
}

}  // namespace hindsight::admission
