#include "operations/http_workers.hpp"

#include <algorithm>
#include <utility>

namespace hindsight::operations {

HttpWorkers::HttpWorkers(unsigned threads, std::size_t waiting_max)
    : waiting_max_(std::max<std::size_t>(1, waiting_max)), running_per_peer_max_(std::max(2U, threads) - 1) {
  for (unsigned i = 0; i < std::max(1U, threads); ++i) threads_.emplace_back([this] { work(); });
}

std::optional<HttpJob> HttpWorkers::enqueue(HttpJob job) {
  std::optional<HttpJob> displaced;
  {
    const std::lock_guard lock(mutex_);
    Peer& peer = peers_[job.peer];
    if (peer.jobs.empty()) turns_.push_back(job.peer);
    peer.jobs.push_back(std::move(job));
    ++waiting_;
    if (waiting_ > waiting_max_) {
      const auto most = std::max_element(turns_.begin(), turns_.end(), [this](const std::string& a, const std::string& b) {
        return peers_.at(a).jobs.size() < peers_.at(b).jobs.size();
      });
      const auto of = peers_.find(*most);
      displaced = std::move(of->second.jobs.back());
      of->second.jobs.pop_back();
      --waiting_;
      if (of->second.jobs.empty()) {
        turns_.erase(most);
        if (of->second.running == 0) peers_.erase(of);
      }
    }
  }
  ready_.notify_one();
  return displaced;
}

/// The mutex is held.
std::optional<HttpJob> HttpWorkers::next() {
  for (auto turn = turns_.begin(); turn != turns_.end(); ++turn) {
    Peer& peer = peers_.at(*turn);
    if (peer.running >= running_per_peer_max_) continue;
    HttpJob job = std::move(peer.jobs.front());
    peer.jobs.pop_front();
    ++peer.running;
    --waiting_;
    if (peer.jobs.empty())
      turns_.erase(turn);
    else
      turns_.splice(turns_.end(), turns_, turn);
    return job;
  }
  return std::nullopt;
}

void HttpWorkers::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    std::optional<HttpJob> job;
    ready_.wait(lock, [&] { return ending_ || (job = next()); });
    if (!job) return;
    lock.unlock();
    job->work();
    const std::string peer = std::move(job->peer);
    job.reset();
    lock.lock();
    const auto it = peers_.find(peer);
    if (--it->second.running == 0 && it->second.jobs.empty()) peers_.erase(it);
    // What waits of this peer may have been left waiting because too much of it ran.
    if (!turns_.empty()) ready_.notify_one();
  }
}

void HttpWorkers::stop() {
  std::map<std::string, Peer> forgotten;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (auto& [name, peer] : peers_) forgotten[name].jobs = std::exchange(peer.jobs, {});
    turns_.clear();
    waiting_ = 0;
  }
  ready_.notify_all();
  for (auto& thread : threads_)
    if (thread.joinable()) thread.join();
}

std::size_t HttpWorkers::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

}  // namespace hindsight::operations
