#include "admission/scheduling/next_cycle.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

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

/// The tree and the room without one that was admitted, as long as this lives.
class WithoutOne {
 public:
  WithoutOne(QuotaTree& tree, topology::TopologyRoom* room, WorkloadId id)
      : tree_(tree), room_(room), id_(id), entry_(tree.entry_of(id)), mark_(tree.table().mark()) {
    tree_.table().remove(tree_.entry(entry_).queue, tree_.entry(entry_).cells);
    move(true);
  }
  ~WithoutOne() {
    move(false);
    tree_.table().rollback(mark_);
  }
  WithoutOne(const WithoutOne&) = delete;
  WithoutOne& operator=(const WithoutOne&) = delete;

 private:
  void move(bool gone) {
    tree_.queue(tree_.entry(entry_).queue).holders[tree_.entry(entry_).position].removed = gone;
    if (room_ != nullptr) (void)room_->take(room_->free(), id_, gone ? -1 : 1);
  }
  QuotaTree& tree_;
  topology::TopologyRoom* room_;
  WorkloadId id_;
  std::uint32_t entry_;
  QuotaTable::Mark mark_;
};

/// One that stands for what its job holds already is not withheld.
bool may_be_withheld(const Outcome& o) {
  const OptionInfo* const option = o.workload->option.get();
  return o.kind == Outcome::Kind::admit && o.workload->replaces == no_workload &&
         (option == nullptr || (option->running == no_workload && !option->held));
}

}  // namespace

bool may_be_undone(const QuotaTree& tree, const std::vector<Outcome>& outcomes) {
  // Whoever holds no more than its queue's nominal quota is nobody's victim in other queues, and in its own those behind it are none of
  // its betters.
  return std::ranges::any_of(outcomes, [&](const Outcome& o) {
    return o.borrowing_level > 0 && may_be_withheld(o) && std::ranges::any_of(outcomes, [&](const Outcome& other) {
             const NodeIndex queue = other.cluster_queue == o.cluster_queue ? no_node : tree.find_queue(other.cluster_queue);
             return queue != no_node && tree.queue(queue).config->reclaim_within_cohort != PreemptionPolicy::never;
           });
  });
}

std::vector<Withheld> undone_by_next_cycles(QuotaTree& tree, std::vector<Head> heads, const std::vector<Outcome>& outcomes,
                                            const CycleContext& context) {
  std::vector<Withheld> undone;
  ByWorkload first;
  for (const Outcome& o : outcomes) first.emplace(o.workload->id, &o);
  CycleContext then = context;
  then.claims = nullptr;
  then.trace = nullptr;
  then.withheld = nullptr;

  const auto victims_alone = [&](const WorkloadInfo& preemptor) {
    const auto head = std::ranges::find_if(heads, [&](const Head& h) { return h.workload->id == preemptor.id; });
    return head == heads.end() ? 0 : run_cycle(tree, {*head}, then).front().victims.size();
  };
  // What a victim was admitted by; or, if it ran before, what its queue borrowed for in this cycle: whoever is the better victim goes, and
  // not whoever came last. Unless it goes in any case.
  const auto cause_of = [&](WorkloadId victim, const WorkloadInfo& preemptor) -> const Outcome* {
    if (const auto it = first.find(victim); it != first.end()) return it->second;
    const Symbol queue = tree.name(tree.find_reservation(victim)->queue);
    const auto it = std::ranges::find_if(
        outcomes, [&](const Outcome& o) { return o.kind == Outcome::Kind::admit && o.borrowing_level > 0 && o.cluster_queue == queue; });
    if (it == outcomes.end()) return nullptr;
    const std::size_t with = victims_alone(preemptor);
    const WithoutOne without(tree, context.room, it->workload->id);
    return victims_alone(preemptor) < with ? &*it : nullptr;
  };
  const auto play = [&](std::vector<Outcome> last, std::size_t cycles, const auto& next_one) -> void {
    heads = heads_of_next(heads, last);
    if (heads.empty()) return;
    ++then.cycle;
    const Afterwards afterwards(tree, context.room, last);
    last = run_cycle(tree, heads, then);
    for (const Outcome& o : last) {
      if (o.victims.empty() || !context.claims->may_claim(o.workload->uid, context.now, context.settings->claim_duration)) continue;
      const auto before = first.find(o.workload->id);
      for (const auto& v : o.victims) {
        const Outcome* const cause = cause_of(v.workload, *o.workload);
        if (cause == nullptr || !may_be_withheld(*cause)) continue;
        if (before != first.end() ? before->second->turn < cause->turn : o.cluster_queue != cause->cluster_queue)
          undone.push_back({cause->workload->id, o.workload});
      }
    }
    if (undone.empty() && cycles > 1) next_one(std::move(last), cycles - 1, next_one);
  };
  play(outcomes, cycles_ahead, play);
  return undone;
}

}  // namespace hindsight::admission
