#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace hindsight::page {

/// A thread that something lives on which is made of millions of small pieces, as a state is: all of it is allocated and freed there. The
/// allocator has a heap for each thread. What another thread frees it keeps until the thread of that heap allocates again; where any
/// thread of a server made states for any other, each of them came to hold the memory of one that was gone.
class HomeThread {
 public:
  /// `begin` is called there first.
  explicit HomeThread(std::function<void()> begin);
  /// Ends when all that was posted is done.
  ~HomeThread();
  HomeThread(const HomeThread&) = delete;
  HomeThread& operator=(const HomeThread&) = delete;

  /// Does `work` there, after what was posted before, and waits for its end. Throws what it throws. Not from the thread itself.
  void run(const std::function<void()>& work);
  /// Does `work` there later and destroys it there. It must not throw. Errors: std::bad_alloc, and `work` is as it was.
  void post(std::function<void()>&& work);

 private:
  void live();

  std::mutex mutex_;  ///< Guards the next four.
  std::condition_variable wake_, done_;
  std::deque<std::function<void()>> work_;
  bool ending_ = false;
  std::thread thread_;  ///< Last: it needs the others.
};

}  // namespace hindsight::page
