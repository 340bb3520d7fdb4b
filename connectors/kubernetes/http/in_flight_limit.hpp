#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace hindsight::connectors::kubernetes {

/// How many writes an API server is given at a time: so many that each takes about twice what it takes where there are two only. More
/// would wait in the server, for each other and in the way of everybody else; what waits here can still be decided anew. Every ten seconds
/// two are given for a moment, to see what one takes by now: whatever others ask of the server is in that too, so that we neither push them
/// aside nor give way to them altogether. Told of each write, it asks no clock. Not thread-safe.
class InFlightLimit {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    std::size_t most = 64;  ///< At least 1.
    bool fixed = false;     ///< Always `most`.
  };
  static constexpr std::size_t least = 2;  ///< Fewer, down to one, only where the server says that it is too much for it.

  explicit InFlightLimit(Options options);

  [[nodiscard]] std::size_t now() const { return limit_; }
  /// The same, but for the moments in which fewer are given to measure; nothing: more would still do no harm, as far as is known.
  [[nodiscard]] std::optional<std::size_t> found() const {
    if (starting_ || options_.fixed) return std::nullopt;
    return back_.value_or(limit_);
  }
  /// A write sets out as one of `under_way`; `others_wait`: for more than the limit allows.
  void sent(std::size_t under_way, bool others_wait);
  /// It was answered whole.
  void answered(Clock::time_point sent_at, Clock::time_point now);
  /// The server had too many requests (429), or said that it cannot serve now (503).
  void refused(Clock::time_point sent_at, Clock::time_point now);

  /// What a write takes where two are under way; nothing: it is not known yet.
  [[nodiscard]] std::optional<Clock::duration> unhurried() const { return base_; }

 private:
  void set(std::size_t limit, Clock::time_point now);
  void judge(Clock::duration median, Clock::time_point now);
  [[nodiscard]] std::size_t floor() const { return std::min(least, options_.most); }

  const Options options_;
  std::size_t limit_;
  bool starting_ = true;             ///< The limit doubles, until the first time that it is too much.
  std::optional<std::size_t> back_;  ///< While two are given to measure: the limit before.
  std::optional<Clock::duration> base_;
  Clock::time_point measured_at_{};
  // Since the limit was changed:
  Clock::time_point since_{};
  bool reached_ = false;  ///< More was asked for than it allows.
  std::size_t most_under_way_ = 0;
  std::vector<Clock::duration> took_;
};

}  // namespace hindsight::connectors::kubernetes
