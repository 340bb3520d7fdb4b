#pragma once

#include <cstddef>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "vocabulary/record.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::page::timeline {

/// Since when whoever waits longest for quota does, of a state: it looks at all Workloads. Never: nobody waits.
[[nodiscard]] Time longest_wait_of(const admission::StateView& state);

/// The same while records are folded, without a look at all Workloads: those that a record names may wait from then on, and whether they
/// do is looked at when they are the oldest. Give it each record after it was applied. Not thread-safe.
class LongestWait {
 public:
  /// A state that was not folded under its eyes: everybody who waits in it.
  void begin(const admission::StateView& state);
  void after(const RecordView& record, const admission::StateView& state);
  /// Of the state now. Never: nobody waits.
  [[nodiscard]] Time since(const admission::StateView& state);

 private:
  struct One {
    Time since;
    std::string uid;
    bool operator>(const One& other) const { return since > other.since; }
  };
  using Line = std::priority_queue<One, std::vector<One>, std::greater<>>;

  void meet(std::string_view uid, const admission::StateView& state);
  void put(Time since, std::string uid);

  Line line_;                                        ///< The oldest first; some of them wait no more.
  std::unordered_map<std::string, Time> stands_in_;  ///< By uid, since when, as it stands in the line.
  std::size_t look_again_at_ = 4096;                 ///< When the line is so long, those that wait no more are taken out.
};

}  // namespace hindsight::page::timeline
