#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace hindsight::connectors::kubernetes {

/// The one thread of a Kubernetes client. Sockets, timers and posted tasks run on it one after another, so that everything
/// that lives on it needs no locks. A task must not block: while it runs, no lease is renewed.
///
/// Only `post`, `try_post`, `run`, `on_thread` and `stop` may be called from other threads.
class Loop {
 public:
  using Task = std::function<void()>;
  using Clock = std::chrono::steady_clock;
  /// What a socket is ready for: EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP.
  using OnReady = std::function<void(std::uint32_t)>;

  /// Names a timer. 0 names none.
  using TimerId = std::uint64_t;

  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // ---- from any thread

  /// Runs `task` on the loop's thread, after all that were posted before. Dropped once the loop has stopped.
  void post(Task task) { (void)try_post(task); }
  /// As post; takes `task` and says true, or leaves it alone and says false once the loop has stopped.
  [[nodiscard]] bool try_post(Task& task);
  /// Runs `task` on the loop's thread and waits for its end; at once when already there or when the loop has stopped.
  void run(const Task& task);
  [[nodiscard]] bool on_thread() const { return std::this_thread::get_id() == thread_id_; }
  /// Ends the thread after the tasks posted so far. May be called twice, not from the thread itself.
  void stop();

  // ---- from the loop's thread

  TimerId after(std::chrono::milliseconds delay, Task task);
  /// A timer that has fired, or 0, is ignored.
  void cancel(TimerId timer);
  /// Watches a descriptor for `events`; a second call changes them.
  void watch(int descriptor, std::uint32_t events, OnReady on_ready);
  void unwatch(int descriptor);

 private:
  struct Timer {
    TimerId id = 0;
    Task task;
  };

  void work();
  void run_posted();
  void run_due_timers();
  [[nodiscard]] int milliseconds_to_next_timer() const;
  void wake() const;

  int epoll_ = -1;
  int wake_up_ = -1;

  std::mutex mutex_;
  std::vector<Task> posted_;  ///< Guarded by mutex_.
  bool stopping_ = false;     ///< Guarded by mutex_.
  bool ended_ = false;        ///< Guarded by mutex_. Nothing will be taken from posted_ any more.

  std::multimap<Clock::time_point, Timer> timers_;
  std::unordered_map<TimerId, std::multimap<Clock::time_point, Timer>::iterator> timers_by_id_;
  TimerId last_timer_ = 0;
  std::unordered_map<int, std::shared_ptr<OnReady>> watched_;

  std::thread thread_;
  std::thread::id thread_id_;  ///< Of its own, because join() changes the one in thread_.
};

}  // namespace hindsight::connectors::kubernetes
