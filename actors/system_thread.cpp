#include "actors/system_thread.hpp"

#include <caf/all.hpp>

#include "actors/system_config.hpp"
#include "vocabulary/thread_name.hpp"

namespace hindsight::actors {

SystemThread::SystemThread(std::size_t threads, const std::function<void(caf::actor_system&)>& begin) {
  thread_ = std::thread([shared = shared_, threads, &begin] {
    name_this_thread("actors");
    {
      SystemConfig config(SchedulerPolicy::batching, threads);
      caf::actor_system system(config);
      begin(system);
      std::unique_lock lock(shared->mutex);
      shared->begun = true;
      shared->changed.notify_all();
      shared->changed.wait(lock, [&] { return !shared->wanted; });
    }
    const std::lock_guard lock(shared->mutex);
    shared->ended = true;
    shared->changed.notify_all();
  });
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait(lock, [&] { return shared_->begun; });
}

SystemThread::~SystemThread() {
  if (thread_.joinable()) (void)end(std::chrono::milliseconds(0));
}

bool SystemThread::end(std::chrono::milliseconds timeout) {
  std::unique_lock lock(shared_->mutex);
  shared_->wanted = false;
  shared_->changed.notify_all();
  const bool ended = shared_->changed.wait_for(lock, timeout, [&] { return shared_->ended; });
  lock.unlock();
  if (ended)
    thread_.join();
  else
    thread_.detach();
  return ended;
}

}  // namespace hindsight::actors
