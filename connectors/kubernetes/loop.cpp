#include "connectors/kubernetes/loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <system_error>

#include "vocabulary/thread_name.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

[[noreturn]] void throw_errno(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

}  // namespace

Loop::Loop() {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) throw_errno("epoll_create1");
  wake_up_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_up_ < 0) throw_errno("eventfd");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_up_;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_up_, &event) != 0) throw_errno("epoll_ctl");
  // Under the lock, so that the thread sees its own id.
  const std::lock_guard lock(mutex_);
  thread_ = std::thread([this] { work(); });
  thread_id_ = thread_.get_id();
}

Loop::~Loop() {
  stop();
  ::close(wake_up_);
  ::close(epoll_);
}

bool Loop::try_post(Task& task) {
  bool was_empty = false;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return false;
    was_empty = posted_.empty();
    posted_.push_back(std::move(task));
  }
  // Whoever made it non-empty has woken the thread; it takes all at once.
  if (was_empty) wake();
  return true;
}

void Loop::run(const Task& task) {
  if (on_thread()) {
    task();
    return;
  }
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  bool accepted = false;
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) {
      accepted = true;
      posted_.emplace_back([&] {
        task();
        // Notify under the lock: the waiting side owns these objects and goes away once it sees `done`.
        const std::lock_guard inner(mutex);
        done = true;
        changed.notify_one();
      });
    }
  }
  if (!accepted) {
    task();
    return;
  }
  wake();
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return done; });
}

void Loop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake();
  if (thread_.joinable()) thread_.join();
}

void Loop::wake() const {
  const std::uint64_t one = 1;
  // A full counter (EAGAIN) wakes as well.
  [[maybe_unused]] const auto written = ::write(wake_up_, &one, sizeof one);
}

Loop::TimerId Loop::after(std::chrono::milliseconds delay, Task task) {
  const TimerId id = ++last_timer_;
  const auto at = timers_.emplace(Clock::now() + delay, Timer{id, std::move(task)});
  timers_by_id_.emplace(id, at);
  return id;
}

void Loop::cancel(TimerId timer) {
  const auto found = timers_by_id_.find(timer);
  if (found == timers_by_id_.end()) return;
  timers_.erase(found->second);
  timers_by_id_.erase(found);
}

void Loop::watch(int descriptor, std::uint32_t events, OnReady on_ready) {
  epoll_event event{};
  event.events = events;
  event.data.fd = descriptor;
  const bool known = watched_.contains(descriptor);
  // Whoever closed a watched descriptor without telling has removed it from epoll too; then the kernel knows better than we do.
  if (::epoll_ctl(epoll_, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, &event) != 0) {
    const int other = known && errno == ENOENT ? EPOLL_CTL_ADD : !known && errno == EEXIST ? EPOLL_CTL_MOD : 0;
    if (other == 0 || ::epoll_ctl(epoll_, other, descriptor, &event) != 0) throw_errno("epoll_ctl");
  }
  watched_[descriptor] = std::make_shared<OnReady>(std::move(on_ready));
}

void Loop::unwatch(int descriptor) {
  if (watched_.erase(descriptor) == 0) return;
  epoll_event unused{};
  // It may be closed already, which removed it.
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, &unused);
}

void Loop::work() {
  name_this_thread("kubernetes");
  // libcurl and OpenSSL write to connections that the other side may have closed, which must be an error and not the end of the process.
  sigset_t broken_pipe{};
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  { const std::lock_guard started(mutex_); }
  std::array<epoll_event, 64> events{};
  for (;;) {
    const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), milliseconds_to_next_timer());
    if (count < 0 && errno != EINTR) throw_errno("epoll_wait");
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (event.data.fd == wake_up_) {
        std::uint64_t ignored = 0;
        [[maybe_unused]] const auto got = ::read(wake_up_, &ignored, sizeof ignored);
        continue;
      }
      // An earlier event of this round may have unwatched it; the copy keeps the function alive while it runs.
      const auto found = watched_.find(event.data.fd);
      if (found == watched_.end()) continue;
      const std::shared_ptr<OnReady> on_ready = found->second;
      (*on_ready)(event.events);
    }
    run_due_timers();
    run_posted();
    const std::lock_guard lock(mutex_);
    if (stopping_ && posted_.empty()) {
      ended_ = true;
      return;
    }
  }
}

void Loop::run_posted() {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(posted_);
  }
  for (Task& task : tasks) {
    task();
    task = nullptr;  // What it holds goes away before the next one runs.
  }
}

void Loop::run_due_timers() {
  const auto now = Clock::now();
  // Timers set by these tasks wait for the next round, so that a chain of zero delays cannot starve sockets.
  const TimerId last = last_timer_;
  for (auto at = timers_.begin(); at != timers_.end() && at->first <= now;) {
    if (at->second.id > last) {
      ++at;
      continue;
    }
    const Task task = std::move(at->second.task);
    timers_by_id_.erase(at->second.id);
    timers_.erase(at);
    task();
    at = timers_.begin();  // The task may have cancelled any of the others.
  }
}

int Loop::milliseconds_to_next_timer() const {
  if (timers_.empty()) return -1;
  const auto left = timers_.begin()->first - Clock::now();
  if (left <= Clock::duration::zero()) return 0;
  // Rounded up: waking before the time would spin.
  const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(left);
  return static_cast<int>(std::min(rounded, std::chrono::milliseconds(std::chrono::hours(1))).count());
}

}  // namespace hindsight::connectors::kubernetes
