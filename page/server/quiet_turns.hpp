#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

namespace hindsight::page {

/// How many threads of the page work at the same time beside those that decide. Low priority alone does not do it: where all cores are
/// taken, a kernel lets even the lowest thread finish its slice, some milliseconds, before the core goes to one that wakes up. So those
/// that fold and answer take turns, and a core stays free. First come, first served. Thread-safe.
class QuietTurns {
 public:
  /// `at_once`: at least 1.
  explicit QuietTurns(unsigned at_once) : at_once_(at_once == 0 ? 1 : at_once) {}
  QuietTurns(const QuietTurns&) = delete;
  QuietTurns& operator=(const QuietTurns&) = delete;

  /// Of those that this process may use, all but one; 1 where there is only one.
  [[nodiscard]] static unsigned all_cores_but_one();

  /// The turn of one thread; given back at its end. Whoever has it waits for nothing that another one only gives up in a turn of its own.
  class Turn {
   public:
    /// `turns`: null: it is everybody's turn at any time.
    explicit Turn(std::shared_ptr<QuietTurns> turns) : turns_(std::move(turns)) {}
    ~Turn() { give(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    /// Waits for it. False: `is_over` said so meanwhile. `is_over`: empty, or quick; it is asked some twenty times a second.
    bool take(const std::function<bool()>& is_over = {});
    void give();
    /// Who has had it for a while goes behind those that wait.
    void pass_on();

   private:
    std::shared_ptr<QuietTurns> turns_;
    std::chrono::steady_clock::time_point since_;
    bool has_ = false;
  };

 private:
  [[nodiscard]] bool wait(const std::function<bool()>& is_over);
  void leave();
  [[nodiscard]] bool somebody_waits() const;

  const unsigned at_once_;
  mutable std::mutex mutex_;  ///< Guards all below.
  std::condition_variable changed_;
  std::list<char> waiting_;  ///< Who came first stands first.
  unsigned running_ = 0;
};

}  // namespace hindsight::page
