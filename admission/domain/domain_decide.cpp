// What the domain decides: whom it asks in which order, what becomes one step, and when there is nothing to decide any more.

#include "admission/domain/domain.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "admission/domain/event_subjects.hpp"
#include "admission/rules.hpp"

namespace hindsight::admission {

bool Domain::start_deciding(Outbox& out) {
  if (!contenders_.empty()) {  // the second half of a cycle: these know now that they may not admit
    for (const Symbol& root : std::exchange(contenders_, {})) {
      ++waiting_for_;
      out.send(domain_address, tree_address(root), msg::RunCycle{cycles_ + 1, true});
    }
    return true;
  }
  step_ = Step{};
  step_.base = sequence_;
  step_.time = now_;
  answers_.clear();
  answers_bytes_ = 0;
  circling_.clear();
  admitting_.clear();
  waiting_for_ = 0;
  if (!synced_) return false;
  for (const auto kinds = kinds_in_order(); asked_kinds_ < kinds.size();) {
    step_.kind = kinds[asked_kinds_++];
    const bool asked = step_.kind == StepKind::life_cycle ? ask_parents(out)
                       : step_.kind == StepKind::timers   ? ask_timers()
                                                          : ask_trees(out);
    if (asked) return true;
  }
  return false;
}

/// What happened to Workloads comes before who is admitted. But whoever keeps changing Workloads must not keep others from being admitted:
/// after so many steps of the one kind the other goes first, whatever else there is to say.
std::span<const StepKind> Domain::kinds_in_order() const {
  using enum StepKind;
  static constexpr std::array usual{life_cycle, timers, cycle};
  static constexpr std::array overdue{timers, cycle, life_cycle, timers, cycle};
  if (cycle_is_overdue()) return overdue;
  return usual;
}

bool Domain::ask_parents(Outbox& out) {
  while (!due_.empty() && due_.begin()->first <= now_) {  // asked once; what stays due is announced again
    const std::uint32_t parent = due_.begin()->second;
    mark_dirty(parent);
    due_.erase(due_.begin());
    due_of_[parent] = Time::never();
  }
  // What a parent proposes depends on its state and on the catalog. All are asked after a change of the latter, so that a domain that has
  // been running proposes what one that was folded afresh does.
  if (catalog_changed_)
    for (std::uint32_t parent = 0; parent < registry_.parents_end(); ++parent) mark_dirty(parent);
  catalog_changed_ = false;
  for (const std::uint32_t parent : dirty_) {
    is_dirty_[parent] = false;
    if (!registry_.has_parent(parent)) continue;
    ++waiting_for_;
    ++parents_asked_;
    out.send(domain_address, {EntityKind::workload_parent, parent}, msg::Reconcile{});
  }
  dirty_.clear();
  return waiting_for_ != 0;
}

/// The domain answers itself.
bool Domain::ask_timers() {
  Proposal p;
  p.most = step_bytes_;
  for (const auto& [root, due] : reactivations_)
    if (due <= now_ && !p.full()) p.events.emplace_back(TreeReactivated{root.text()});
  if (p.events.empty()) return false;
  answers_.emplace("", Answer{std::move(p)});
  return true;
}

bool Domain::ask_trees(Outbox& out) {
  if (waits_for_writes()) return false;
  for (auto it = second_passes_.begin(); it != second_passes_.end();) {  // asked once; what stays due is announced again
    if (it->second > now_) {
      ++it;
      continue;
    }
    mark_tree(it->first);
    it = second_passes_.erase(it);
  }
  const Time asked = std::exchange(claims_asked_, now_);
  for (const auto& [claimant, claim] : claims_.all()) {  // when one has ended, what was withheld for it has its turn
    const Time end = claim.since + catalog_->settings.claim_duration;
    if (end > asked && end <= now_) mark_tree(catalog_->root_of(claim.cluster_queue));
  }
  for (const Symbol& root : dirty_trees_) {
    ++waiting_for_;
    out.send(domain_address, tree_address(root), msg::RunCycle{cycles_ + 1});
  }
  return waiting_for_ != 0;
}

Domain::Step Domain::take_decisions() {
  if (step_.kind == StepKind::cycle && rules_ >= rules_with_rest_by_tree) rest_where_nothing_is_new();
  if (admitting_.size() > 1) {
    // BA-76: one admission at a time, and the first in the order of entries goes first; nobody else gets quota in this cycle
    const auto first =
        std::min_element(admitting_.begin(), admitting_.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
    for (const auto& [key, rank] : admitting_) {
      if (key == first) continue;
      answers_.erase(key);
      contenders_.emplace_back(key);
    }
    admitting_.clear();
    Step none;
    none.kind = step_.kind;
    return none;
  }
  step_.circling.assign(circling_.begin(), circling_.end());
  circling_.clear();
  if (step_.kind == StepKind::cycle)
    take_cycle();
  else
    fill_step();
  answers_.clear();
  return std::move(step_);
}

/// Of the answers of parents those are kept that go into one step: each whose predecessors, by key, do not fill it. Which ones these are
/// does not depend on the order in which they come, for those before one that was left fill the step from then on. And no more of them is
/// in memory at any time.
void Domain::answered(std::string key, std::uint32_t parent, Proposal proposal) {
  answers_bytes_ += proposal.bytes();
  answers_.emplace(std::move(key), Answer{std::move(proposal), parent});
  while (answers_.size() > 1) {
    const auto last = std::prev(answers_.end());
    const std::size_t before = answers_bytes_ - last->second.proposal.bytes();
    if (before < step_bytes_) return;
    answers_bytes_ = before;
    mark_dirty(last->second.parent);
    answers_.erase(last);
  }
}

/// Takes the first answers, until the step is full.
void Domain::fill_step() {
  std::size_t bytes = 0;
  while (!answers_.empty() && bytes < step_bytes_) {
    Proposal p = std::move(answers_.extract(answers_.begin()).mapped().proposal);
    bytes += p.bytes();
    step_.events.insert(step_.events.end(), p.events.begin(), p.events.end());
    step_.arenas.push_back(std::move(p.arena));
  }
}

/// A tree that would do again what it did before, without news in between, would lead nowhere (D10): it rests until there are some. Each by
/// itself, before any of them is heard: whether the others were asked along with it must not show, because no record tells of a question.
void Domain::rest_where_nothing_is_new() {
  const std::size_t asked = answers_.size();
  for (auto it = answers_.begin(); it != answers_.end();) {
    const auto events = fingerprints(it->second.proposal.events);
    if (!std::ranges::all_of(events, [this](std::uint64_t f) { return was_seen(f); })) {
      ++it;
      continue;
    }
    const Symbol root(it->first);
    is_dirty_tree_[root.id()] = false;
    resting_trees_.insert(root);
    admitting_.erase(it->first);
    it = answers_.erase(it);
  }
  if (answers_.size() != asked) std::erase_if(dirty_trees_, [this](const Symbol& root) { return !is_dirty_tree_[root.id()]; });
}

/// Looked up, and not searched for: without news there is one for every tree that was in a cycle, and one for each of its cycles.
bool Domain::was_seen(std::uint64_t fingerprint) {
  while (seen_indexed_ < seen_cycles_.size()) seen_index_.insert(seen_cycles_[seen_indexed_++]);
  return seen_index_.contains(fingerprint);
}

/// The first trees whose cycle is not the same as one before (D10). Trees that are left stay dirty, and are asked again. By earlier rules
/// all of them together are compared.
void Domain::take_cycle() {
  while (!answers_.empty()) {
    fill_step();
    if (rules_ >= rules_with_rest_by_tree) return;
    const auto f = fingerprints(step_.events);
    if (!was_seen(f.front())) return;
    step_.events.clear();
  }
  forget_dirty_trees();  // at rest until something changes; what does change marks its tree again
}

/// The tree whose cycle decided this; empty: it cannot be told any more.
Symbol Domain::tree_of(const Event& event) const {
  if (const auto* r = std::get_if<EntryRequeued>(&event)) return catalog_->root_of(Symbol(r->cluster_queue));
  if (const auto* q = std::get_if<QuotaReserved>(&event)) return catalog_->root_of(Symbol(q->cluster_queue));
  const auto entry = registry_.find_workload(std::visit(NamedWorkload{}, event));
  if (!entry || entry.id >= workload_places_.size()) return {};
  const WorkloadPlace& place = workload_places_[entry.id];
  if (!place.holder.empty()) return catalog_->root_of(place.holder);
  const auto* queue = catalog_->local_queue(place.member.first, place.member.second);
  return queue == nullptr ? Symbol() : catalog_->root_of(queue->cluster_queue);
}

/// What the events of a cycle come to, tree by tree, in the order of the first ones; by earlier rules, of all in one.
std::vector<std::uint64_t> Domain::fingerprints(std::span<const Event> events) const {
  std::vector<std::pair<Symbol, StateHash>> of_trees;
  for (const Event& e : events) {
    const Symbol tree = rules_ >= rules_with_rest_by_tree ? tree_of(e) : Symbol();
    auto it = std::find_if(of_trees.begin(), of_trees.end(), [&](const auto& x) { return x.first == tree; });
    if (it == of_trees.end()) it = of_trees.insert(of_trees.end(), {tree, StateHash()});
    StateHash& h = it->second;
    h.add(static_cast<std::uint64_t>(e.index()));
    h.add(std::visit(NamedWorkload{}, e));
    if (const auto* r = std::get_if<EntryRequeued>(&e)) {
      h.add(r->requeue_reason);
      h.add(r->to_heap);
      h.add(r->reason);
      h.add(r->message);
      for (const auto& x : r->progress) h.add(x.flavor_index);
      if (!r->claimant.uid.empty()) h.add(r->claimant.uid);
    } else if (const auto* failed = std::get_if<SecondPassFailed>(&e)) {
      h.add(failed->attempt);
    } else if (const auto* q = std::get_if<QuotaReserved>(&e)) {
      for (const auto& a : q->assignments) {
        h.add(a.count);
        for (const auto& f : a.flavors) h.add(f.flavor);
      }
    }
  }
  std::vector<std::uint64_t> out;
  for (const auto& [tree, h] : of_trees) out.push_back(h.value());
  if (out.empty()) out.push_back(StateHash().value());
  return out;
}

}  // namespace hindsight::admission
