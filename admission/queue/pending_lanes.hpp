#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <unordered_map>
#include <vector>

#include "admission/queue/pending_heap.hpp"

namespace hindsight::admission {

/// The pending workloads of a ClusterQueue in lanes: the lane with the lowest usage is served first, among equal ones that whose first
/// workload ranks first. Without admission fair sharing all are in one lane; with it each LocalQueue has its own (BA-164), so that a change
/// of its usage moves one lane and no workload.
///
/// Within a lane, workloads of one equivalence hash form a group. A group is parked and woken as one (§3.6), whatever its size: what was
/// parked with it stays sorted beside the heap. T is as in PendingHeap and also has `Group* group` and `std::uint8_t side`, which are kept
/// here.
template <class T>
class PendingLanes {
 public:
  using Heap = PendingHeap<T>;

  struct Group {
    std::uint64_t hash = 0;
    std::array<Heap, 2> sides;
    std::uint8_t waiting_side = 0;      ///< The other one is parked.
    std::size_t place = Heap::nowhere;  ///< Among the groups of the lane of which some workload waits.

    [[nodiscard]] Heap& waiting() { return sides[waiting_side]; }
    [[nodiscard]] const Heap& waiting() const { return sides[waiting_side]; }
    [[nodiscard]] Heap& parked() { return sides[1U - waiting_side]; }
  };
  struct Lane {
    double usage = 0;
    std::unordered_map<std::uint64_t, Group> groups;  ///< By hash; none is empty.
    PendingHeap<Group> heap;
    std::size_t place = Heap::nowhere;  ///< Among the lanes of which some workload waits.
  };

  [[nodiscard]] bool empty() const { return lanes_.empty(); }
  [[nodiscard]] Lane& first() const { return lanes_.top(); }
  [[nodiscard]] T& top() const { return lanes_.top().heap.top().waiting().top(); }

  [[nodiscard]] static bool waits(const T& element) { return element.group != nullptr && element.side == element.group->waiting_side; }
  [[nodiscard]] static bool is_parked(const T& element) { return element.group != nullptr && element.side != element.group->waiting_side; }

  /// `element` must be nowhere; the lane must not move while it has elements.
  void push(Lane& lane, std::uint64_t hash, T& element, const QueueRank& rank) {
    Group& group = join(lane, hash, element);
    element.side = group.waiting_side;
    const bool leads = group.waiting().empty() || rank.before(group.waiting().top_rank());
    if (leads) leave(lane, group);
    group.waiting().push(element, rank);
    if (leads) enter(lane, group);
  }
  /// As push, but parked with what is equal.
  void push_parked(Lane& lane, std::uint64_t hash, T& element, const QueueRank& rank) {
    Group& group = join(lane, hash, element);
    element.side = 1 - group.waiting_side;
    group.parked().push(element, rank);
  }
  /// Calls `f` with the waiting groups in the order in which they are served if each is parked when its first workload was tried, until `f`
  /// says that it has enough. Costs a logarithm for each of them, whatever waits behind.
  template <class F>
  void visit_groups(F&& f) const {
    struct Next {
      LaneRank rank;
      const Lane* lane;  ///< Null: this is about a lane, which is at `place` among the lanes.
      std::size_t place;
    };
    const auto later = [](const Next& a, const Next& b) { return b.rank.before(a.rank); };
    std::priority_queue<Next, std::vector<Next>, decltype(later)> next(later);
    const auto put_lane = [&](std::size_t i) { next.push({lanes_.rank_at(i), nullptr, i}); };
    const auto put_group = [&](const Lane& lane, std::size_t i) { next.push({{lane.usage, lane.heap.rank_at(i)}, &lane, i}); };
    if (!lanes_.empty()) put_lane(0);
    while (!next.empty()) {
      const Next n = next.top();
      next.pop();
      if (n.lane == nullptr) {
        put_group(lanes_.at(n.place), 0);
        for (auto [i, end] = lanes_.children_of(n.place); i < end; ++i) put_lane(i);
      } else {
        if (!f(n.lane->heap.at(n.place))) return;
        for (auto [i, end] = n.lane->heap.children_of(n.place); i < end; ++i) put_group(*n.lane, i);
      }
    }
  }

  /// Calls `f` with the waiting elements of the lane that is served first, in their order, until `f` says that it has enough. Costs a
  /// logarithm for each of them.
  template <class F>
  void visit_first_lane(F&& f) const {
    if (lanes_.empty()) return;
    struct Next {
      QueueRank rank;
      const Group* group;  ///< Null: this is about a group, which is at `place` among those of the lane.
      std::size_t place;
    };
    const auto later = [](const Next& a, const Next& b) { return b.rank.before(a.rank); };
    std::priority_queue<Next, std::vector<Next>, decltype(later)> next(later);
    const Lane& lane = lanes_.top();
    const auto put_group = [&](std::size_t i) { next.push({lane.heap.rank_at(i), nullptr, i}); };
    const auto put_element = [&](const Group& group, std::size_t i) { next.push({group.waiting().rank_at(i), &group, i}); };
    put_group(0);
    while (!next.empty()) {
      const Next n = next.top();
      next.pop();
      if (n.group == nullptr) {
        put_element(lane.heap.at(n.place), 0);
        for (auto [i, end] = lane.heap.children_of(n.place); i < end; ++i) put_group(i);
      } else {
        if (!f(n.group->waiting().at(n.place))) return;
        for (auto [i, end] = n.group->waiting().children_of(n.place); i < end; ++i) put_element(*n.group, i);
      }
    }
  }

  /// `element` must be in this lane.
  void erase(Lane& lane, T& element) {
    Group& group = *element.group;
    const bool leads = waits(element) && &group.waiting().top() == &element;
    if (leads) leave(lane, group);
    group.sides[element.side].erase(element);
    element.group = nullptr;
    if (leads) enter(lane, group);
    if (group.waiting().empty() && group.parked().empty()) lane.groups.erase(group.hash);
  }

  /// Parks all that waits in the group.
  void park(Lane& lane, Group& group) {
    leave(lane, group);
    group.waiting_side = 1 - gather(group);
  }
  /// Lets all wait that is parked in the group.
  void wake(Lane& lane, Group& group) {
    if (group.parked().empty()) return;
    leave(lane, group);
    group.waiting_side = gather(group);
    enter(lane, group);
  }

  void weigh(Lane& lane, double usage) {
    if (lane.usage == usage) return;
    leave(lane);
    lane.usage = usage;
    enter(lane);
  }

 private:
  struct LaneRank {
    double usage;
    QueueRank first;
    [[nodiscard]] bool before(const LaneRank& o) const { return usage != o.usage ? usage < o.usage : first.before(o.first); }
  };

  static Group& join(Lane& lane, std::uint64_t hash, T& element) {
    Group& group = lane.groups[hash];
    group.hash = hash;
    element.group = &group;
    return group;
  }
  /// Puts all of the group on one side, that which has more already, and says which.
  static std::uint8_t gather(Group& group) {
    const std::uint8_t to = group.sides[0].size() >= group.sides[1].size() ? 0 : 1;
    for (Heap& from = group.sides[1U - to]; !from.empty();) {
      T& element = from.top();
      const QueueRank rank = from.top_rank();
      from.erase(element);
      element.side = to;
      group.sides[to].push(element, rank);
    }
    return to;
  }

  void leave(Lane& lane) {
    if (lane.place != Heap::nowhere) lanes_.erase(lane);
  }
  void enter(Lane& lane) {
    if (!lane.heap.empty()) lanes_.push(lane, {lane.usage, lane.heap.top_rank()});
  }
  void leave(Lane& lane, Group& group) {
    if (group.place == Heap::nowhere) return;
    const bool leads = &lane.heap.top() == &group;
    if (leads) leave(lane);
    lane.heap.erase(group);
    if (leads) enter(lane);
  }
  void enter(Lane& lane, Group& group) {
    if (group.waiting().empty()) return;
    const QueueRank rank = group.waiting().top_rank();
    const bool leads = lane.heap.empty() || rank.before(lane.heap.top_rank());
    if (leads) leave(lane);
    lane.heap.push(group, rank);
    if (leads) enter(lane);
  }

  PendingHeap<Lane, LaneRank> lanes_;
};

}  // namespace hindsight::admission
