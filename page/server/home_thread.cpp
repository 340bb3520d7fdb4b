#include "page/server/home_thread.hpp"

#include <exception>
#include <utility>

namespace hindsight::page {

HomeThread::HomeThread(std::function<void()> begin)
    : thread_([this, begin = std::move(begin)] {
        begin();
        live();
      }) {}

HomeThread::~HomeThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void HomeThread::run(const std::function<void()>& work) {
  bool done = false;
  std::exception_ptr thrown;
  post([&] {
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    done = true;
    done_.notify_all();
  });
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return done; });
  if (thrown) std::rethrow_exception(std::exchange(thrown, nullptr));
}

void HomeThread::post(std::function<void()>&& work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }
  wake_.notify_one();
}

void HomeThread::live() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return ending_ || !work_.empty(); });
    if (work_.empty()) return;
    {
      const auto work = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      work();
    }
    lock.lock();
  }
}

}  // namespace hindsight::page
