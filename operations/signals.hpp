#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <thread>

namespace hindsight::operations {

/// Status of a process that was told twice to end.
inline constexpr int interrupted_status = 130;

/// Turns signals into calls on a thread of its own.
///
///     SIGTERM, SIGINT   the first asks for a stop, the second ends the process at once with status 130
///     SIGUSR1           one log level more talkative
///     SIGUSR2           one level less
///     SIGPIPE           nothing; writing to a closed pipe is an error that the writer sees
///
/// Programs that this one starts get the default actions. One instance at a time; a second one is a bug.
class Signals {
 public:
  /// `on_stop` is called with the name of the first signal ("SIGTERM"), before the token is triggered.
  explicit Signals(std::function<void(const char*)> on_stop = {});
  /// Gives the signals their former actions back.
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }
  /// As if SIGTERM had come; for an end that the program itself wants.
  void request_stop() { stop_.request_stop(); }

 private:
  void work();

  std::function<void(const char*)> on_stop_;
  std::stop_source stop_;
  int read_end_ = -1;
  std::thread thread_;
};

}  // namespace hindsight::operations
