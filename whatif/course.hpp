#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "vocabulary/decisions.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::whatif {

/// What a decision means for its object, as a number: the same for decisions that the world answers alike. Nothing: it is none that the
/// world answers, such as the reason for which somebody waits.
[[nodiscard]] std::optional<std::uint64_t> essence_of(const Event& event);

/// Whether the decisions about one object are still those on record. While they are, the world's recorded answers fit.
class Course {
 public:
  /// A decision that the other side makes within this is the same one.
  static constexpr Duration patience = Duration::millis(200);

  /// True: it was made here, too.
  bool recorded(std::uint64_t essence, Time when) { return meet(recorded_, decided_, essence, when); }
  /// True: it is on record, too.
  bool decided(std::uint64_t essence, Time when) { return meet(decided_, recorded_, essence, when); }

  /// One of them is on one side only so far.
  [[nodiscard]] bool differs() const { return left_ || !recorded_.empty() || !decided_.empty(); }
  /// Since when that is so.
  [[nodiscard]] Time differs_since() const { return since_; }
  /// They differ for good: other decisions, or one that the other side has not made in time.
  [[nodiscard]] bool has_left(Time now) const { return left_ || (differs() && now - since_ > patience); }

 private:
  using Made = std::deque<std::pair<std::uint64_t, Time>>;

  bool meet(Made& mine, Made& others, std::uint64_t essence, Time when) {
    if (others.empty()) {
      if (mine.empty()) since_ = when;
      mine.emplace_back(essence, when);
      return false;
    }
    const auto [other, then] = others.front();
    others.pop_front();
    const bool in_time = when - then <= patience && then - when <= patience;
    left_ = left_ || other != essence || !in_time;
    if (!others.empty()) since_ = others.front().second;
    return other == essence && in_time;
  }

  Made recorded_, decided_;  ///< Those that the other side has not made.
  Time since_;
  bool left_ = false;
};

}  // namespace hindsight::whatif
