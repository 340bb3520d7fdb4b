#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace hindsight::operations {

/// The events that one client is still to be sent (text/event-stream, HTML Living Standard 9.2): an answer that does not end by itself
/// (HttpResponse::events). Filled from any thread; nobody waits, neither who fills it nor a thread of the server. Who reads more slowly
/// than events come is given up: the client connects again, and is told what is then. Thread-safe.
class EventStream {
 public:
  /// `bytes_max`: of events that have not gone out yet.
  explicit EventStream(std::size_t bytes_max = std::size_t{64} * 1024) : bytes_max_(bytes_max) {}
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  /// `name` is one line, `data` a text. False: nobody reads it any more.
  bool send(std::string_view name, std::string_view data);
  /// The same in place of an event of this name that has not gone out yet: only the newest is of interest.
  bool send_newest(std::string_view name, std::string_view data);
  /// Nothing will follow.
  void end();
  /// Nobody reads it (any more).
  [[nodiscard]] bool is_over() const;

  // ---- of the server --------------------------------------------------------------------------------------------------------------

  /// Somebody reads from now on. `wake` is called when there is something to take, from any thread and under a lock: it must not call back.
  void begin(std::function<void()> wake);
  struct Taken {
    std::string bytes;
    bool last = false;  ///< Nothing follows.
  };
  [[nodiscard]] Taken take();
  /// The reader has gone. `wake` is not called any more when this has returned.
  void close() noexcept;

 private:
  struct Pending {
    std::string name, bytes;
  };
  bool put(std::string_view name, std::string_view data, bool newest);

  const std::size_t bytes_max_;
  mutable std::mutex mutex_;  ///< Guards all below.
  std::deque<Pending> pending_;
  std::size_t bytes_ = 0;  ///< Of these.
  std::function<void()> wake_;
  bool ended_ = false, closed_ = false;
};

}  // namespace hindsight::operations
