#include "admission/queue/cohort_tree.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "admission/model/workload_state.hpp"
#include "admission/rules.hpp"
#include "admission/scheduling/decision_trace.hpp"
#include "admission/scheduling/next_cycle.hpp"
#include "admission/scheduling/node_repair.hpp"
#include "admission/scheduling/outcome_text.hpp"
#include "admission/scheduling/pod_placer.hpp"
#include "admission/scheduling/requeue.hpp"
#include "admission/scheduling/second_pass.hpp"

namespace hindsight::admission {

void CohortTree::receive(Message& message, const Context& c, Outbox& out) {
  if (auto* offered = std::get_if<std::unique_ptr<msg::HeadOffered>>(&message.payload)) {
    const Symbol queue = (*offered)->queue;
    if ((*offered)->present) {
      Offer& offer = offers_[queue];
      offer.first = (*offered)->head.workload->id;
      offer.all = (*offered)->alone;
      offer.head = std::move(*offered);
    }
    if (--answers_missing_ == 0) decide(c, out);
  } else if (auto* more = std::get_if<msg::MoreOffered>(&message.payload)) {
    Offer& offer = offers_.at(more->queue);
    std::move(more->heads.begin(), more->heads.end(), std::back_inserter(offer.more));
    offer.all = more->all;
    if (--answers_missing_ == 0) {
      if (take_next_heads())
        decide(c, out);
      else
        finish(c, out);
    }
  } else if (auto* next = std::get_if<msg::NextOffered>(&message.payload)) {
    offers_.at(next->queue).head->head.next = std::move(next->next);
    if (--answers_missing_ == 0 && goes_on(c, out) && !count_in_parts(c, out)) decide_counted(c, out);
  } else if (std::holds_alternative<msg::LeavesCounted>(message.payload)) {
    if (--answers_missing_ == 0) {
      take_counts();
      decide_counted(c, out);
    }
  } else if (const auto* m = std::get_if<msg::RunCycle>(&message.payload)) {
    run_cycle(*m, c, out);
  } else if (auto* m1 = std::get_if<msg::Joined>(&message.payload)) {
    joined(*m1, c);
  } else if (const auto* m2 = std::get_if<msg::BuildTree>(&message.payload)) {
    version_ = m2->version;
    expected_ = m2->members;
    tree_.reset();
    ready_.clear();
    waiting_.clear();
    failed_.clear();
    placeless_.clear();
    std::erase_if(members_, [&](const auto& entry) { return entry.second.version != version_; });
    if (members_.size() == expected_) build(c);
  } else if (const auto* m3 = std::get_if<msg::HeapState>(&message.payload)) {
    if (auto* member = joining(m3->queue)) {
      member->nonempty = m3->nonempty;
      member->waiting = m3->waiting;
    } else if (is_member(m3->queue)) {
      const auto set = [&](auto& queues, bool in) {
        if (in)
          queues.insert(m3->queue);
        else
          queues.erase(m3->queue);
      };
      set(ready_, m3->nonempty);
      set(waiting_, m3->waiting);
    }
  } else if (auto* usage = std::get_if<msg::LocalUsage>(&message.payload)) {
    if (auto* member = joining(usage->queue)) {
      if (usage->whole) member->local_usage.clear();
      for (auto& u : usage->usage) member->local_usage.push_back(std::move(u));  // of two the later one counts
    } else if (is_member(usage->queue)) {
      tree_->weigh_local_queues(usage->queue, usage->usage, usage->whole);
    }
  } else if (const auto* m4 = std::get_if<msg::Charge>(&message.payload)) {
    if (auto* member = joining(m4->queue)) {
      forget(member->reservations, m4->reservation->workload->id);
      member->reservations.push_back(m4->reservation);
    } else if (is_member(m4->queue)) {
      tree_->reserve(m4->queue, m4->reservation);
      note_second_pass(*m4->reservation);
      if (room_) room_->reserve(*m4->reservation);
    }
  } else if (const auto* m5 = std::get_if<msg::Discharge>(&message.payload)) {
    if (auto* member = joining(m5->queue)) {
      forget(member->reservations, m5->id);
    } else if (is_member(m5->queue)) {
      // its new queue may have charged it before the old one discharges it
      const auto* entry = tree_->find_reservation(m5->id);
      if (entry != nullptr && entry->queue == tree_->find_queue(m5->queue)) {
        tree_->release(m5->id);
        failed_.erase(m5->id);
        placeless_.erase(m5->id);
        if (room_) room_->release(m5->id);
      }
    }
  } else {
    refuse(message, "CohortTree");
  }
  if (tree_) announce_second_pass(c, out);
}

// What a queue says after it joined counts for the tree that is to be built, also when that tree's own order to build comes later. What
// it said before it joined, or after it left for another tree, counts no more: a queue joins with all that it holds.

msg::Joined* CohortTree::joining(const Symbol& queue) {
  const auto it = members_.find(queue);
  return it == members_.end() ? nullptr : &it->second;
}

bool CohortTree::is_member(Symbol queue) const { return tree_ && tree_->find_queue(queue) != no_node; }

void CohortTree::forget(std::vector<std::shared_ptr<const Reservation>>& reservations, WorkloadId id) {
  std::erase_if(reservations, [&](const auto& r) { return r->workload->id == id; });
}

void CohortTree::joined(msg::Joined& m, const Context& c) {
  if (m.config == nullptr || m.version < version_) return;
  const Symbol queue = m.config->name;
  members_[queue] = std::move(m);
  if (!tree_ && members_.size() == expected_ && expected_ != 0 && members_.begin()->second.version == version_) build(c);
}

void CohortTree::build(const Context& c) {
  std::vector<QuotaTree::Member> members;
  for (const auto& [queue, m] : members_) {
    members.push_back({m.config, m.active});
    if (m.nonempty) ready_.insert(queue);
    if (m.waiting) waiting_.insert(queue);
  }
  // every Cohort object on the way from a member to the root, and those that only lend: all whose chain ends here, or where another does
  // that shares hosts with this one
  std::set<Symbol, ByText> ends{root_};
  std::set<Symbol, ByText> names;
  for (const auto& [queue, m] : members_) ends.insert(c.catalog->cohort_root(*m.config));
  for (const Symbol& end : ends)
    for (const Symbol& name : c.catalog->below(end)) names.insert(name);
  std::vector<std::shared_ptr<const CohortConfig>> cohorts;
  for (const Symbol& name : names)
    if (const auto it = c.catalog->cohorts.find(name); it != c.catalog->cohorts.end()) cohorts.push_back(it->second);
  tree_ = QuotaTree::build(members, cohorts);
  for (auto& [queue, m] : members_) {
    for (auto& r : m.reservations) {
      note_second_pass(*r);
      tree_->reserve(queue, std::move(r));
    }
    tree_->weigh_local_queues(queue, m.local_usage, true);
  }
  members_.clear();
  room_.reset();
  room_version_ = 0;
}

/// Nodes, topologies, flavors or the tree itself have changed: what is there is counted anew, and who has what of it.
/// False: the room is to be made anew.
bool CohortTree::follow_nodes(std::uint64_t known, const Context& c) {
  if (c.node_changes == nullptr || known < c.node_changes->since) return false;
  const auto& names = c.node_changes->names;
  std::vector<Symbol> changed(names.begin() + static_cast<std::ptrdiff_t>(known - c.node_changes->since), names.end());
  std::sort(changed.begin(), changed.end(), ByText{});
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  return std::all_of(changed.begin(), changed.end(), [&](const Symbol& name) {
    const auto node = c.nodes->find(name);
    return room_->follow(name, node == c.nodes->end() ? nullptr : node->second);
  });
}

void CohortTree::refresh_room(const Context& c) {
  if (room_version_ == c.nodes_version) return;
  const std::uint64_t known = std::exchange(room_version_, c.nodes_version);
  if (!room_ || !follow_nodes(known, c)) room_ = room_of(*tree_, *c.catalog, *c.nodes);
}

// ---- one cycle --------------------------------------------------------------------------------------------------------------

void CohortTree::note_second_pass(const Reservation& reservation) {
  const WorkloadId id = reservation.workload->id;
  if (reservation.unhealthy_nodes.empty())
    failed_.erase(id);
  else
    failed_.insert(id);
  if (reservation.second_pass_at.is_set())
    placeless_[id] = reservation.second_pass_at;
  else
    placeless_.erase(id);
}

/// The domain runs a cycle when it is due, whatever else there is.
void CohortTree::announce_second_pass(const Context& c, Outbox& out) {
  Time due;
  if (c.catalog->settings.topologies)
    for (const auto& [id, at] : placeless_)
      if (!due.is_set() || at < due) due = at;
  if (due == announced_due_) return;
  announced_due_ = due;
  out.send(tree_address(root_), domain_address, msg::SecondPassDue{due});
}

void CohortTree::run_cycle(const msg::RunCycle& m, const Context& c, Outbox& out) {
  cycle_ = m.cycle;
  blocked_ = m.blocked;
  announced_due_ = Time::never();  // the domain forgets what it asks for
  offers_.clear();
  proposal_ = Proposal{};
  said_.clear();
  turns_ = 0;
  answers_missing_ = 0;
  if (c.trace != nullptr) c.trace->tree_begins(root_, blocked_);
  if (tree_ && !blocked_ && run_second_passes(c)) return finish(c, out);
  if (tree_) answers_missing_ = static_cast<std::uint32_t>(ready_.size());
  if (answers_missing_ == 0) {
    if (c.trace != nullptr) c.trace->tree_ends(root_, nullptr, 0, {});
    out.send(tree_address(root_), domain_address, msg::Proposed{});
    return;
  }
  for (const Symbol& queue : ready_) out.send(tree_address(root_), queue_address(queue), msg::OfferHead{cycle_});
}

namespace {

WorkloadRef ref(const WorkloadInfo& w, Arena& a) { return {a.copy(w.uid), w.namespace_.text(), a.copy(w.name)}; }

/// §3.4: where an entry goes that got nothing.
bool returns_to_heap(const Outcome& o, const msg::HeadOffered& head) {
  if (!head.gate_open) return false;
  if (o.scan.unfinished()) return true;
  // What a sibling gets changes how an Option fares: it is tried once more.
  if (head.head.strict || o.sibling_served) return o.requeue_reason != RequeueReason::namespace_mismatch;
  switch (o.requeue_reason) {
    case RequeueReason::failed_after_nomination:
    case RequeueReason::pending_preemption:
    case RequeueReason::pending_migration:
    case RequeueReason::preemption_failed:
      return true;
    default:
      return false;
  }
}

CycleContext make_cycle_context(const Context& c, std::uint64_t cycle) {
  CycleContext out;
  out.now = c.now;
  out.cycle = cycle;
  out.settings = &c.catalog->settings;
  out.admitted_not_ready = c.admitted_not_ready;
  out.repeated = c.repeated;
  out.checks = &c.catalog->checks;
  out.flavor = [catalog = c.catalog](Symbol name) { return catalog->flavor(name); };
  out.namespace_labels = [catalog = c.catalog](const Symbol& name) -> const NamespaceLabels* {
    const auto it = catalog->namespaces.find(name);
    return it == catalog->namespaces.end() ? nullptr : &it->second->labels;
  };
  return out;
}

List<PodSetAssignmentFacts> view(const std::vector<PodSetReservation>& assignment, Arena& a) {
  auto list = a.make<PodSetAssignmentFacts>(assignment.size());
  for (std::size_t i = 0; i < assignment.size(); ++i) {
    const auto& p = assignment[i];
    list[i].pod_set = p.pod_set.text();
    list[i].count = p.count;
    auto flavors = a.make<FlavorChoice>(p.flavors.size());
    for (std::size_t k = 0; k < p.flavors.size(); ++k) flavors[k] = {p.flavors[k].first.text(), p.flavors[k].second.text()};
    auto usage = a.make<ResourceAmount>(p.usage.size());
    for (std::size_t k = 0; k < p.usage.size(); ++k) usage[k] = {p.usage[k].first.text(), p.usage[k].second};
    list[i].flavors = flavors;
    list[i].usage = usage;
    const TopologyAssignment& where = p.topology;
    auto levels = a.make<Text>(where.levels.size());
    for (std::size_t k = 0; k < levels.size(); ++k) levels[k] = where.levels[k].text();
    auto domains = a.make<TopologyDomainFacts>(where.size());
    for (std::size_t k = 0; k < domains.size(); ++k) {
      auto values = a.make<Text>(levels.size());
      for (std::size_t v = 0; v < values.size(); ++v) values[v] = where.domain(k)[v].text();
      domains[k] = {values, where.counts[k]};
    }
    list[i].topology_levels = levels;
    list[i].topology = domains;
    list[i].delayed = p.delayed;
  }
  return list;
}

List<PlannedAmount> view(const SizingPlan& plan, Arena& a) {
  auto list = a.make<PlannedAmount>(plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i)
    list[i] = {plan[i].pod_set.text(), a.copy(plan[i].container), plan[i].resource.text(), plan[i].original, plan[i].amount};
  return list;
}

/// The old slice ends in the record in which the new one is admitted (EJ-55).
SliceReplaced replacement(const WorkloadInfo& w, const std::vector<PodSetReservation>& assignment, const Reservation& old, Arena& a) {
  // an Option holds what its Parent is the slice of (CA-95)
  const auto slice = [&a](const WorkloadInfo& one) {
    if (one.option == nullptr) return ref(one, a);
    return WorkloadRef{a.copy(one.option->family), one.namespace_.text(), a.copy(one.option->parent_name)};
  };
  SliceReplaced e;
  e.workload = slice(*old.workload);
  e.replacement = slice(w);
  e.job.uid = a.copy(w.job_uid);
  e.job.namespace_ = w.namespace_.text();
  e.slice_name = a.copy(w.slice_name);
  e.message = a.copy(replaced_message(e.replacement.uid, w.job_uid));
  const auto delta = slice_delta(assignment, old.effective);
  auto amounts = a.make<ResourceAmount>(delta.size());
  for (std::size_t i = 0; i < delta.size(); ++i) amounts[i] = {delta[i].first.text(), delta[i].second};
  e.delta = amounts;
  auto counts = a.make<PodSetCount>(assignment.size());
  for (std::size_t i = 0; i < assignment.size(); ++i) counts[i] = {assignment[i].pod_set.text(), assignment[i].count};
  e.counts = counts;
  return e;
}

}  // namespace

/// §3.13 step 7: who lost nodes, or has had no places yet, gets some before anybody is admitted, so that nobody else takes them; the first
/// in the order of entries first. True: there is something to say, and the cycle ends with that. Who waits for pods that are not ready does
/// not hold this up (TAS-94).
bool CohortTree::run_second_passes(const Context& c) {
  const Settings& settings = c.catalog->settings;
  std::vector<std::shared_ptr<const Reservation>> waiting;
  const auto add = [&](WorkloadId id) {
    if (const auto* entry = tree_->find_reservation(id)) waiting.push_back(entry->reservation);
  };
  if (settings.replace_nodes)
    for (const WorkloadId id : failed_) add(id);
  for (const auto& [id, due] : placeless_)
    if (due <= c.now) add(id);
  if (waiting.empty() || !settings.topologies) return false;
  refresh_room(c);
  if (!room_) return false;
  std::sort(waiting.begin(), waiting.end(), [](const auto& a, const auto& b) {
    const auto rank = [](const WorkloadInfo& w) { return std::tuple(-std::int64_t{w.priority}, w.queue_time, std::string_view(w.uid)); };
    return rank(*a->workload) < rank(*b->workload);
  });
  const PodPlacer placer(*room_, settings, *tree_, &c.catalog->checks);
  proposal_.most = c.step_bytes;
  for (const auto& r : waiting) {
    if (proposal_.full()) break;
    const std::string why_not = r->unhealthy_nodes.empty() ? find_places(*r, placer, c) : replace_nodes(*r, placer, c);
    if (c.trace != nullptr) c.trace->second_pass(root_, *r->workload, !r->unhealthy_nodes.empty(), why_not);
  }
  for (const auto& r : waiting) room_->reserve(*r);  // until the step is applied
  return !proposal_.events.empty();
}

/// Others of this step see it.
void CohortTree::take_places(const Reservation& reservation, const std::vector<PodSetReservation>& changed, std::uint32_t rules) {
  Reservation now = reservation;
  for (const auto& another : changed) {
    for (auto& p : now.pod_sets)
      if (another.pod_set == p.pod_set) p = another;
    if (rules < rules_with_elastic_repairs) continue;
    for (auto& p : now.effective)
      if (another.pod_set == p.pod_set) p.topology = another.topology;
  }
  room_->reserve(now);
}

/// TAS-98, TAS-99.
std::string CohortTree::replace_nodes(const Reservation& r, const PodPlacer& placer, const Context& c) {
  const Settings& settings = c.catalog->settings;
  Arena& a = *proposal_.arena;
  const auto& queue = tree_->queue(tree_->find_reservation(r.workload->id)->queue);
  const auto replaced = replace_failed_nodes(r, queue, placer, settings);
  if (replaced) {
    take_places(r, *replaced, c.rules);
    auto nodes = a.make<Text>(r.unhealthy_nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = a.copy(r.unhealthy_nodes[i].text());
    proposal_.events.emplace_back(TopologyReassigned{ref(*r.workload, a), nodes, view(*replaced, a), false});
  } else if (settings.replace_or_evict) {
    WorkloadEvicted e;
    e.workload = ref(*r.workload, a);
    e.reason = "NodeFailures";
    e.message = proposal_.message(replaced.error());
    proposal_.events.emplace_back(e);
  }
  return replaced ? std::string() : replaced.error();
}

/// TAS-91, TAS-92.
std::string CohortTree::find_places(const Reservation& r, const PodPlacer& placer, const Context& c) {
  Arena& a = *proposal_.arena;
  const auto placed = place_delayed(r, tree_->queue(tree_->find_reservation(r.workload->id)->queue), placer);
  if (placed) {
    take_places(r, *placed, c.rules);
    proposal_.events.emplace_back(TopologyAssigned{ref(*r.workload, a), view(*placed, a)});
  } else {
    proposal_.events.emplace_back(SecondPassFailed{ref(*r.workload, a), proposal_.message(placed.error()), r.second_passes + 1});
  }
  return placed ? std::string() : placed.error();
}

/// More than a step takes is decided in several cycles. Those whose turn came first stay, for they were judged without the others, and the
/// first in any case; the others wait in their queues as if there had been no cycle.
void CohortTree::keep_first(Proposal& p, std::vector<Said>& said) {
  std::vector<const Said*> in_turn;
  for (const Said& s : said) in_turn.push_back(&s);
  std::sort(in_turn.begin(), in_turn.end(), [](const Said* a, const Said* b) { return a->turn < b->turn; });
  std::size_t bytes = 0, kept = 0;
  while (kept < in_turn.size() && bytes < p.most) bytes += in_turn[kept++]->bytes;
  if (kept == in_turn.size()) return;
  const std::uint32_t left_from = in_turn[kept]->turn;
  std::erase_if(said, [&](const Said& s) { return s.turn >= left_from; });
  Proposal all = std::move(p);
  p = Proposal{};
  p.arena = std::move(all.arena);
  p.most = all.most;
  for (const Said& s : said)
    p.events.insert(p.events.end(), all.events.begin() + static_cast<std::ptrdiff_t>(s.first),
                    all.events.begin() + static_cast<std::ptrdiff_t>(s.end));
}

/// Round after round, until one is the last, or the next heads are not known yet, or something is counted for the next one.
void CohortTree::decide(const Context& c, Outbox& out) {
  if (!count_in_parts(c, out)) decide_counted(c, out);
}

void CohortTree::decide_counted(const Context& c, Outbox& out) {
  do {
    const auto context = context_of_round(c);
    // Who follows is told of the cycle that counts.
    if (context.claims == nullptr && context.trace != nullptr) context.trace->round_begins(root_);
    CycleContext first = context;
    if (context.claims != nullptr) first.trace = nullptr;
    tried_ = admission::run_cycle(*tree_, heads_of_round(), first);
    if (context.claims != nullptr && may_be_undone(*tree_, tried_) && ask_for_next(out)) return;
  } while (goes_on(c, out) && !count_in_parts(c, out));
}

/// True: there is another round, of other heads. Else the cycle is over, or somebody has been asked.
bool CohortTree::goes_on(const Context& c, Outbox& out) {
  const auto context = context_of_round(c);
  if (context.claims != nullptr && (context.trace != nullptr || may_be_undone(*tree_, tried_))) {
    if (context.trace != nullptr) context.trace->round_begins(root_);
    tried_ = look_ahead(*tree_, heads_of_round(), std::move(tried_), context);
  }
  const bool another = end_round(std::exchange(tried_, {}), c);
  if (another && ask_for_more(out)) return false;
  if (another && take_next_heads()) return true;
  finish(c, out);
  return false;
}

/// What heads will ask of a large topology for the first time is counted by its parts, before the round; true: it is under way. What is not
/// foreseen here is counted when it is asked.
bool CohortTree::count_in_parts(const Context& c, Outbox& out) {
  constexpr std::size_t parts_max = 64;
  refresh_room(c);
  if (!room_ || room_->largest() < 2 * c.part_leaves) return false;
  const PodPlacer placer(*room_, c.catalog->settings, *tree_, &c.catalog->checks);
  auto questions = std::make_shared<std::vector<std::shared_ptr<topology::FirstCount>>>();
  std::size_t leaves = 0;
  counted_flavors_.clear();
  for (const auto& [queue, offer] : offers_) {
    const NodeIndex node = tree_->find_queue(queue);
    if (node == no_node) continue;
    for (auto& first : placer.first_counts(*offer.head->head.workload, tree_->queue(node))) {
      const std::size_t size = first.count->leaves();
      const auto same = [&](const auto& known) { return known->asks_the_same_as(*first.count); };
      if (size < 2 * c.part_leaves || std::any_of(questions->begin(), questions->end(), same)) continue;
      if (questions->size() >= topology::FreeLeaves::questions_kept(size)) break;
      leaves = std::max(leaves, size);
      counted_flavors_.push_back(first.flavor);
      questions->push_back(std::move(first.count));
    }
  }
  if (questions->empty()) return false;
  const std::size_t parts = std::clamp<std::size_t>(leaves / c.part_leaves, 2, parts_max);
  for (const auto& question : *questions) question->divide(parts);
  counting_ = questions;
  answers_missing_ = static_cast<std::uint32_t>(parts);
  for (std::uint32_t part = 0; part < parts; ++part) out.send(tree_address(root_), topology_address(part), msg::CountLeaves{questions});
  return true;
}

void CohortTree::take_counts() {
  for (std::size_t i = 0; i < counting_->size(); ++i) room_->keep(counted_flavors_[i], std::move(*(*counting_)[i]));
  counting_.reset();
}

namespace {

/// The outcome parks the head and all that is equal to it, and does nothing else.
bool parks_group(const Outcome& o, const msg::HeadOffered& offer) {
  return o.kind == Outcome::Kind::requeue && fits_nowhere(o.requeue_reason) && !offer.head.strict && !offer.one_of_family &&
         !o.scan.unfinished() && o.victims.empty() && o.workload->equivalence_hash != 0;
}

}  // namespace

std::vector<Head> CohortTree::heads_of_round() {
  std::vector<Head> heads;
  heads.reserve(offers_.size());
  for (auto& [queue, offer] : offers_) {
    tree_->set_generation(queue, offer.head->generation);
    heads.push_back(offer.head->head);
    heads.back().alone = offer.head->alone && waiting_.size() == 1;
    for (const auto& sibling : offer.head->siblings) heads.back().siblings.push_back(sibling.head);
    offer.parked = false;
  }
  return heads;
}

CycleContext CohortTree::context_of_round(const Context& c) {
  refresh_room(c);
  auto context = make_cycle_context(c, cycle_);
  context.admitted_not_ready |= blocked_;
  context.room = room_ ? &*room_ : nullptr;
  context.claims = c.catalog->settings.claim_duration.micros > 0 ? c.claims : nullptr;
  context.trace = c.trace;
  return context;
}

/// Who is next in the queues that get something? False: nobody is asked.
bool CohortTree::ask_for_next(Outbox& out) {
  for (const Outcome& o : tried_) {
    if (o.kind != Outcome::Kind::admit || offers_.at(o.cluster_queue).head->alone) continue;
    ++answers_missing_;
    out.send(tree_address(root_), queue_address(o.cluster_queue), msg::OfferNext{o.workload->id, cycles_ahead});
  }
  return answers_missing_ != 0;
}

/// True: another round may follow, for all that came out of this one is that some heads are parked.
bool CohortTree::end_round(const std::vector<Outcome>& outcomes, const Context& c) {
  proposal_.most = c.step_bytes;
  bool parked = false, else_too = false;
  for (const auto& o : outcomes) {
    Said s{turns_ + o.turn, proposal_.events.size(), 0, proposal_.bytes(), {}};
    propose(o, c, proposal_, s.admits);
    s.end = proposal_.events.size();
    s.bytes = proposal_.bytes() - s.bytes;
    const bool speaks = s.first != s.end;
    if (c.trace != nullptr) c.trace->proposed(o, {proposal_.events.begin() + static_cast<std::ptrdiff_t>(s.first), proposal_.events.end()});
    if (speaks) said_.push_back(std::move(s));
    Offer& offer = offers_.at(o.cluster_queue);
    offer.parked = parks_group(o, offer_of(o));
    parked |= offer.parked;
    else_too |= speaks && !offer.parked;
  }
  if (c.trace != nullptr) c.trace->round_ends();
  turns_ += static_cast<std::uint32_t>(outcomes.size());
  return c.rules >= rules_with_rounds && parked && !else_too && turns_ < heads_of_a_cycle && !proposal_.full();
}

/// The queues whose head was parked know who is next.
bool CohortTree::ask_for_more(Outbox& out) {
  for (auto& [queue, offer] : offers_) {
    if (!offer.parked || offer.all || offer.taken < offer.more.size()) continue;
    ++answers_missing_;
    const std::size_t known = offer.more.size();
    out.send(tree_address(root_), queue_address(queue), msg::OfferMore{offer.first, known, std::max<std::size_t>(4, known)});
  }
  return answers_missing_ != 0;
}

/// The heads of the next round; false: there is none.
bool CohortTree::take_next_heads() {
  for (auto it = offers_.begin(); it != offers_.end();) {
    Offer& offer = it->second;
    if (offer.parked && offer.taken == offer.more.size()) {
      if (!offer.all) return false;
      it = offers_.erase(it);
      continue;
    }
    if (offer.parked) *offer.head = std::move(offer.more[offer.taken++]);
    ++it;
  }
  return !offers_.empty();
}

void CohortTree::finish(const Context& c, Outbox& out) {
  const std::size_t all = said_.size();
  if (proposal_.full() && !said_.empty()) keep_first(proposal_, said_);
  (void)proposal_.bytes();
  if (c.trace != nullptr) {
    const auto last = std::max_element(said_.begin(), said_.end(), [](const Said& a, const Said& b) { return a.turn < b.turn; });
    c.trace->tree_ends(root_, proposal_.arena, proposal_.events.size(), said_.size() < all ? std::optional(last->turn) : std::nullopt);
  }
  std::optional<msg::EntryRank> admits;
  for (Said& s : said_)
    if (!admits) admits = std::move(s.admits);
  offers_.clear();
  said_.clear();
  out.send(tree_address(root_), domain_address, msg::Proposed{std::exchange(proposal_, Proposal{}), std::move(admits)});
}

/// What was offered of the workload that the outcome is about.
const msg::HeadOffered& CohortTree::offer_of(const Outcome& o) const {
  const msg::HeadOffered& head = *offers_.at(o.cluster_queue).head;
  for (const auto& sibling : head.siblings)
    if (sibling.head.workload->id == o.workload->id) return sibling;
  return head;
}

void CohortTree::propose(const Outcome& o, const Context& c, Proposal& p, std::optional<msg::EntryRank>& admits) const {
  if (o.kind == Outcome::Kind::drop) return;
  const msg::HeadOffered& offer = offer_of(o);
  const WorkloadInfo& w = *o.workload;
  Arena& a = *p.arena;
  if (o.kind == Outcome::Kind::admit) {
    QuotaReserved e;
    e.workload = ref(w, a);
    e.cluster_queue = o.cluster_queue.text();
    e.assignments = view(o.assignment, a);
    e.borrowing_level = o.borrowing_level;
    e.plan = view(o.plan, a);
    const auto required = required_checks(*c.catalog->queue(o.cluster_queue), &o.assignment);
    e.admitted =
        std::none_of(o.assignment.begin(), o.assignment.end(), [](const auto& one) { return one.delayed == DelayedTopology::pending; }) &&
        std::all_of(required.begin(), required.end(),
                    [&](const Symbol& k) { return std::find(w.ready_checks.begin(), w.ready_checks.end(), k) != w.ready_checks.end(); });
    const auto entry = tree_->entry_of(w.replaces);
    const bool replaces = entry != FlatIndex::none && tree_->entry(entry).queue == tree_->find_queue(o.cluster_queue);
    if (replaces) e.replaces = ref(*tree_->entry(entry).reservation->workload, a);
    p.events.emplace_back(e);
    if (w.option != nullptr && e.admitted)  // the job has a place from this record on (CA-41)
      p.events.emplace_back(OptionAdmitted{{a.copy(w.option->family), w.namespace_.text(), a.copy(w.option->parent_name)}, e.workload});
    if (replaces && e.admitted) p.events.emplace_back(replacement(w, o.assignment, *tree_->entry(entry).reservation, a));
    if (c.catalog->settings.block_admission) admits = msg::EntryRank{o.borrowing_level, w.priority, w.queue_time, w.uid};
    return;
  }
  if (o.kind == Outcome::Kind::migrate) {
    WorkloadEvicted gone;
    gone.workload = {a.copy(w.option->running_uid), w.namespace_.text(), a.copy(w.option->running_name)};
    gone.reason = "FlavorMigration";
    gone.message = p.message(migrated_message(w.uid));
    p.events.emplace_back(gone);
    MigrationStarted e;
    e.workload = ref(w, a);
    e.parent = {a.copy(w.option->family), w.namespace_.text(), a.copy(w.option->parent_name)};
    e.from = gone.workload;
    e.cluster_queue = o.cluster_queue.text();
    e.assignments = view(o.assignment, a);
    p.events.emplace_back(e);
    if (c.catalog->settings.block_admission) admits = msg::EntryRank{o.borrowing_level, w.priority, w.queue_time, w.uid};
  }
  const std::size_t before = p.bytes();
  for (const auto& v : o.victims) {
    // Thousands of small ones may have to go. Those that are not told now are told in the next cycles, for they are victims there, too.
    if (p.bytes() - before >= p.most) break;
    const auto* victim = tree_->find_reservation(v.workload);
    WorkloadPreempted e;
    e.workload = ref(*victim->reservation->workload, a);
    e.preemptor = ref(w, a);
    e.preemptor_cluster_queue = o.cluster_queue.text();
    e.reason = v.reason.text();
    e.message = a.copy(v.message);
    p.events.emplace_back(e);
  }
  EntryRequeued e;
  e.workload = ref(w, a);
  e.cluster_queue = o.cluster_queue.text();
  e.requeue_reason = o.requeue_reason;
  e.to_heap = returns_to_heap(o, offer);
  e.write_status = !o.reason.empty();
  e.reason = o.reason.text();
  e.message = a.copy(o.message);
  auto progress = a.make<ScanProgress>(o.scan.entries.size());
  for (std::size_t i = 0; i < o.scan.entries.size(); ++i)
    progress[i] = {o.scan.entries[i].pod_set.text(), o.scan.entries[i].resource.text(), o.scan.entries[i].flavor_index};
  e.progress = progress;
  e.scan_generation = offer.generation;
  e.preemption_skipped = o.preemption_skipped;
  e.recomputed = o.recomputed;
  if (o.claimant != nullptr) e.claimant = ref(*o.claimant, a);
  if (!e.to_heap && fits_nowhere(o.requeue_reason) && !offer.head.strict) e.bulk_parked = offer.equals;

  // a head that would be put back as it was is no event: the cycle is at rest for it (D10)
  const bool same_status = !e.write_status || (w.pending_reason == o.reason && w.pending_message == o.message);
  const bool becomes_sticky = keeps_its_turn(o.requeue_reason) && !offer.sticky;
  const bool same_scan = o.scan.entries == offer.head.scan.entries && !(o.scan_began_anew && c.rules >= rules_with_scans_begun_anew);
  const bool claims_anew = o.claimant != nullptr && c.claims != nullptr && !c.claims->is_known(o.claimant->uid);
  if (e.to_heap && same_status && !becomes_sticky && o.victims.empty() && same_scan && !claims_anew) return;
  p.events.emplace_back(e);
}

}  // namespace hindsight::admission
