#include "admission/domain/domain.hpp"
#include "admission/rules.hpp"

#include <algorithm>
#include <utility>

#include "admission/domain/event_subjects.hpp"
#include "admission/rules.hpp"
#include "vocabulary/record_order.hpp"

namespace hindsight::admission {

namespace {

/// A life-cycle step that says as much as a step may has left parents to the next one, perhaps (take_decisions): they were not heard,
/// although its base knows what happened to them. Whether there were any does not stand in the record; that there may be follows from it.
bool fills_a_step(List<Event> events, std::size_t most) {
  std::size_t bytes = 0;
  return std::any_of(events.begin(), events.end(), [&](const Event& e) { return (bytes += event_bytes(e)) >= most; });
}

}  // namespace

// ---- applying ---------------------------------------------------------------------------------------------------------------

Result<void> Domain::begin(const RecordView& record, Outbox& out) {
  const Envelope& e = record.envelope;
  took_decision_ = false;
  const RecordOrder order = record_order(sequence_, epoch_, e.sequence, e.epoch);
  if (order == RecordOrder::gap)
    return fail(ErrorKind::corrupt, "domain " + std::string(e.domain) + ": expected sequence " + std::to_string(sequence_ + 1) +
                                        ", found " + std::to_string(e.sequence));
  if (order == RecordOrder::passed_over) {
    if (std::holds_alternative<Decisions>(record.body)) ++stale_decisions_;
    return {};
  }
  if (passes_over(e)) {
    pass(e);
    return {};
  }
  count(e);
  if (const auto* o = std::get_if<Observation>(&record.body)) {
    if (const auto* q = std::get_if<RecordQuarantined>(o); q != nullptr && !std::ranges::binary_search(passed_over_, q->sequence))
      return fail(ErrorKind::conflict, "domain " + std::string(e.domain) + ": record " + std::to_string(q->position) + " (sequence " +
                                           std::to_string(q->sequence) + ") was set aside, and this fold began before that was known");
    route(*o, out);
  } else if (const auto* d = std::get_if<Decisions>(&record.body)) {
    // Each decision has a later base than the one before: an equal one is the same once more, written by an append that was repeated.
    if (d->base != 0 && d->base <= decided_base_) {
      ++stale_decisions_;
      return {};
    }
    took_decision_ = true;
    route(*d, out);
  } else if (const auto* started = std::get_if<EpochStarted>(&record.body)) {
    const bool count_otherwise = (rules_ < rules_with_elastic_repairs) != (started->rules < rules_with_elastic_repairs);
    rules_ = started->rules;
    if (count_otherwise)
      for (std::uint32_t parent = 0; parent < registry_.parents_end(); ++parent)
        if (registry_.has_parent(parent)) out.send(domain_address, {EntityKind::workload_parent, parent}, msg::HostChanged{});
    // Where connectors are processes of their own, they go on observing, and carry nothing out before they have listed everything.
    if (e.sequence != numbered_by_reader) listed_ = false;
    mark_all();  // what the epoch before decided but did not write is lost: everything is asked again
  }
  return {};
}

void Domain::count(const Envelope& e) {
  ++sequence_;
  epoch_ = std::max(epoch_, e.epoch);
  if (e.time > now_) now_ = e.time;  // a clock that steps back does not turn time back
  backlog_.pass_to(now_);
  asked_kinds_ = 0;
  contenders_.clear();
}

void Domain::pass(const Envelope& envelope) {
  took_decision_ = false;
  count(envelope);
  passed_over_.push_back(sequence_);
}

/// No message is under way any more.
void Domain::end() { take_what_was_said(true); }

bool Domain::counts(const Envelope& envelope) const {
  return record_order(sequence_, epoch_, envelope.sequence, envelope.epoch) == RecordOrder::next;
}

void Domain::touched(Address entity) {
  switch (entity.kind) {
    case EntityKind::workload_parent:
      mark_dirty(entity.index);
      break;
    case EntityKind::cluster_queue:
      mark_tree(catalog_->root_of(Symbol::from_id(entity.index)));
      break;
    case EntityKind::cohort_tree:
      mark_tree(Symbol::from_id(entity.index));
      break;
    case EntityKind::domain:
    case EntityKind::topology_domain:
      break;
  }
}

void Domain::route(const Observation& o, Outbox& out) {
  if (seen_.is_late(o)) return;
  if (!quarantined_.empty() && !lift_quarantine(o)) return;
  edited_ = false;
  std::visit([&](const auto& x) { apply(x, out); }, o);
  if (edited_) claims_.clear();
  if (edited_ && repeated_.clear()) mark_trees();  // other rules, another matter (D13)
}

void Domain::route(const Decisions& d, Outbox& out) {
  decided_base_ = std::max(decided_base_, d.base);
  // Did every parent have its say before?
  if (d.step == StepKind::life_cycle ? !fills_a_step(d.events, step_bytes_) : !cycle_is_overdue())
    resolved_base_ = std::max(resolved_base_, d.base);
  if (d.step == StepKind::life_cycle) ++life_cycle_steps_;
  if (d.step == StepKind::cycle) {
    ++cycles_;
    life_cycle_steps_ = 0;
    for (const std::uint64_t f : fingerprints({d.events.begin(), d.events.end()})) seen_cycles_.push_back(f);
  } else if (d.step == StepKind::timers) {
    something_new();
  }
  route_events(d, out);
}

void Domain::route_events(const Decisions& d, Outbox& out) {
  std::optional<RoutedEvent> last;
  const auto send_last = [&](bool more) {
    last->message.more = more;
    out.send(domain_address, {EntityKind::workload_parent, last->parent}, last->message);
  };
  for (const Event& e : d.events) {
    const auto next = route_event(e, d.step == StepKind::life_cycle, out);
    if (!next) continue;
    if (last) send_last(last->parent == next->parent);
    last = next;
  }
  if (last) send_last(false);
}

/// Whom the event is for; nothing: no entity of Workloads.
std::optional<Domain::RoutedEvent> Domain::route_event(const Event& e, bool life_cycle, Outbox& out) {
  if (const auto* r = std::get_if<TreeReactivated>(&e)) {
    reactivations_.erase(Symbol(r->root));
    const Symbol root = catalog_->tree_of(Symbol(r->root));  // in a log from before trees could share hosts it has another name
    for (const Symbol& queue : catalog_->members(root)) out.send(domain_address, queue_address(queue), msg::Reactivate{});
    mark_tree(root);
    return std::nullopt;
  }
  if (const JobRef* job = std::visit(OnlyJob{}, e); job != nullptr) {
    const std::uint32_t parent = registry_.find_parent(job->uid);
    if (parent == Registry::none) return std::nullopt;
    return RoutedEvent{parent, {&e, 0, life_cycle}};
  }
  const auto entry = registry_.find_workload(std::visit(NamedWorkload{}, e));
  if (!entry) return std::nullopt;  // its object has gone meanwhile
  if (const auto* q = std::get_if<QuotaReserved>(&e)) {
    claims_.forget(q->workload.uid);
    backlog_.decided(q->workload.uid, now_);
    place_workload(entry.id, Catalog::LocalQueueKey(workload_places_[entry.id].member), Symbol(q->cluster_queue));
  }
  if (const auto* r = std::get_if<EntryRequeued>(&e)) {
    if (!r->claimant.uid.empty()) claims_.note(r->claimant.uid, Symbol(r->cluster_queue), now_);
    mark_tree(catalog_->root_of(Symbol(r->cluster_queue)));  // its parent tells the queue, with what else it has to say
  } else if (const auto* p = std::get_if<WorkloadPreempted>(&e)) {
    backlog_.settled(p->workload.uid);
    repeated_.note(p->preemptor.uid, p->workload.uid, sequence_, static_cast<std::uint32_t>(catalog_->settings.repeated_preemptions));
  } else if (std::holds_alternative<PreemptionGateChanged>(e) || std::holds_alternative<FamilyReset>(e) ||
             std::holds_alternative<OptionSwitched>(e) || std::holds_alternative<OptionAdmitted>(e)) {
    something_new();  // another Option may do now what the last one was not allowed to
  } else if (std::holds_alternative<WorkloadEvicted>(e) || std::holds_alternative<WorkloadFinished>(e)) {
    claims_.forget(std::visit(NamedWorkload{}, e));
    backlog_.settled(std::visit(NamedWorkload{}, e));
    if (repeated_.forget(std::visit(NamedWorkload{}, e))) mark_trees();
  }
  return RoutedEvent{entry.parent, {&e, entry.id, life_cycle}};
}

// ---- registry -----------------------------------------------------------------------------------------------------------------

std::optional<std::uint32_t> Domain::parent_of(const Event& event) const {
  if (const JobRef* job = std::visit(OnlyJob{}, event); job != nullptr) {
    const std::uint32_t parent = registry_.find_parent(job->uid);
    return parent == Registry::none ? std::nullopt : std::optional(parent);
  }
  const auto entry = registry_.find_workload(std::visit(NamedWorkload{}, event));
  return entry ? std::optional(entry.parent) : std::nullopt;
}

std::optional<std::uint32_t> Domain::find_parent(std::string_view uid) const {
  if (const auto w = registry_.find_workload(uid)) return w.parent;
  const std::uint32_t parent = registry_.find_parent(uid);
  if (parent == Registry::none) return std::nullopt;
  return parent;
}

std::uint32_t Domain::parent_of(std::string_view key) {
  const std::uint32_t parent = registry_.add_parent(key);
  know(parent);
  return parent;
}

void Domain::know(std::uint32_t parent) {
  if (parent < is_dirty_.size()) return;
  is_dirty_.resize(parent + 1, false);
  due_of_.resize(parent + 1, Time::never());
  job_kinds_.resize(parent + 1, JobKind::none);
  job_places_.resize(parent + 1);
}

namespace {

template <class Index, class Key>
void move_entry(Index& index, const Key& from, const Key& to, WorkloadId id) {
  if (from == to) return;
  if (const auto it = index.find(from); it != index.end()) {
    it->second.erase(id);
    if (it->second.empty()) index.erase(it);
  }
  if (to != Key()) index[to].insert(id);
}

}  // namespace

/// Of a Workload that has gone both are empty.
void Domain::place_workload(WorkloadId id, Catalog::LocalQueueKey member, Symbol holder) {
  if (id >= workload_places_.size()) workload_places_.resize(id + 1);
  WorkloadPlace& place = workload_places_[id];
  move_entry(members_, place.member, member, id);
  move_entry(holders_, place.holder, holder, id);
  const bool gone = member == Catalog::LocalQueueKey() && holder.empty();
  place = {std::move(member), std::move(holder), gone ? 0 : place.version};
}

std::vector<std::uint32_t> Domain::parents_of(const std::unordered_set<WorkloadId>& workloads) const {
  std::vector<std::uint32_t> out;
  for (const WorkloadId id : workloads)
    if (const auto parent = registry_.parent_of(id); registry_.has_parent(parent)) out.push_back(parent);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void Domain::mark_dirty(std::uint32_t parent) {
  if (parent >= is_dirty_.size() || is_dirty_[parent]) return;
  is_dirty_[parent] = true;
  dirty_.push_back(parent);
}

void Domain::mark_tree(const Symbol& root) {
  if (root.empty()) return;  // below a cycle of cohorts: there is no tree
  if (root.id() >= is_dirty_tree_.size()) is_dirty_tree_.resize(root.id() + 1, false);
  if (is_dirty_tree_[root.id()]) return;
  is_dirty_tree_[root.id()] = true;
  dirty_trees_.push_back(root);
}

void Domain::mark_trees() {
  for (const auto& [queue, root] : catalog_->roots) mark_tree(root);
}

/// Who has a job or a Workload in it. Its labels say nothing to anybody else.
void Domain::mark_namespace(const Symbol& namespace_) {
  for (std::uint32_t parent = 0; parent < job_places_.size(); ++parent)
    if (job_places_[parent].namespace_ == namespace_) mark_dirty(parent);
  for (WorkloadId id = 0; id < workload_places_.size(); ++id)
    if (workload_places_[id].member.first == namespace_) mark_dirty(registry_.parent_of(id));
}

void Domain::mark_all() {
  for (std::uint32_t parent = 0; parent < registry_.parents_end(); ++parent)
    if (registry_.has_parent(parent)) mark_dirty(parent);
  mark_trees();
}

/// What led nowhere may lead somewhere now (D10).
void Domain::something_new() {
  seen_cycles_.clear();
  seen_index_.clear();
  seen_indexed_ = 0;
  for (const Symbol& root : std::exchange(resting_trees_, {}))
    if (!catalog_->members(root).empty()) mark_tree(root);
}

/// Somebody changed the world (D10, D13).
void Domain::news() {
  something_new();
  claims_.news(now_, catalog_->settings.claim_duration);
  if (repeated_.news(sequence_, static_cast<std::uint32_t>(catalog_->settings.repeated_preemptions))) mark_trees();
}

void Domain::forget_dirty_trees() {
  for (const Symbol& root : dirty_trees_) is_dirty_tree_[root.id()] = false;
  dirty_trees_.clear();
}

// ---- messages to the domain ---------------------------------------------------------------------------------------------------

void Domain::receive(Message& message, Outbox& out) {
  if (auto* p = std::get_if<msg::Proposed>(&message.payload)) {
    if (!p->proposal.events.empty()) {
      const bool parent = message.from.kind == EntityKind::workload_parent;
      std::string key = parent ? registry_.key(message.from.index) : std::string();
      if (!parent) key = Symbol::from_id(message.from.index).text();
      if (p->admits) admitting_.emplace(key, std::move(*p->admits));
      if (p->proposal.repeats)
        circling_.insert(std::move(key));
      else if (parent)
        answered(std::move(key), message.from.index, std::move(p->proposal));
      else
        answers_.emplace(std::move(key), Answer{std::move(p->proposal)});
    }
    --waiting_for_;
  } else if (const auto* m = std::get_if<msg::NextDue>(&message.payload)) {
    const std::uint32_t parent = message.from.index;
    if (due_of_[parent].is_set()) due_.erase({due_of_[parent], parent});
    due_of_[parent] = m->due;
    if (m->due.is_set()) due_.insert({m->due, parent});
  } else if (const auto* sampling = std::get_if<msg::SamplingDue>(&message.payload)) {
    sampling_due(Symbol::from_id(message.from.index), sampling->due);
  } else if (const auto* second = std::get_if<msg::SecondPassDue>(&message.payload)) {
    const Symbol root = Symbol::from_id(message.from.index);
    if (second->due.is_set())
      second_passes_[root] = second->due;
    else
      second_passes_.erase(root);
  } else if (const auto* m1 = std::get_if<msg::ReactivateTreeOf>(&message.payload)) {
    request_reactivation(m1->cluster_queue);
  } else if (auto* stands = std::get_if<msg::StandsOn>(&message.payload)) {
    said_.emplace_back(message.from.index, std::move(*stands));
  } else if (auto* l = std::get_if<msg::Lingers>(&message.payload)) {
    said_.emplace_back(message.from.index, std::move(*l));
  } else if (const auto* m2 = std::get_if<msg::NotReady>(&message.payload)) {
    if (m2->not_ready) {
      not_ready_.insert(m2->id);
    } else if (not_ready_.erase(m2->id) != 0 && not_ready_.empty()) {  // whoever waited for this may be admitted now (BA-76)
      something_new();
      mark_trees();
    }
  } else if (const auto* m3 = std::get_if<msg::Runs>(&message.payload)) {
    tell_descendants(message.from.index, m3->runs, out);
  } else if (const auto* m4 = std::get_if<msg::Sized>(&message.payload)) {
    sized(message.from.index, *m4, out);
  } else if (auto* m5 = std::get_if<msg::Disowned>(&message.payload)) {
    adopt(std::move(m5->workload), out);
  } else if (const auto* newer = std::get_if<msg::ReadSince>(&message.payload)) {
    lift_quarantine(newer->uid);
  } else if (std::holds_alternative<msg::WorldChanged>(message.payload)) {
    if (message.from.kind == EntityKind::workload_parent)
      news();
    else
      something_new();  // a queue sampled its usage: time went by, no more
  } else if (const auto* forgotten = std::get_if<msg::Forgotten>(&message.payload)) {
    if (registry_.parent_of(forgotten->id) == message.from.index) forget_workload(forgotten->id);
  } else if (std::holds_alternative<msg::Retired>(message.payload)) {
    const std::uint32_t parent = message.from.index;
    if (!registry_.has_parent(parent)) return;
    registry_.remove_parent(parent);
    if (due_of_[parent].is_set()) due_.erase({due_of_[parent], parent});
    due_of_[parent] = Time::never();
    said_.emplace_back(parent, msg::StandsOn{});  // its number is given out again
    said_.emplace_back(parent, msg::Lingers{});
    if (const auto pods = pods_of_owners_.extract(parent))  // its number is given out again
      for (const auto& uid : pods.mapped())
        if (const auto pod = pods_.find(uid); pod != pods_.end()) pod->second.owner = Registry::none;
  } else {
    refuse(message, "Domain");
  }
}

void Domain::request_reactivation(Symbol cluster_queue) {
  const Symbol root = catalog_->root_of(cluster_queue);
  if (!root.empty()) request_root(root);  // a cyclic tree is ignored
}

void Domain::request_root(const Symbol& root) {
  const Time due = now_ + catalog_->settings.reactivation_batch;
  const auto [it, fresh] = reactivations_.try_emplace(root, due);
  if (!fresh && due < it->second) it->second = due;
}

Time Domain::next_due() const {
  Time due = due_.empty() ? Time::never() : due_.begin()->first;
  for (const auto& [root, t] : reactivations_)
    if (!due.is_set() || t < due) due = t;
  for (const auto& [root, t] : second_passes_)
    if (!due.is_set() || t < due) due = t;
  const Time claim_ends = claims_.next_end(claims_asked_, catalog_->settings.claim_duration);
  if (claim_ends.is_set() && (!due.is_set() || claim_ends < due)) due = claim_ends;
  if (const Time go_on = backlog_.next_end(); waits_for_writes() && (!due.is_set() || go_on < due)) due = go_on;
  if (!sampling_.empty()) {
    // Only a timer samples. When another record has moved the time beyond that, the next moment is due: a time that has passed wakes
    // nobody.
    const Time sampling = std::max(sampling_.begin()->first, now_ + Duration{1});
    if (!due.is_set() || sampling < due) due = sampling;
  }
  return due;
}

Time Domain::next_due_after(Time t) const {
  Time due;
  const auto consider = [&](Time at) {
    if (at.is_set() && at > t && (!due.is_set() || at < due)) due = at;
  };
  const auto later = std::ranges::upper_bound(due_, t, {}, [](const auto& entry) { return entry.first; });
  if (later != due_.end()) consider(later->first);
  for (const auto& [root, at] : reactivations_) consider(at);
  for (const auto& [root, at] : second_passes_) consider(at);
  consider(claims_.next_end(std::max(t, claims_asked_), catalog_->settings.claim_duration));
  if (waits_for_writes()) consider(backlog_.next_end());
  if (!sampling_.empty()) consider(std::max(sampling_.begin()->first, now_ + Duration{1}));
  return due;
}

void Domain::sampling_due(const Symbol& queue, Time due) {
  if (const auto known = sampling_of_.find(queue.id()); known != sampling_of_.end()) {
    sampling_.erase({known->second, queue.id()});
    sampling_of_.erase(known);
  }
  if (!due.is_set()) return;
  sampling_of_.emplace(queue.id(), due);
  sampling_.insert({due, queue.id()});
}

std::size_t Domain::entries() const {
  return members_.size() + holders_.size() + lineages_.size() + children_.size() + owned_.size() + descendants_.size() +
         running_ancestors_.size() + pods_.size() + pods_of_owners_.size() + held_.size() + not_ready_.size() + due_.size() +
         reactivations_.size() + consumed_.size() + sampling_.size() + sampling_of_.size() + job_kinds_.size() + workload_places_.size() +
         repeated_.counts().size() + claims_.all().size() + backlog_.size() + quarantined_.size() + quarantined_queues_.size() +
         catalog_->local_queues.size() + catalog_->namespaces.size() + nodes_.size() + node_usage_.size() + hosts_.nodes.size() +
         hosts_.doubtful.size() + stands_on_.size() + standing_.size() + lingering_.size() + lingers_on_.size() + second_passes_.size();
}

std::uint64_t Domain::hash() const {
  StateHash h;
  h.add(sequence_);
  h.add(epoch_);
  h.add(decided_base_);
  if (resolved_base_ != decided_base_) h.add(resolved_base_);
  if (rules_ != 0) h.add(rules_);
  if (cycle_is_overdue()) h.add(life_cycle_steps_);  // before that it changes no decision, and logs from before it keep their hashes
  h.add(cycles_);
  h.add(now_);
  h.add(synced_);
  if (catalog_hash_ == 0) catalog_hash_ = catalog_->hash();
  h.add(catalog_hash_);
  if (!nodes_.empty() || !node_usage_.empty()) {  // logs without nodes keep their hashes
    if (std::exchange(nodes_hashed_, nodes_version_) != nodes_version_) {
      StateHash all;
      for (const auto& [name, node] : nodes_) all.add(content_hash(*node));
      for (const auto& [name, usage] : node_usage_) {
        all.add(name);
        for (const auto& [resource, amount] : usage) {
          all.add(resource);
          all.add(amount);
        }
      }
      nodes_hash_ = all.value();
    }
    h.add(nodes_hash_);
  }
  h.add(listed_);
  for (const auto& [key, held] : held_) {
    h.add(key.kind);
    h.add(key.name);
    h.add(held.deleting);
    h.add(held.finalizer);
  }
  for (const auto& [root, t] : reactivations_) {
    h.add(root);
    h.add(t);
  }
  for (const auto f : seen_cycles_) h.add(f);
  seen_.add_to(h);
  repeated_.add_to(h);
  claims_.add_to(h);
  backlog_.add_to(h);
  std::uint64_t consumed = 0;  // a sum: the table has no order
  for (const auto& [key, seen] : consumed_) {
    StateHash one;
    one.add(key.first);
    one.add(key.second);
    one.add(seen.at);
    seen.usage.add_to(one);
    consumed += one.value();
  }
  if (consumed != 0) h.add(consumed);
  for (const auto& [uid, q] : quarantined_) {
    h.add(std::string_view(uid));
    h.add(q.kind);
    for (const std::string_view text : {q.api_kind, q.namespace_, q.name, q.reason}) h.add(text);
    h.add(q.resource_version);
    h.add(q.stage);
    h.add(q.since);
  }
  for (const auto sequence : passed_over_) h.add(sequence);
  return h.value();
}

}  // namespace hindsight::admission
