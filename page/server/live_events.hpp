#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "events/log.hpp"
#include "operations/event_stream.hpp"
#include "page/view.hpp"

namespace hindsight::page {

/// {"position":…,"time":"…"} of a record, as the API says where something is. Of position 0 the time is that of the first record. Errors:
/// those of reading.
[[nodiscard]] Result<Json> place_of(const events::Log& log, replay::Position position);

/// What the pages that are open are told: how far the log goes, as it grows, at most four times a second, and what others have to say. One
/// thread reads the end of the log for all of them, and only while there are any. Thread-safe.
///
///     latest    a Place: the end of the log
///     trouble   {"message":…}: the log cannot be read; it is tried again
class LiveEvents {
 public:
  explicit LiveEvents(std::shared_ptr<const events::Log> log);
  ~LiveEvents();
  LiveEvents(const LiveEvents&) = delete;
  LiveEvents& operator=(const LiveEvents&) = delete;

  /// A stream that is told what there is now, and from now on.
  /// `lasts`: after so long it ends, and whoever reads it comes again, with the rights that he has then; nothing: it does not end.
  [[nodiscard]] std::shared_ptr<operations::EventStream> follow(bool sees_all, std::optional<std::chrono::seconds> lasts = {});
  /// `data`: JSON. `newest`: what was said before under this name and has not gone out yet need not be. `only_for_all`: names of objects
  /// may be in it, and only who sees all hears it.
  void tell(std::string_view name, std::string_view data, bool newest, bool only_for_all);
  void stop();
  [[nodiscard]] std::size_t followers() const;

 private:
  struct Follower {
    std::shared_ptr<operations::EventStream> stream;
    bool sees_all = false;
    std::chrono::steady_clock::time_point until;
  };

  void work();
  void look_at_end();
  /// The mutex is held.
  void send(std::string_view name, std::string_view data, bool newest, bool only_for_all);

  const std::shared_ptr<const events::Log> log_;
  mutable std::mutex mutex_;  ///< Guards all below but the thread.
  std::condition_variable changed_;
  std::vector<Follower> followers_;
  std::string latest_;  ///< What was said of the end of the log last; empty: nothing.
  std::string trouble_;
  replay::Position last_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace hindsight::page
