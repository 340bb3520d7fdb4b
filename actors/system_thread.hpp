#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include <caf/fwd.hpp>

namespace hindsight::actors {

/// An actor system that may be ended from any thread, and whose end does not wait for ever. CAF keeps a reference to a system's logger in
/// every thread that makes a system or spawns from outside of it, and the system's end waits for these references: so one thread makes it,
/// spawns the first actors, and ends it.
class SystemThread {
 public:
  /// `threads`: of the scheduler; 0: one a core. `begin` spawns the first actors; it has returned when the constructor returns.
  SystemThread(std::size_t threads, const std::function<void(caf::actor_system&)>& begin);
  ~SystemThread();
  SystemThread(const SystemThread&) = delete;
  SystemThread& operator=(const SystemThread&) = delete;

  /// Waits until all actors have ended, and ends the system. False: some actor does not end; its threads are left behind.
  [[nodiscard]] bool end(std::chrono::milliseconds timeout);

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool begun = false, wanted = true, ended = false;
  };

  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::thread thread_;
};

}  // namespace hindsight::actors
