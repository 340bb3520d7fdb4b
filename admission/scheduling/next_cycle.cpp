#include "admission/scheduling/next_cycle.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "admission/scheduling/counted_free.hpp"
#include "admission/scheduling/requeue.hpp"
#include "vocabulary/amount.hpp"

namespace hindsight::admission {
namespace {

/// The tree and the room as they are when everything that a cycle decided is true, as long as this lives.
class Afterwards {
 public:
  Afterwards(QuotaTree& tree, topology::TopologyRoom* room, const std::vector<Outcome>& outcomes)
      : tree_(tree), room_(room), mark_(tree.table().mark()) {
    for (const Outcome& o : outcomes) {
      if (o.kind == Outcome::Kind::admit) admit(o);
      for (const auto& v : o.victims) evict(v.workload);
    }
  }
  ~Afterwards() {
    for (auto id = admitted_.rbegin(); id != admitted_.rend(); ++id) {
      if (room_ != nullptr) room_->release(*id);
      tree_.dismiss(*id);
    }
    for (const std::uint32_t entry : evicted_) set_evicted(entry, false);
    tree_.table().rollback(mark_);
  }
  Afterwards(const Afterwards&) = delete;
  Afterwards& operator=(const Afterwards&) = delete;

 private:
  void admit(const Outcome& o) {
    auto r = std::make_shared<Reservation>();
    r->workload = o.workload;
    if (o.workload->evicted || o.workload->reserved_at.is_set()) {  // that was its former place
      auto info = std::make_shared<WorkloadInfo>(*o.workload);
      info->evicted = false;
      info->reserved_at = Time::never();
      info->queue_time = info->created;
      r->workload = std::move(info);
    }
    r->pod_sets = o.assignment;
    const NodeIndex queue = tree_.find_queue(o.cluster_queue);
    std::map<CellIndex, Amount> asked;
    for (const PodSetReservation& p : o.assignment)
      for (std::size_t i = 0; i < p.usage.size(); ++i) {
        Amount& sum = asked[tree_.find_cell(p.flavors[i].second, p.usage[i].first)];
        sum = add(sum, p.usage[i].second);
      }
    take_over(o.workload->replaces, asked);
    if (const auto& option = o.workload->option) {
      take_over(option->running, asked);
      if (option->held) take_over(option->parent, asked);
    }
    std::vector<CellAmount> charged;
    for (const auto& [cell, amount] : asked) {
      if (amount <= 0) continue;
      const QuotaTable::Column& column = tree_.table().columns()[cell];
      r->charges.push_back({column.flavor, column.resource, amount});
      charged.push_back({cell, amount});
    }
    tree_.table().add(queue, charged);
    if (room_ != nullptr) room_->reserve(*r);
    tree_.admit_on_trial(queue, std::move(r));
    admitted_.push_back(o.workload->id);
  }

  /// What its job holds already is charged, and it is charged what it needs beyond that.
  void take_over(WorkloadId id, std::map<CellIndex, Amount>& asked) const {
    const std::uint32_t entry = tree_.entry_of(id);
    if (entry == FlatIndex::none) return;
    for (const CellAmount& held : tree_.entry(entry).cells)
      if (const auto it = asked.find(held.cell); it != asked.end()) it->second = subtract(it->second, held.amount);
  }

  void evict(WorkloadId id) {
    const std::uint32_t entry = tree_.entry_of(id);
    if (entry == FlatIndex::none || holder(entry).evicted) return;
    set_evicted(entry, true);
    evicted_.push_back(entry);
  }
  void set_evicted(std::uint32_t entry, bool evicted) {
    holder(entry).evicted = evicted;
    tree_.queue(tree_.entry(entry).queue).ranked_at = Time::never();
  }
  [[nodiscard]] QuotaTree::Holder& holder(std::uint32_t entry) {
    return tree_.queue(tree_.entry(entry).queue).holders[tree_.entry(entry).position];
  }

  QuotaTree& tree_;
  topology::TopologyRoom* room_;
  QuotaTable::Mark mark_;
  std::vector<WorkloadId> admitted_;
  std::vector<std::uint32_t> evicted_;
};

using ByWorkload = std::unordered_map<WorkloadId, const Outcome*>;

/// Is it the head of its queue in the next cycle, too?
bool stays(const Head& head, const Outcome& o) {
  if (o.kind == Outcome::Kind::migrate) return true;
  if (o.kind != Outcome::Kind::requeue) return false;
  if (head.strict || o.scan.unfinished()) return o.requeue_reason != RequeueReason::namespace_mismatch;
  return keeps_its_turn(o.requeue_reason) || o.requeue_reason == RequeueReason::failed_after_nomination ||
         o.requeue_reason == RequeueReason::preemption_failed;
}

std::vector<Head> heads_of_next(const std::vector<Head>& heads, const std::vector<Outcome>& outcomes) {
  ByWorkload came_to;
  for (const Outcome& o : outcomes) came_to.emplace(o.workload->id, &o);
  std::vector<Head> out;
  for (const Head& head : heads) {
    const auto found = came_to.find(head.workload->id);
    if (found == came_to.end()) continue;
    const Outcome& o = *found->second;
    const auto served = [&](const Head& sibling) {
      const auto it = came_to.find(sibling.workload->id);
      return it != came_to.end() && it->second->kind == Outcome::Kind::admit;
    };
    if (stays(head, o) && std::ranges::none_of(head.siblings, served)) {
      Head& again = out.emplace_back(head);
      again.scan = o.scan;
      again.preemptor = keeps_its_turn(o.requeue_reason);
    } else if (head.next != nullptr && o.kind == Outcome::Kind::admit) {
      out.push_back(*head.next);
    }
  }
  return out;
}

/// One that stands for what its job holds already is not withheld.
bool may_be_withheld(const Outcome& o) {
  const OptionInfo* const option = o.workload->option.get();
  return o.kind == Outcome::Kind::admit && o.workload->replaces == no_workload &&
         (option == nullptr || (option->running == no_workload && !option->held));
}

bool borrows(const Outcome& o) { return o.borrowing_level > 0 && may_be_withheld(o); }

/// The cycles after one, as they would be.
class NextCycles {
 public:
  /// `turns`: how many heads may have their turn; what is left of them on return.
  NextCycles(QuotaTree& tree, const std::vector<Outcome>& outcomes, const CycleContext& context, std::size_t& turns)
      : tree_(tree), outcomes_(outcomes), context_(context), then_(context), turns_(turns) {
    then_.claims = nullptr;
    then_.trace = nullptr;
    then_.withheld = nullptr;
    for (const Outcome& o : outcomes) {
      first_.emplace(o.workload->id, &o);
      if (borrows(o)) borrowed_.try_emplace(o.cluster_queue, &o);
    }
  }

  /// What the first of them undoes that undoes anything.
  std::vector<Withheld> undo(std::vector<Head> heads) {
    play(std::move(heads), outcomes_, cycles_ahead);
    return std::move(undone_);
  }

 private:
  void play(std::vector<Head> heads, const std::vector<Outcome>& before, std::size_t cycles) {
    heads = heads_of_next(heads, before);
    if (heads.empty()) return;
    ++then_.cycle;
    const Afterwards afterwards(tree_, context_.room, before);
    pass(heads.size());
    const auto outcomes = run_cycle(tree_, heads, then_);
    for (const Outcome& o : outcomes)
      if (!o.victims.empty() && context_.claims->may_claim(o.workload->uid, context_.now, context_.settings->claim_duration))
        look_at(o, heads);
    if (undone_.empty() && cycles > 1 && turns_ > 0) play(std::move(heads), outcomes, cycles - 1);
  }

  void pass(std::size_t turns) { turns_ -= std::min(turns_, turns); }

  /// `o` preempts.
  void look_at(const Outcome& o, const std::vector<Head>& heads) {
    std::unordered_set<NodeIndex> met;
    for (const auto& v : o.victims) {
      if (const auto it = first_.find(v.workload); it != first_.end()) {
        if (may_be_withheld(*it->second)) withhold(*it->second, o);
      } else if (const NodeIndex queue = tree_.find_reservation(v.workload)->queue; met.insert(queue).second) {
        // It ran before, and is the better victim of a queue that borrows more since this cycle.
        const auto cause = borrowed_.find(tree_.name(queue));
        if (cause != borrowed_.end() && drives_out(*cause->second, o, heads)) withhold(*cause->second, o);
      }
    }
  }

  /// Would fewer have to go for `o` without the admission?
  [[nodiscard]] bool drives_out(const Outcome& admission, const Outcome& o, const std::vector<Head>& heads) {
    const auto head = std::ranges::find_if(heads, [&](const Head& h) { return h.workload->id == o.workload->id; });
    if (head == heads.end() || turns_ == 0) return false;
    pass(2);
    const std::size_t with = victims_for(*head);
    const std::uint32_t entry = tree_.entry_of(admission.workload->id);
    const CountedFree free(tree_, context_.room, {&entry, 1});
    set_removed(entry, true);
    const std::size_t without = victims_for(*head);
    set_removed(entry, false);
    return without < with;
  }
  [[nodiscard]] std::size_t victims_for(const Head& head) const { return run_cycle(tree_, {head}, then_).front().victims.size(); }
  void set_removed(std::uint32_t entry, bool removed) {
    tree_.queue(tree_.entry(entry).queue).holders[tree_.entry(entry).position].removed = removed;
  }

  void withhold(const Outcome& admission, const Outcome& claimant) {
    const auto before = first_.find(claimant.workload->id);
    if (before != first_.end() ? before->second->turn > admission.turn : claimant.cluster_queue == admission.cluster_queue) return;
    if (withheld_.insert(admission.workload->id).second) undone_.push_back({admission.workload->id, claimant.workload});
  }

  QuotaTree& tree_;
  const std::vector<Outcome>& outcomes_;
  const CycleContext& context_;
  CycleContext then_;
  std::size_t& turns_;
  ByWorkload first_;                                     ///< Of this cycle.
  std::unordered_map<Symbol, const Outcome*> borrowed_;  ///< What each queue borrows for since this cycle.
  std::unordered_set<WorkloadId> withheld_;
  std::vector<Withheld> undone_;
};

}  // namespace

bool may_be_undone(const QuotaTree& tree, const std::vector<Outcome>& outcomes) {
  // Whoever holds no more than its queue's nominal quota is nobody's victim in other queues, and in its own those behind it are none of
  // its betters.
  if (std::ranges::none_of(outcomes, borrows)) return false;
  Symbol reclaims;
  bool others_reclaim = false;
  for (const Outcome& o : outcomes) {
    if (o.cluster_queue == reclaims) continue;
    const NodeIndex queue = tree.find_queue(o.cluster_queue);
    if (queue == no_node || tree.queue(queue).config->reclaim_within_cohort == PreemptionPolicy::never) continue;
    others_reclaim = !reclaims.empty();
    reclaims = o.cluster_queue;
    if (others_reclaim) break;
  }
  return others_reclaim ||
         (!reclaims.empty() && std::ranges::any_of(outcomes, [&](const Outcome& o) { return borrows(o) && o.cluster_queue != reclaims; }));
}

std::vector<Outcome> look_ahead(QuotaTree& tree, const std::vector<Head>& heads, std::vector<Outcome> outcomes,
                                const CycleContext& context) {
  std::vector<Withheld> withheld;
  CycleContext again = context;
  again.trace = nullptr;
  again.withheld = &withheld;
  const bool claims = context.claims != nullptr && context.settings->claim_duration.micros > 0;
  for (std::size_t turns = turns_ahead; claims && turns != 0 && may_be_undone(tree, outcomes); turns -= std::min(turns, heads.size())) {
    auto more = NextCycles(tree, outcomes, context, turns).undo(heads);
    if (more.empty()) break;
    std::ranges::move(more, std::back_inserter(withheld));
    outcomes = run_cycle(tree, heads, again);
  }
  if (context.trace == nullptr) return outcomes;
  again.trace = context.trace;
  return run_cycle(tree, heads, again);
}

}  // namespace hindsight::admission
