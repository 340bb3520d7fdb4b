#pragma once

#include <cstdint>
#include <span>

#include "admission/quota/quota_tree.hpp"
#include "admission/topology/topology_room.hpp"

namespace hindsight::admission {

/// As long as it lives, what these entries of the tree hold, in quota and in the room, counts as free. `room`: null where there are no
/// topologies. The entries must outlive it.
class CountedFree {
 public:
  CountedFree(QuotaTree& tree, topology::TopologyRoom* room, std::span<const std::uint32_t> entries)
      : tree_(tree), room_(room), entries_(entries), mark_(tree.table().mark()) {
    for (const std::uint32_t entry : entries_) tree_.table().remove(tree_.entry(entry).queue, tree_.entry(entry).cells);
    move(-1);
  }
  ~CountedFree() {
    if (entries_.empty()) return;
    tree_.table().rollback(mark_);
    move(1);
  }
  CountedFree(const CountedFree&) = delete;
  CountedFree& operator=(const CountedFree&) = delete;

 private:
  void move(int sign) {
    if (room_ == nullptr) return;
    for (const std::uint32_t entry : entries_) (void)room_->take(room_->free(), tree_.entry(entry).reservation->workload->id, sign);
  }
  QuotaTree& tree_;
  topology::TopologyRoom* room_;
  std::span<const std::uint32_t> entries_;
  QuotaTable::Mark mark_;
};

}  // namespace hindsight::admission
