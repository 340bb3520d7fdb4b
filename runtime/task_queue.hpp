#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "vocabulary/thread_name.hpp"

namespace hindsight::runtime {

/// Runs tasks one after another on a thread of its own. Post from any thread.
class TaskQueue {
 public:
  TaskQueue() : thread_([this] { work(); }) {}
  ~TaskQueue() { stop(); }
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  /// How many wait now, this one included; 0 after `stop`: the task is dropped.
  std::size_t post(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return 0;
    tasks_.push_back(std::move(task));
    changed_.notify_one();
    return tasks_.size();
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return tasks_.size();
  }
  /// Drops what waits and ends after the task that runs. Not from a task.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      tasks_.clear();
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void work() {
    name_this_thread("bridge");
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopped_ || !tasks_.empty(); });
        if (stopped_) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace hindsight::runtime
