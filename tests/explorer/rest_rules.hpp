#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "admission/domain/state_view.hpp"
#include "vocabulary/record.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::explorer {

/// What is promised of the order in which queues are served, and of what still waits when a domain is at rest.
class QueueRules {
 public:
  /// To be told of every record, before and after it is applied. Empty, or what a decision got wrong: it gave quota to a workload although
  /// another one of its queue was before it.
  [[nodiscard]] std::string before(const admission::StateView& state, const RecordView& record);
  void after(const admission::StateView& state, const RecordView& record);

  /// When there is nothing left to decide. Empty, or a parked workload that would get quota were it only tried.
  [[nodiscard]] std::string check_rest(const admission::StateView& state);
  [[nodiscard]] std::size_t looked_at() const { return looked_at_; }  ///< Parked workloads that were tried.
  /// Has nothing happened to the tree, since it was woken last, that wakes nobody?
  [[nodiscard]] bool settled(const Symbol& root) const { return !unsettled_.contains(root); }

 private:
  struct BySymbols {
    bool operator()(const std::pair<Symbol, Symbol>& a, const std::pair<Symbol, Symbol>& b) const {
      return a.first != b.first ? ByText{}(a.first, b.first) : ByText{}(a.second, b.second);
    }
  };
  struct ByQueue {
    bool operator()(const std::pair<Symbol, std::uint64_t>& a, const std::pair<Symbol, std::uint64_t>& b) const {
      return a.second != b.second ? a.second < b.second : ByText{}(a.first, b.first);
    }
  };
  /// Trees in which something changed that wakes nobody (§3.7: queues and cohorts that go, stopped LocalQueues) since they were woken last.
  std::set<Symbol, ByText> unsettled_;
  std::set<std::pair<Symbol, Symbol>, BySymbols> missing_;  ///< LocalQueues that went: namespace and name.
  /// Workloads (uids) whose last try ended with flavors left to try, and those whose last try therefore began behind the first flavor: they
  /// are parked without having been held against the flavors before it, as Kueue does (§5.2, BA-90).
  std::set<std::string, std::less<>> unfinished_, resumed_;
  /// Queues and equivalence hashes of those: what is pushed with one of them later is parked beside them.
  std::set<std::pair<Symbol, std::uint64_t>, ByQueue> resumed_equals_;
  std::uint64_t decided_ = 0;  ///< Sequence of the last decision.
  std::size_t looked_at_ = 0;
};

/// Finds two Workloads that keep evicting each other while nothing happens outside.
class EvictionPairs {
 public:
  /// What was counted so far says nothing any more: somebody changed the world.
  void outside_event() { preempted_.clear(); }
  /// Empty, or the pair: each of the two has preempted the other `often` times.
  [[nodiscard]] std::string see(const RecordView& record);

  /// More often than a domain allows (Settings::repeated_preemptions), though some of what happened outside before is told late.
  static constexpr int often = 10;

 private:
  std::map<std::pair<std::string, std::string>, int> preempted_;  ///< Victim, preemptor (uids) → how often.
};

}  // namespace hindsight::explorer
