#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include <caf/policy/unprofiled.hpp>
#include <caf/resumable.hpp>

namespace hindsight::actors {

/// A scheduling policy for CAF: what an actor wakes waits in its own worker's queue, and half of that queue goes to the shared one when
/// another worker is hungry. A round of the step engine wakes a thousand shells that work for a microsecond each; CAF's work sharing pays a
/// lock and often a system call for every one of them, its work stealing a walk along the victim's queue. Here a lock is paid once a batch.
///
/// A job may wait in its worker's queue until the job before it has ended, so none may block.
class BatchSharing : public caf::policy::unprofiled {
 public:
  using Queue = std::deque<caf::resumable*>;

  struct coordinator_data {  // NOLINT(readability-identifier-naming): CAF asks for this name
    explicit coordinator_data(caf::scheduler::abstract_coordinator*) {}

    std::mutex mutex;
    std::condition_variable filled;
    Queue jobs;
    std::size_t asleep = 0;              ///< Workers that wait for `filled`.
    std::atomic<std::size_t> shared{0};  ///< Size of `jobs`, to be read without the lock.
    std::atomic<std::size_t> hungry{0};  ///< Workers that have nothing.
  };

  struct worker_data {  // NOLINT(readability-identifier-naming): likewise
    explicit worker_data(caf::scheduler::abstract_coordinator*) {}

    Queue own;                      ///< Touched by the worker's thread alone.
    unsigned since_shared_one = 0;  ///< Own jobs since it last took a shared one.
  };

  template <class Coordinator>
  void central_enqueue(Coordinator* self, caf::resumable* job) {
    put(d(self), [&](Queue& jobs) { jobs.push_back(job); });
  }
  template <class Worker>
  void external_enqueue(Worker* self, caf::resumable* job) {
    central_enqueue(self->parent(), job);
  }
  template <class Worker>
  void internal_enqueue(Worker* self, caf::resumable* job) {
    d(self).own.push_back(job);
    if (d(self).own.size() >= share_from && d(self->parent()).hungry.load(std::memory_order_relaxed) != 0) share(self);
  }
  template <class Worker>
  void resume_job_later(Worker* self, caf::resumable* job) {
    internal_enqueue(self, job);
  }

  template <class Worker>
  caf::resumable* dequeue(Worker* self) {
    auto& mine = d(self);
    auto& common = d(self->parent());
    if (mine.own.size() > 1 && common.hungry.load(std::memory_order_relaxed) != 0) share(self);
    // What comes from outside must not wait for ever behind what this worker wakes itself.
    const bool turn = ++mine.since_shared_one >= own_in_a_row_max && common.shared.load(std::memory_order_relaxed) != 0;
    if (mine.own.empty() || turn) {
      mine.since_shared_one = 0;
      fetch(self, mine.own.empty());
    }
    caf::resumable* job = mine.own.front();
    mine.own.pop_front();
    return job;
  }

  template <class Worker, class UnaryFunction>
  void foreach_resumable(Worker* self, UnaryFunction f) {
    for (caf::resumable* job : std::exchange(d(self).own, {})) f(job);
  }
  template <class Coordinator, class UnaryFunction>
  void foreach_central_resumable(Coordinator* self, UnaryFunction f) {
    Queue jobs;
    {
      const std::lock_guard lock(d(self).mutex);
      jobs.swap(d(self).jobs);
    }
    for (caf::resumable* job : jobs) f(job);
  }

 private:
  static constexpr std::size_t share_from = 16;  ///< Own jobs from which on an enqueue shares.
  static constexpr std::size_t fetch_max = 32;   ///< Jobs taken at a time.
  static constexpr unsigned own_in_a_row_max = 64;
  static constexpr unsigned looks_before_sleep = 1000;  ///< Some ten microseconds: shorter than going to sleep and being woken.

  template <class Put>
  static void put(coordinator_data& common, const Put& add) {
    bool wake = false;
    {
      const std::lock_guard lock(common.mutex);
      add(common.jobs);
      common.shared.store(common.jobs.size(), std::memory_order_relaxed);
      wake = common.asleep != 0;
    }
    if (wake) common.filled.notify_one();
  }

  /// The older half of the own jobs becomes common.
  template <class Worker>
  void share(Worker* self) {
    auto& own = d(self).own;
    const auto half = own.begin() + static_cast<std::ptrdiff_t>(own.size() / 2);
    put(d(self->parent()), [&](Queue& jobs) { jobs.insert(jobs.end(), own.begin(), half); });
    own.erase(own.begin(), half);
  }

  /// Puts shared jobs in front of the own ones; `wait`: at least one.
  template <class Worker>
  void fetch(Worker* self, bool wait) {
    auto& common = d(self->parent());
    const std::size_t workers = self->parent()->num_workers();
    const bool hungry = wait && common.shared.load(std::memory_order_relaxed) == 0;
    if (hungry) {
      common.hungry.fetch_add(1, std::memory_order_relaxed);
      for (unsigned i = 0; workers > 1 && i < looks_before_sleep && common.shared.load(std::memory_order_relaxed) == 0; ++i) relax();
    }
    std::unique_lock lock(common.mutex);
    if (wait) {
      ++common.asleep;
      common.filled.wait(lock, [&] { return !common.jobs.empty(); });
      --common.asleep;
    }
    take(self, common, workers);
    if (hungry) common.hungry.fetch_sub(1, std::memory_order_relaxed);
  }

  template <class Worker>
  void take(Worker* self, coordinator_data& common, std::size_t workers) {
    auto& jobs = common.jobs;
    const std::size_t n = std::min({jobs.size(), fetch_max, jobs.size() / workers + 1});
    const auto end = jobs.begin() + static_cast<std::ptrdiff_t>(n);
    d(self).own.insert(d(self).own.begin(), jobs.begin(), end);
    jobs.erase(jobs.begin(), end);
    common.shared.store(jobs.size(), std::memory_order_relaxed);
  }

  static void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
  }
};

}  // namespace hindsight::actors
