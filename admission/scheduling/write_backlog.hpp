#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "admission/model/state_field.hpp"
#include "vocabulary/state_hash.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::admission {

/// Admissions that were decided and that the API server does not have yet, where it is known how many writes it does well with (D15).
///
/// A decision that waits for its write helps nobody, and what comes meanwhile can make a better one: a Workload that goes before, quota
/// that somebody gave back. So no cycle runs while the server has enough to do with what was decided before. One cycle may admit a Workload
/// for each queue, whatever is left until the limit.
///
/// Part of the state: derived from the records, in the hash and in snapshots. As long as no limit is known nothing is noted.
class WriteBacklog {
 public:
  /// So long an admission counts, at most: nobody whose writes are refused or put off keeps others waiting for longer.
  static constexpr Duration counts_for = Duration::seconds(1);
  struct Entry {
    std::string uid;  ///< Of the Workload.
    Time since;
  };

  /// `writes`: WriteLimitObserved::writes.
  void limit(std::uint32_t writes);
  /// The Workload was given quota at `now`, which never runs back.
  void decided(std::string_view uid, Time now);
  /// The server has its admission, or will never get it: it was refused, evicted, or the Workload has gone.
  void settled(std::string_view uid);
  /// What was decided long enough before `now` counts no more.
  void pass_to(Time now);

  /// Are there `ahead` of them for each write that the server does well with at a time? 0: never.
  [[nodiscard]] bool is_full(std::uint32_t ahead) const {
    return limit_ != 0 && ahead != 0 && entries_.size() >= std::size_t{limit_} * ahead;
  }
  /// When the first of them counts no more; never: there is none.
  [[nodiscard]] Time next_end() const { return entries_.empty() ? Time::never() : entries_.front().since + counts_for; }
  [[nodiscard]] std::uint32_t limit() const { return limit_; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  void add_to(StateHash& h) const;
  friend struct StateFields<WriteBacklog>;

 private:
  std::uint32_t limit_ = 0;
  std::vector<Entry> entries_;  ///< In the order in which they were decided, and mostly settled.
};

}  // namespace hindsight::admission
