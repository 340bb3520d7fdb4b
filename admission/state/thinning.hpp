#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "vocabulary/symbol.hpp"

namespace hindsight::admission {

/// Workloads that wait alike: in one ClusterQueue and one LocalQueue, and with one equivalence hash (§3.6), which has their priority in it.
/// A queue tries the first of them, and parks all others with it.
struct WaitingKind {
  Symbol cluster_queue, namespace_, local_queue;
  std::uint64_t hash = 0;
  /// For look-ups alone: it is not the same in every process.
  friend bool operator<(const WaitingKind& a, const WaitingKind& b) {
    const auto key = [](const WaitingKind& k) { return std::tuple(k.cluster_queue.id(), k.namespace_.id(), k.local_queue.id(), k.hash); };
    return key(a) < key(b);
  }
};

/// How many of each kind a copy has, beside those behind them to which a cycle looks ahead (scheduling/next_cycle.hpp); who stands behind
/// these is left out of it.
struct Thinning {
  std::size_t kept = 2;
  std::map<WaitingKind, std::size_t> kept_of = {};  ///< Of these kinds so many, where that is more.
};

/// Trees of cohorts without those who stand behind others like them (SnapshotCodec::write_thinned).
struct ThinnedTree {
  std::vector<std::byte> bytes;
  /// By uid the Workloads behind whom somebody was left out. As long as each of them waits, and is parked only together with all that are
  /// equal to it, nobody who was left out is looked at, and what is decided is what is decided of all.
  std::map<std::string, WaitingKind, std::less<>> guards;
  std::size_t left_out = 0;
};

}  // namespace hindsight::admission
