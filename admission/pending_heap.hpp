#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "vocabulary/time.hpp"

namespace hindsight::admission {

/// The order of pending workloads: priority, then queue timestamp, then uid (§3.2). `uid` must live as long as the element is in a heap.
struct QueueRank {
  QueueRank(std::int64_t priority_, Time time_, std::string_view uid_) : priority(priority_), time(time_), uid(uid_) {}
  std::int64_t priority;
  Time time;
  std::string_view uid;
  [[nodiscard]] bool before(const QueueRank& o) const {
    if (priority != o.priority) return priority > o.priority;
    if (time != o.time) return time < o.time;
    return uid < o.uid;
  }
};

/// A heap by rank, which nearly always decides without a look at the elements. Elements are any T with `std::size_t place`, in which the
/// heap notes where they are, so that each of them can be taken out; they must not move meanwhile.
template <class T, class Rank = QueueRank>
class PendingHeap {
 public:
  static constexpr std::size_t nowhere = ~std::size_t{0};  ///< Of an element that is in no heap.

  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  [[nodiscard]] T& top() const { return *nodes_.front().element; }
  [[nodiscard]] const Rank& top_rank() const { return nodes_.front().rank; }

  /// `element` must be nowhere.
  void push(T& element, const Rank& rank) {
    nodes_.push_back({rank, &element});
    rise(nodes_.size() - 1);
  }

  /// `element` must be here.
  void erase(T& element) {
    const std::size_t hole = element.place;
    element.place = nowhere;
    if (hole + 1 == nodes_.size()) {
      nodes_.pop_back();
      return;
    }
    nodes_[hole] = nodes_.back();
    nodes_.pop_back();
    if (hole != 0 && nodes_[hole].rank.before(nodes_[parent(hole)].rank))
      rise(hole);
    else
      sink(hole);
  }

 private:
  struct Node {
    Rank rank;
    T* element;
  };
  static constexpr std::size_t children = 4;  ///< Of a node: fewer levels than a binary heap, each within one or two cache lines.
  [[nodiscard]] static std::size_t parent(std::size_t i) { return (i - 1) / children; }

  void put(std::size_t i, const Node& n) {
    nodes_[i] = n;
    n.element->place = i;
  }
  void rise(std::size_t i) {
    const Node n = nodes_[i];
    while (i != 0 && n.rank.before(nodes_[parent(i)].rank)) {
      put(i, nodes_[parent(i)]);
      i = parent(i);
    }
    put(i, n);
  }
  void sink(std::size_t i) {
    const Node n = nodes_[i];
    for (;;) {
      const std::size_t first = i * children + 1;
      if (first >= nodes_.size()) break;
      std::size_t best = first;
      for (std::size_t c = first + 1; c < first + children && c < nodes_.size(); ++c)
        if (nodes_[c].rank.before(nodes_[best].rank)) best = c;
      if (!nodes_[best].rank.before(n.rank)) break;
      put(i, nodes_[best]);
      i = best;
    }
    put(i, n);
  }

  std::vector<Node> nodes_;
};

/// The pending workloads of a ClusterQueue in lanes: the lane with the lowest usage is served first, among equal ones that whose first
/// workload ranks first. Without admission fair sharing all are in one lane; with it each LocalQueue has its own (BA-164), so that a change
/// of its usage moves one lane and no workload. T is as in PendingHeap.
template <class T>
class PendingLanes {
 public:
  struct Lane {
    PendingHeap<T> heap;
    double usage = 0;
    std::size_t place = PendingHeap<T>::nowhere;  ///< Among the lanes that are not empty.
  };

  [[nodiscard]] bool empty() const { return lanes_.empty(); }
  [[nodiscard]] Lane& first() const { return lanes_.top(); }
  [[nodiscard]] T& top() const { return lanes_.top().heap.top(); }

  /// `element` must be nowhere; the lane must not move while it has elements.
  void push(Lane& lane, T& element, const QueueRank& rank) {
    const bool leads = lane.heap.empty() || rank.before(lane.heap.top_rank());
    if (leads) leave(lane);
    lane.heap.push(element, rank);
    if (leads) enter(lane);
  }
  /// `element` must be in this lane.
  void erase(Lane& lane, T& element) {
    const bool leads = &lane.heap.top() == &element;
    if (leads) leave(lane);
    lane.heap.erase(element);
    if (leads) enter(lane);
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
  void leave(Lane& lane) {
    if (lane.place != PendingHeap<T>::nowhere) lanes_.erase(lane);
  }
  void enter(Lane& lane) {
    if (!lane.heap.empty()) lanes_.push(lane, {lane.usage, lane.heap.top_rank()});
  }

  PendingHeap<Lane, LaneRank> lanes_;
};

}  // namespace hindsight::admission
