#include "operations/signals.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "operations/logging.hpp"
#include "vocabulary/thread_name.hpp"

namespace hindsight::operations {
namespace {

constexpr std::array<int, 5> caught{SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGPIPE};
constexpr unsigned char end_of_thread = 0;  // No signal has this number.

// What a handler may touch: lock-free atomics and async-signal-safe functions.
std::atomic<int> write_end{-1};
std::atomic<int> stops{0};
static_assert(std::atomic<int>::is_always_lock_free);

std::array<struct sigaction, caught.size()> former_actions{};

void on_signal(int signal) {
  const int saved = errno;
  if (signal == SIGTERM || signal == SIGINT) {
    // Here and not on the thread: that may be busy with the first one for ever, and then this is the way out.
    if (stops.fetch_add(1) > 0) ::_exit(interrupted_status);
  }
  const auto number = static_cast<unsigned char>(signal);
  // A full pipe loses a signal of which thousands wait already.
  [[maybe_unused]] const auto n = ::write(write_end.load(), &number, 1);
  errno = saved;
}

// A handler and not SIG_IGN: programs that are started inherit that.
void on_broken_pipe(int) {}

}  // namespace

Signals::Signals(std::function<void(const char*)> on_stop) : on_stop_(std::move(on_stop)) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  int none = -1;
  if (!write_end.compare_exchange_strong(none, ends[1])) {
    ::close(ends[0]);
    ::close(ends[1]);
    throw std::logic_error("signals are caught already");
  }
  read_end_ = ends[0];
  stops.store(0);
  thread_ = std::thread([this] { work(); });

  for (std::size_t i = 0; i < caught.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = caught[i] == SIGPIPE ? &on_broken_pipe : &on_signal;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(caught[i], &action, &former_actions[i]);
  }
}

Signals::~Signals() {
  for (std::size_t i = 0; i < caught.size(); ++i) ::sigaction(caught[i], &former_actions[i], nullptr);
  const int end = write_end.load();
  ::fcntl(end, F_SETFL, 0);  // Waits for place if it must.
  [[maybe_unused]] const auto n = ::write(end, &end_of_thread, 1);
  thread_.join();
  write_end.store(-1);
  ::close(end);
  ::close(read_end_);
}

void Signals::work() {
  name_this_thread("signals");
  for (;;) {
    unsigned char number = 0;
    const ssize_t n = ::read(read_end_, &number, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n != 1 || number == end_of_thread) return;
    switch (number) {
      case SIGTERM:
      case SIGINT:
        if (on_stop_) on_stop_(number == SIGTERM ? "SIGTERM" : "SIGINT");
        stop_.request_stop();
        break;
      case SIGUSR1:
        change_log_level(louder(log_level()), "SIGUSR1");
        break;
      case SIGUSR2:
        change_log_level(quieter(log_level()), "SIGUSR2");
        break;
      default:
        break;
    }
  }
}

}  // namespace hindsight::operations
