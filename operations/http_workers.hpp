#pragma once

#include <condition_variable>
#include <cstddef>
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
  std::function<void()> turn_away;  ///< In its place, by whoever called enqueue(), when there are too many.
};

/// A fixed number of threads, and a bounded queue before them from which peers are served by turns: who asks for much waits for himself.
/// One peer never has all the threads, if there are several.
class HttpWorkers {
 public:
  HttpWorkers(unsigned threads, std::size_t waiting_max);
  ~HttpWorkers() { stop(); }
  HttpWorkers(const HttpWorkers&) = delete;
  HttpWorkers& operator=(const HttpWorkers&) = delete;

  /// Gives back what finds no place: the last job of the peer that has most of them waiting.
  [[nodiscard]] std::optional<HttpJob> enqueue(HttpJob job);
  /// Waits for the jobs that have begun and forgets the others.
  void stop();
  [[nodiscard]] std::size_t waiting() const;

 private:
  struct Peer {
    std::deque<HttpJob> jobs;
    std::size_t running = 0;
  };

  void work();
  [[nodiscard]] std::optional<HttpJob> next();

  const std::size_t waiting_max_, running_per_peer_max_;
  mutable std::mutex mutex_;  ///< Guards all below but the threads.
  std::condition_variable ready_;
  std::map<std::string, Peer> peers_;  ///< Those with jobs that wait or run.
  std::list<std::string> turns_;       ///< Peers with jobs that wait; the first is served next.
  std::size_t waiting_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hindsight::operations
