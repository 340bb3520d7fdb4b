#include "admission/queue/cluster_queue.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "admission/scheduling/requeue.hpp"

namespace hindsight::admission {
namespace {

bool uses_nothing(const QueueCounters::Cell& cell) { return cell.reserved == 0 && cell.used == 0; }

}  // namespace

void ClusterQueue::receive(Message& message, const Context& c, Outbox& out) {
  hash_ = 0;
  if (const auto* m = std::get_if<msg::Enqueue>(&message.payload)) {
    enqueue(*m, message.from, c, out);
  } else if (const auto* m1 = std::get_if<msg::Reserve>(&message.payload)) {
    reserve(*m1, c, out);
  } else if (const auto* m2 = std::get_if<msg::Release>(&message.payload)) {
    release(m2->id, c, out);
  } else if (const auto* m3 = std::get_if<msg::Dequeue>(&message.payload)) {
    dequeue(m3->id, m3->quiet, c, out);
  } else if (std::holds_alternative<msg::OfferHead>(message.payload)) {
    offer(message.from, c, out);
  } else if (const auto* m4 = std::get_if<msg::OfferMore>(&message.payload)) {
    offer_more(*m4, message.from, c, out);
  } else if (const auto* next = std::get_if<msg::OfferNext>(&message.payload)) {
    offer_next(*next, message.from, c, out);
  } else if (const auto* m5 = std::get_if<msg::Requeued>(&message.payload)) {
    requeued(*m5->event, m5->id, c, out);
  } else if (std::holds_alternative<msg::Reactivate>(message.payload)) {
    reactivate(c, out);
  } else if (const auto* m6 = std::get_if<msg::JoinTree>(&message.payload)) {
    join(*m6, c, out);
  } else if (std::holds_alternative<msg::CountersDue>(message.payload)) {
    refresh_counters(c);
  } else if (std::holds_alternative<msg::Notice>(message.payload)) {
    follow_catalog(c, out);
  } else if (const auto* m7 = std::get_if<msg::ConsumedSeen>(&message.payload)) {
    consumed_seen(*m7, c, out);
  } else if (std::holds_alternative<msg::SampleUsage>(message.payload)) {
    sample_usage(c, out);
  } else {
    refuse(message, "ClusterQueue");
  }
}

// ---- heap and inadmissible set --------------------------------------------------------------------------------------------

void ClusterQueue::push(Pending& p) {
  if (p.in_heap()) return;
  take_out(p);
  heap_.push(lane_of(p), p.info->equivalence_hash, p, rank(p));
}

/// Beside equal ones that are parked.
void ClusterQueue::push_parked(Pending& p) {
  take_out(p);
  heap_.push_parked(lane_of(p), p.info->equivalence_hash, p, rank(p));
}

void ClusterQueue::park_alone(Pending& p, bool by_record) {
  take_out(p);
  p.alone_by_record = by_record;
  p.place = alone_.size();
  alone_.push_back(&p);
}

void ClusterQueue::take_out(Pending& p) {
  if (p.place == PendingHeap<Pending>::nowhere) return;
  if (p.group != nullptr) {
    heap_.erase(lane_of(p), p);
    return;
  }
  alone_[p.place] = alone_.back();
  alone_[p.place]->place = p.place;
  alone_.pop_back();
  p.place = PendingHeap<Pending>::nowhere;
  p.alone_by_record = false;
}

void ClusterQueue::tell_heap_state(Outbox& out) {
  const bool nonempty = !heap_.empty();
  const bool waiting = !pending_.empty();
  if (nonempty == told_nonempty_ && waiting == told_waiting_) return;
  told_nonempty_ = nonempty;
  told_waiting_ = waiting;
  out.send(queue_address(name_), tree_, msg::HeapState{name_, nonempty, waiting});
}

void ClusterQueue::enqueue(const msg::Enqueue& m, Address parent, const Context& c, Outbox& out) {
  const auto& info = m.workload;
  auto [it, fresh] = pending_.try_emplace(info->id);
  Pending& p = it->second;
  const bool was_in_heap = p.in_heap();
  const bool was_parked_by_record = p.by_record();
  if (!fresh) {
    take_out(p);
    --p.local->counters.pending;
    count_option(*p.info, *p.local, {.pending = -1});
  }
  Local* const target = local(*info, c);
  ++target->users;
  if (!fresh) leave(p.local, c, out);
  p.local = target;
  ++p.local->counters.pending;
  count_option(*info, *p.local, {.pending = 1});
  p.info = info;
  p.parent = parent;
  note_told(p, c);
  if (m.force) {
    push(p);
  } else if (m.repush || fresh) {
    const auto* config = c.catalog->queue(name_);
    const bool hashing = config != nullptr && config->strategy == QueueingStrategy::best_effort_fifo && info->equivalence_hash != 0;
    if (!gate_open(*info, c.now))
      park_alone(p, was_parked_by_record);
    else if (hashing && records_.contains(info->equivalence_hash))  // §3.6: pushes with a recorded hash are parked directly
      push_parked(p);
    else
      push(p);
  } else if (was_in_heap) {
    push(p);
  } else if (was_parked_by_record && gate_open(*info, c.now)) {
    push_parked(p);
  } else {
    park_alone(p, was_parked_by_record);
  }
  if (info->option != nullptr && info->option->next && p.in_heap() && !better_sibling_is_next(*info->option)) {
    sticky_ = &p;
    sticky_generation_ = info->generation;
  }
  if (p.by_record())
    if (const auto record = records_.find(info->equivalence_hash); record != records_.end())
      out.send(queue_address(name_), parent, msg::ParkedByRecord{info->id, record->second});
  refresh_counters(c);
  tell_heap_state(out);
}

/// Of a family that moves the Options that may have what is kept go one after another, the best first (CA-53).
bool ClusterQueue::better_sibling_is_next(const OptionInfo& option) const {
  const OptionInfo* first = sticky_ == nullptr || !sticky_->in_heap() ? nullptr : sticky_->info->option.get();
  return first != nullptr && first->next && first->parent == option.parent && first->rank < option.rank;
}

void ClusterQueue::give_next_its_turn(const Pending& tried) {
  const OptionInfo* option = tried.info->option.get();
  if (sticky_ != &tried || tried.in_heap() || option == nullptr || !option->next) return;
  for (auto& [id, p] : pending_) {  // this is seldom: somebody better than the one that a job moves to was tried in vain
    const OptionInfo* other = p.info->option.get();
    if (other == nullptr || !other->next || other->parent != option->parent || !p.in_heap()) continue;
    if (sticky_ != &tried && sticky_->info->option->rank < other->rank) continue;
    sticky_ = &p;
    sticky_generation_ = p.info->generation;
  }
}

void ClusterQueue::dequeue(WorkloadId id, bool quiet, const Context& c, Outbox& out) {
  const auto it = pending_.find(id);
  if (it == pending_.end()) return;
  take_out(it->second);
  if (sticky_ == &it->second) sticky_ = nullptr;
  --it->second.local->counters.pending;
  count_option(*it->second.info, *it->second.local, {.pending = -1});
  leave(it->second.local, c, out);
  pending_.erase(it);
  if (!quiet || refreshed_at_ == c.sequence) refresh_counters(c);
  tell_heap_state(out);
}

void ClusterQueue::note_told(Pending& p, const Context& c) {
  if (std::exchange(p.told_at, c.sequence) != c.sequence) told_.emplace_back(c.sequence, p.info->id);
  forget_told(c);
}

/// A parent asks why its workload is parked only until a decision was made that knew its last change (WorkloadState::resolve_since); after
/// the next change it is told again. So thousands of equal workloads are parked and woken without a message to each.
void ClusterQueue::forget_told(const Context& c) {
  while (!told_.empty() && told_.front().first <= c.resolved_base) told_.pop_front();
}

/// Tells the parents of those that `about` means and whose parents want to know why they are parked.
void ClusterQueue::tell_parents(const Context& c, Outbox& out, const std::function<bool(const Pending&)>& about, Symbol reason) {
  forget_told(c);
  for (const auto& [sequence, id] : told_) {
    const auto it = pending_.find(id);
    if (it == pending_.end() || it->second.told_at != sequence || !about(it->second)) continue;
    out.send(queue_address(name_), it->second.parent, msg::ParkedByRecord{id, reason});
  }
}

void ClusterQueue::reactivate(const Context& c, Outbox& out) {
  records_.clear();
  tell_parents(
      c, out, [](const Pending& p) { return p.by_record(); }, Symbol());
  wake_all(c);
  tell_heap_state(out);
}

/// All that is parked waits again, but for what must not yet.
void ClusterQueue::wake_all(const Context& c) {
  const auto* config = c.catalog->queue(name_);
  const auto may_wait = [&](Symbol namespace_) { return config != nullptr && c.catalog->namespace_matches(*config, namespace_); };
  for (Pending* p : std::vector<Pending*>(alone_)) {  // order does not matter: the heap sorts
    p->alone_by_record = false;
    if (gate_open(*p->info, c.now) && may_wait(p->info->namespace_)) push(*p);
  }
  const bool all_may = std::all_of(local_.begin(), local_.end(), [&](const auto& l) { return may_wait(l.first.first); });
  if (!all_may) {
    for (auto& [id, p] : pending_)
      if (p.group != nullptr && !p.in_heap() && !may_wait(p.info->namespace_)) park_alone(p, false);
  }
  const auto wake = [&](Lanes::Lane& lane) {
    for (auto& [hash, group] : lane.groups) heap_.wake(lane, group);
  };
  if (!fair_) return wake(shared_lane_);
  for (auto& [key, l] : local_) wake(l.lane);
}

/// Workloads equal to one that fits nowhere need not be tried (§3.6).
void ClusterQueue::park_equals(std::uint64_t hash, Symbol reason, const Context& c, Outbox& out) {
  const auto means = [hash](const Pending& p) { return p.in_heap() && p.info->equivalence_hash == hash; };
  tell_parents(c, out, means, reason);
  const auto park = [&](Lanes::Lane& lane) {
    if (const auto group = lane.groups.find(hash); group != lane.groups.end()) heap_.park(lane, group->second);
  };
  if (!fair_) return park(shared_lane_);
  for (auto& [key, l] : local_) park(l.lane);
}

/// How many that wait in the heap have this equivalence hash.
std::size_t ClusterQueue::waiting_equals(std::uint64_t hash) const {
  const auto count = [&](const Lanes::Lane& lane) {
    const auto group = lane.groups.find(hash);
    return group == lane.groups.end() ? 0 : group->second.waiting().size();
  };
  if (!fair_) return count(shared_lane_);
  std::size_t sum = 0;
  for (const auto& [key, l] : local_) sum += count(l.lane);
  return sum;
}

void ClusterQueue::requeued(const EntryRequeued& e, WorkloadId id, const Context& c, Outbox& out) {
  const auto it = pending_.find(id);
  if (it == pending_.end()) return;
  Pending& p = it->second;
  p.scan.entries.clear();
  for (const auto& x : e.progress) p.scan.entries.push_back({Symbol(x.pod_set), Symbol(x.resource), x.flavor_index});
  p.scan.cycle = c.cycle;
  p.scan.generation = e.scan_generation;
  p.scan.equivalence_hash = p.info->equivalence_hash;
  if (keeps_its_turn(e.requeue_reason)) {
    sticky_ = &p;
    sticky_generation_ = p.info->generation;
  }
  if (e.to_heap) {
    push(p);
  } else {
    if (p.in_heap()) park_alone(p, false);
    const auto* config = c.catalog->queue(name_);
    if (fits_nowhere(e.requeue_reason) && config != nullptr && config->strategy == QueueingStrategy::best_effort_fifo &&
        p.info->equivalence_hash != 0) {
      records_[p.info->equivalence_hash] = Symbol(e.reason);
      prune_records();
      park_equals(p.info->equivalence_hash, Symbol(e.reason), c, out);
    }
  }
  give_next_its_turn(p);
  tell_heap_state(out);
}

/// A record says that equal workloads need not be tried. Of workloads that have all gone it is kept while there is room: whoever makes and
/// deletes workloads of ever new shapes while nothing else happens fills no memory with it.
void ClusterQueue::prune_records() {
  constexpr std::size_t room = 10'000;
  if (records_.size() <= room + 2 * pending_.size()) return;
  std::unordered_set<std::uint64_t> live;
  for (const auto& [id, p] : pending_) live.insert(p.info->equivalence_hash);
  std::erase_if(records_, [&](const auto& record) { return !live.contains(record.first); });
}

// ---- quota ------------------------------------------------------------------------------------------------------------------

/// CA-103: a family counts as one, by the furthest that one of its Options has come.
void ClusterQueue::count_option(const WorkloadInfo& w, Local& local, const Change& change) {
  if (w.option == nullptr) return;
  // By how much what is counted changes otherwise than what each of them adds.
  const auto correction = [&](Families& families) {
    const auto it = families.try_emplace(w.option->parent).first;
    Change& all = it->second;
    const auto counted = [&all] {
      return Change{all.pending > 0 && all.reserving == 0 ? 1 : 0, all.reserving > 0 ? 1 : 0, all.admitted > 0 ? 1 : 0};
    };
    const Change before = counted();
    all.pending += change.pending;
    all.reserving += change.reserving;
    all.admitted += change.admitted;
    const Change after = counted();
    if (all.pending == 0 && all.reserving == 0) families.erase(it);
    return Change{after.pending - before.pending - change.pending, after.reserving - before.reserving - change.reserving,
                  after.admitted - before.admitted - change.admitted};
  };
  const Change here = correction(families_);
  family_pending_ += here.pending;
  live_.reserving += here.reserving;
  live_.admitted += here.admitted;
  const Change there = correction(local.families);
  local.counters.pending += there.pending;
  local.counters.reserving += there.reserving;
  local.counters.admitted += there.admitted;
}

void ClusterQueue::count_usage(const Holding& h, std::int64_t sign) {
  if (h.reservation->hold) return;
  count_option(*h.reservation->workload, *h.local, {0, static_cast<std::int32_t>(sign), h.admitted ? static_cast<std::int32_t>(sign) : 0});
  for (QueueCounters* counters : {&live_, &h.local->counters}) {
    counters->reserving += static_cast<std::int32_t>(sign);
    if (h.admitted) counters->admitted += static_cast<std::int32_t>(sign);
    for (const auto& charge : h.reservation->charges) {
      auto& cells = counters->cells;
      auto it = std::find_if(cells.begin(), cells.end(),
                             [&](const auto& x) { return x.flavor == charge.flavor && x.resource == charge.resource; });
      if (it == cells.end()) it = cells.insert(cells.end(), {charge.flavor, charge.resource, 0, 0});
      it->reserved += sign * charge.amount;
      if (h.admitted) it->used += sign * charge.amount;
      if (uses_nothing(*it)) {  // as after a restart, when only what is held is counted
        *it = cells.back();
        cells.pop_back();
      }
    }
  }
  if (fair_ && h.admitted)
    for (const auto& charge : h.reservation->charges)
      h.local->ledger.count_admitted(charge.resource, sign * to_nano(charge.amount, charge.resource));
}

ClusterQueue::Local* ClusterQueue::local(const WorkloadInfo& w, const Context& c) {
  const Catalog::LocalQueueKey key{w.namespace_, w.local_queue};
  const auto [it, fresh] = local_.try_emplace(key);
  if (fresh) it->second.key = key;
  if (fresh && fair_) weigh(it->second, c);
  return &it->second;
}

/// `local` is not used any more.
void ClusterQueue::leave(Local*& local, const Context& c, Outbox& out) {
  Local* const left = std::exchange(local, nullptr);
  if (--left->users == 0) forget_idle(Catalog::LocalQueueKey(left->key), c, out);
}

/// LocalQueues come and go as their makers like; of one that is no more, and of which nothing is left, nothing is kept.
void ClusterQueue::forget_idle(const Catalog::LocalQueueKey& key, const Context& c, Outbox& out) {
  const auto it = local_.find(key);
  if (it == local_.end() || it->second.users != 0) return;
  const auto* config = c.catalog->local_queue(key.first, key.second);
  if (config != nullptr && (config->cluster_queue == name_ || !it->second.ledger.dormant() || !it->second.ledger.penalty().empty())) return;
  local_.erase(it);
  if (!fair_ || ++forgotten_locals_ <= local_.size() + 64) return;
  forgotten_locals_ = 0;
  out.send(queue_address(name_), tree_, msg::LocalUsage{name_, local_usage(), true});  // the tree forgets them now
}

QueueCounters ClusterQueue::local_counters(const Symbol& namespace_, const Symbol& local_queue) const {
  const auto it = local_.find({namespace_, local_queue});
  return it == local_.end() ? QueueCounters{} : it->second.counters;
}

void ClusterQueue::reserve(const msg::Reserve& m, const Context& c, Outbox& out) {
  const WorkloadId id = m.reservation->workload->id;
  Local* const target = local(*m.reservation->workload, c);
  ++target->users;
  if (const auto it = pending_.find(id); it != pending_.end()) {
    take_out(it->second);
    if (sticky_ == &it->second) sticky_ = nullptr;
    --it->second.local->counters.pending;
    count_option(*it->second.info, *it->second.local, {.pending = -1});
    leave(it->second.local, c, out);
    pending_.erase(it);
  }
  auto [it, fresh] = holding_.try_emplace(id);
  Holding& h = it->second;
  begin_ledger(*target, c);
  if (!fresh) {
    begin_ledger(*h.local, c);
    count_usage(h, -1);
    ++generation_;
    if (h.local != target) {  // moved to another LocalQueue: what the old one paid is dropped
      h.local->ledger.drop_penalty(h.penalty);
      h.penalty.clear();
      usage_changed(*h.local, c, out);
    }
    leave(h.local, c, out);
  }
  h.reservation = m.reservation;
  h.admitted = m.admitted;
  h.local = target;
  count_usage(h, +1);
  pay(h, m, fresh, c);
  usage_changed(*target, c, out);
  out.send(queue_address(name_), tree_, msg::Charge{name_, m.reservation});
  refresh_counters(c);
  tell_heap_state(out);
}

void ClusterQueue::release(WorkloadId id, const Context& c, Outbox& out) {
  const auto it = holding_.find(id);
  if (it == holding_.end()) return;
  Local* l = it->second.local;
  begin_ledger(*l, c);
  count_usage(it->second, -1);
  l->ledger.drop_penalty(it->second.penalty);
  holding_.erase(it);
  usage_changed(*l, c, out);
  leave(l, c, out);
  ++generation_;
  out.send(queue_address(name_), tree_, msg::Discharge{name_, id});
  refresh_counters(c);
}

void ClusterQueue::refresh_counters(const Context& c) {
  refreshed_at_ = c.sequence;
  live_.pending = static_cast<std::int32_t>(pending_.size()) + family_pending_;
  published_ = live_;
}

void ClusterQueue::join(const msg::JoinTree& m, const Context& c, Outbox& out) {
  tree_ = m.tree;
  tree_version_ = m.version;
  follow_catalog(c, out);
  ++generation_;
  told_nonempty_ = !heap_.empty();
  told_waiting_ = !pending_.empty();
  msg::Joined j;
  const auto it = c.catalog->queues.find(name_);
  if (it != c.catalog->queues.end()) j.config = it->second;
  j.queue = queue_address(name_);
  j.active = c.catalog->queue_active(name_);
  j.nonempty = told_nonempty_;
  j.waiting = told_waiting_;
  j.reservations = reservations();
  j.local_usage = local_usage();
  j.version = m.version;
  out.send(queue_address(name_), tree_, std::move(j));
  refresh_counters(c);
}

// ---- deciding ---------------------------------------------------------------------------------------------------------------

// ---- reading ----------------------------------------------------------------------------------------------------------------

std::vector<ClusterQueue::Waiting> ClusterQueue::waiting() const {
  // Ranks beside each other: many wait, and each of them lies elsewhere.
  struct Ranked {
    double usage;
    QueueRank rank;
    const Pending* pending;
    [[nodiscard]] bool before(const Ranked& o) const { return usage != o.usage ? usage < o.usage : rank.before(o.rank); }
  };
  std::vector<Ranked> all;
  all.reserve(pending_.size());
  for (const auto& [id, p] : pending_) all.push_back({fair_ ? p.local->lane.usage : 0, rank(p), &p});
  std::sort(all.begin(), all.end(), [](const Ranked& a, const Ranked& b) { return a.before(b); });
  std::vector<Waiting> out;
  out.reserve(all.size());
  for (const auto& one : all) out.push_back({one.pending->info, !one.pending->in_heap()});
  return out;
}

std::optional<bool> ClusterQueue::parked(WorkloadId id) const {
  const auto it = pending_.find(id);
  return it == pending_.end() ? std::nullopt : std::optional(!it->second.in_heap());
}

std::optional<ClusterQueue::ParkedWith> ClusterQueue::parked_with(WorkloadId id) const {
  const auto reason = failed_equal(id);
  if (!reason) return std::nullopt;
  const std::uint64_t hash = pending_.find(id)->second.info->equivalence_hash;
  const Pending* tried = nullptr;  // of several the last one that is served
  for (const Pending* p : alone_)
    if (p->info->equivalence_hash == hash && !p->by_record() && (tried == nullptr || served_before(*tried, *p))) tried = p;
  return ParkedWith{*reason, tried == nullptr ? nullptr : tried->info};
}

std::shared_ptr<const WorkloadInfo> ClusterQueue::first_served() const { return sticky_ == nullptr ? nullptr : sticky_->info; }

std::vector<std::shared_ptr<const Reservation>> ClusterQueue::reservations() const {
  std::vector<std::shared_ptr<const Reservation>> out;
  for (const auto& [id, h] : holding_) out.push_back(h.reservation);
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a->workload->uid < b->workload->uid; });
  return out;
}

std::uint64_t ClusterQueue::hash() const {
  if (hash_ != 0) return hash_;
  StateHash h;
  h.add(name_);
  h.add(generation_);
  if (sticky_ != nullptr) h.add(sticky_generation_);
  h.add(sticky_ == nullptr ? std::string_view() : std::string_view(sticky_->info->uid));
  for (const auto& [hash, reason] : records_) {
    h.add(hash);
    h.add(reason);
  }
  std::uint64_t sum = 0;  // the tables have no order
  for (const auto& [id, p] : pending_) {
    StateHash one;
    one.add(std::string_view(p.info->uid));
    one.add(p.in_heap());
    one.add(p.by_record());
    one.add(p.scan.cycle);
    one.add(p.scan.generation);
    for (const auto& e : p.scan.entries) {
      one.add(e.pod_set);
      one.add(e.resource);
      one.add(e.flavor_index);
    }
    sum += one.value();
  }
  for (const auto& [id, x] : holding_) {
    StateHash one;
    one.add(std::string_view(x.reservation->workload->uid));
    one.add(x.admitted);
    for (const auto& charge : x.reservation->charges) {
      one.add(charge.flavor);
      one.add(charge.resource);
      one.add(charge.amount);
    }
    x.penalty.add_to(one);
    sum += one.value();
  }
  if (fair_)
    for (const auto& [key, l] : local_) {
      if (!l.ledger.sampled_at().is_set()) continue;
      StateHash one;
      one.add(key.first);
      one.add(key.second);
      one.add(l.ledger.hash());
      sum += one.value();
    }
  h.add(sum);
  h.add(published_.pending);
  h.add(published_.reserving);
  h.add(published_.admitted);
  return hash_ = h.value();
}

ClusterQueue::Image ClusterQueue::image() const {
  Image i;
  for (const auto& [id, p] : pending_) i.entries.push_back({p.info->uid, !p.in_heap(), p.by_record(), p.scan});
  std::sort(i.entries.begin(), i.entries.end(), [](const auto& a, const auto& b) { return a.uid < b.uid; });
  if (sticky_ != nullptr) {
    i.sticky_uid = sticky_->info->uid;
    i.sticky_generation = sticky_generation_;
  }
  i.generation = generation_;
  for (const auto& [hash, reason] : records_) i.records.push_back({hash, reason});
  i.published = published_;
  put_ledgers(i);
  return i;
}

void ClusterQueue::restore(const Image& image, const Context& c, Outbox& out) {
  hash_ = 0;
  std::unordered_map<std::string_view, const Image::Entry*> by_uid;
  by_uid.reserve(image.entries.size());
  for (const auto& e : image.entries) by_uid[e.uid] = &e;
  for (auto& [id, p] : pending_) {
    const auto it = by_uid.find(p.info->uid);
    if (it == by_uid.end()) continue;
    p.scan = it->second->scan;
    if (!it->second->parked)
      push(p);
    else if (it->second->by_record && gate_open(*p.info, c.now))
      push_parked(p);
    else
      park_alone(p, it->second->by_record);
    note_told(p, c);
  }
  sticky_ = nullptr;
  sticky_generation_ = image.sticky_generation;
  for (auto& [id, p] : pending_)
    if (!image.sticky_uid.empty() && p.info->uid == image.sticky_uid) sticky_ = &p;
  take_ledgers(image, c, out);
  generation_ = image.generation;
  records_.clear();
  for (const auto& r : image.records) records_[r.hash] = r.reason;
  published_ = image.published;
  std::erase_if(published_.cells, uses_nothing);  // a snapshot of an earlier build has cells that were used once
  refreshed_at_ = 0;
  for (auto& [id, p] : pending_)
    if (p.by_record()) {
      const auto it = records_.find(p.info->equivalence_hash);
      out.send(queue_address(name_), p.parent, msg::ParkedByRecord{id, it == records_.end() ? Symbol() : it->second});
    }
  tell_heap_state(out);
}

}  // namespace hindsight::admission
