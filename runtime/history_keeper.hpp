#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "events/log.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::runtime {

/// Has a log forget what is older than it is to be kept (replay/trim.hpp), again and again, beside the node that decides in it. Takes the
/// memory of one domain's state while it works.
class HistoryKeeper {
 public:
  struct Options {
    Duration keep;        ///< Behind the last record, and behind `now`.
    std::string release;  ///< Written into the snapshots that it makes.
    std::function<void(const std::string&)> on_notice;
    /// Between two looks; zero: a twenty-fourth of `keep`, at least a second and at most an hour.
    std::chrono::milliseconds look{0};
    std::function<Time()> now = {};  ///< Empty: the last record says what time it is.
  };
  /// The log must outlive it.
  HistoryKeeper(events::Log& log, Options options);
  /// Gives up what is under way; nothing is half forgotten then.
  ~HistoryKeeper() = default;
  /// Begins nothing any more, and gives up what is under way soon. Never blocks.
  void end() { thread_.request_stop(); }
  HistoryKeeper(const HistoryKeeper&) = delete;
  HistoryKeeper& operator=(const HistoryKeeper&) = delete;

 private:
  void run(const std::stop_token& stop);
  [[nodiscard]] Result<events::Position> end_of_old() const;
  [[nodiscard]] Result<void> forget_old(const std::stop_token& stop);

  events::Log& log_;
  const Options options_;
  std::jthread thread_;
};

}  // namespace hindsight::runtime
