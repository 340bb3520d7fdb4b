#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "vocabulary/time.hpp"

namespace hindsight::admission {

/// The order of pending workloads: priority, then queue timestamp, then uid (§3.2). Options have the uid of their family and follow each
/// other by rank, so that nobody comes between them (CA-33). `uid` must live as long as the element is in a heap.
struct QueueRank {
  QueueRank(std::int64_t priority_, Time time_, std::string_view uid_, std::uint32_t option_ = 0)
      : priority(priority_), time(time_), uid(uid_), option(option_) {}
  std::int64_t priority;
  Time time;
  std::string_view uid;
  std::uint32_t option;
  [[nodiscard]] bool before(const QueueRank& o) const {
    if (priority != o.priority) return priority > o.priority;
    if (time != o.time) return time < o.time;
    if (const auto order = uid.compare(o.uid); order != 0) return order < 0;
    return option < o.option;
  }
};

/// A heap by rank, which nearly always decides without a look at the elements. Elements are any T with `std::size_t place`, in which the
/// heap notes where they are, so that each of them can be taken out; they must not move meanwhile.
template <class T, class Rank = QueueRank>
class PendingHeap {
 public:
  static constexpr std::size_t nowhere = ~std::size_t{0};  ///< Of an element that is in no heap.

  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] T& top() const { return *nodes_.front().element; }
  [[nodiscard]] const Rank& top_rank() const { return nodes_.front().rank; }

  // The elements as a tree, of which none ranks before the one above it: 0 is the top, and below `i` are `children_of(i)`.
  [[nodiscard]] T& at(std::size_t i) const { return *nodes_[i].element; }
  [[nodiscard]] const Rank& rank_at(std::size_t i) const { return nodes_[i].rank; }
  struct Range {
    std::size_t begin, end;
  };
  [[nodiscard]] Range children_of(std::size_t i) const {
    return {std::min(i * children + 1, size()), std::min(i * children + 1 + children, size())};
  }

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

}  // namespace hindsight::admission
