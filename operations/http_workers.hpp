#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace hindsight::operations {

/// A piece of work for somebody.
struct HttpJob {
  std::string peer;                 ///< Who asks.
  std::function<void()> work;       ///< On one of the threads.
  std::function<void()> turn_away;  ///< In its place, by whoever called enqueue(), when there are too many. It must not throw.
  std::uint64_t id = 0;             ///< By which it can be withdrawn.
  bool proven = false;              ///< Who asks is no stranger.
};

/// A fixed number of threads, and a bounded queue before them. Strangers and those who are none are served alternately, and among each the
/// peers by turns: who asks for much waits for himself, and many who are not known do not make others wait for all of them. One peer never
/// has all the threads, if there are several.
class HttpWorkers {
 public:
  HttpWorkers(unsigned threads, std::size_t waiting_max);
  ~HttpWorkers() { stop(); }
  HttpWorkers(const HttpWorkers&) = delete;
  HttpWorkers& operator=(const HttpWorkers&) = delete;

  /// Gives back what finds no place: the last job of the peer that has most of them waiting, among strangers if they have more than half of
  /// the places, else among the others. What it throws leaves everything as it was.
  [[nodiscard]] std::optional<HttpJob> enqueue(HttpJob job);
  /// Takes a job back. False: it does not wait (any more).
  [[nodiscard]] bool withdraw(const std::string& peer, std::uint64_t id);
  /// Waits for the jobs that have begun and forgets the others.
  void stop();
  [[nodiscard]] std::size_t waiting() const;

 private:
  /// By 0 for strangers, 1 for the others.
  template <class T>
  using ByStanding = std::array<T, 2>;

  struct Peer {
    ByStanding<std::deque<HttpJob>> jobs;
    std::size_t running = 0;

    [[nodiscard]] bool is_gone() const { return running == 0 && jobs[0].empty() && jobs[1].empty(); }
  };
  using Peers = std::map<std::string, Peer>;

  void work();
  [[nodiscard]] std::optional<HttpJob> next();
  [[nodiscard]] HttpJob displace();
  /// One of its jobs does not wait any more.
  void shrink(Peers::iterator peer, std::size_t standing);

  const std::size_t waiting_max_, running_per_peer_max_;
  mutable std::mutex mutex_;  ///< Guards all below but the threads.
  std::condition_variable ready_;
  Peers peers_;                               ///< Those with jobs that wait or run.
  ByStanding<std::list<std::string>> turns_;  ///< Peers with jobs that wait; the first is served next.
  ByStanding<std::size_t> waiting_{};
  std::size_t first_ = 1;  ///< Who is served next, if they wait: strangers or the others.
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hindsight::operations
