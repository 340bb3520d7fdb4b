#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <string>

#include "replay/past.hpp"

namespace hindsight::replay {

/// For somebody who goes back and forth: beside the state where he is, one is kept a little behind, made by a thread of its own while he
/// goes there. A step back folds forward from it, instead of reading a snapshot first; the next state behind is made meanwhile. Who goes
/// back faster than that waits as long as a Past alone would take. Takes the memory of two states more. Not thread-safe.
class StateBehind {
 public:
  /// How far behind, in records: what is folded in less than a tenth of a second.
  static constexpr Position distance = 10'000;

  StateBehind(const Log& log, std::string domain) : log_(log), domain_(std::move(domain)) {}
  ~StateBehind();
  StateBehind(const StateBehind&) = delete;
  StateBehind& operator=(const StateBehind&) = delete;

  /// Past::go_to for `here`, which may be another one afterwards: nobody looks on there, and its progress is told nobody. After an error
  /// the state is that of `here->position()`.
  [[nodiscard]] Result<void> go_to(std::unique_ptr<Past>& here, Position target);
  /// Somebody goes to this position, or stands there, with a Past of his own: the state behind it is made, if the one that is there is none
  /// to go back from. Returns before it is done.
  void prepare(Position target);
  /// Steps back that were short.
  [[nodiscard]] std::uint64_t short_ways() const { return short_ways_; }

 private:
  [[nodiscard]] bool reaches(Position target) const;
  void make(Position target, std::unique_ptr<Past> done_with);

  const Log& log_;
  const std::string domain_;
  std::atomic<bool> give_up_ = false;        ///< Nobody needs what is being made.
  std::future<std::unique_ptr<Past>> made_;  ///< Null: it could not be made, and whoever goes there learns why.
  Position at_ = 0;
  std::uint64_t short_ways_ = 0;
};

}  // namespace hindsight::replay
