#include "operations/http_workers.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "vocabulary/thread_name.hpp"

namespace hindsight::operations {

HttpWorkers::HttpWorkers(unsigned threads, std::size_t waiting_max)
    : waiting_max_(std::max<std::size_t>(1, waiting_max)), running_per_peer_max_(std::max(2U, threads) - 1) {
  for (unsigned i = 0; i < std::max(1U, threads); ++i) threads_.emplace_back([this] { work(); });
}

std::optional<HttpJob> HttpWorkers::enqueue(HttpJob job) {
  const std::size_t standing = job.proven ? 1 : 0;
  const std::string name = job.peer;
  std::list<std::string> turn{name};  // what may fail comes before what changes anything
  std::optional<HttpJob> displaced;
  {
    const std::lock_guard lock(mutex_);
    const auto peer = peers_.try_emplace(name).first;
    auto& jobs = peer->second.jobs[standing];
    try {
      jobs.push_back(std::move(job));
    } catch (...) {
      if (peer->second.is_gone()) peers_.erase(peer);
      throw;
    }
    if (jobs.size() == 1) turns_[standing].splice(turns_[standing].end(), turn);
    ++waiting_[standing];
    if (waiting_[0] + waiting_[1] > waiting_max_) displaced = displace();
  }
  ready_.notify_one();
  return displaced;
}

/// The mutex is held.
HttpJob HttpWorkers::displace() {
  const std::size_t standing = waiting_[0] > waiting_max_ / 2 ? 0 : 1;
  const auto& turns = turns_[standing];
  const auto most = std::max_element(turns.begin(), turns.end(), [&](const std::string& a, const std::string& b) {
    return peers_.at(a).jobs[standing].size() < peers_.at(b).jobs[standing].size();
  });
  const auto of = peers_.find(*most);
  HttpJob last = std::move(of->second.jobs[standing].back());
  of->second.jobs[standing].pop_back();
  shrink(of, standing);
  return last;
}

/// The mutex is held.
void HttpWorkers::shrink(Peers::iterator peer, std::size_t standing) {
  --waiting_[standing];
  if (!peer->second.jobs[standing].empty()) return;
  turns_[standing].remove(peer->first);
  if (peer->second.is_gone()) peers_.erase(peer);
}

bool HttpWorkers::withdraw(const std::string& peer, std::uint64_t id) {
  HttpJob withdrawn;  // ends after the lock does
  const std::lock_guard lock(mutex_);
  const auto of = peers_.find(peer);
  if (of == peers_.end()) return false;
  for (std::size_t standing = 0; standing < 2; ++standing) {
    auto& jobs = of->second.jobs[standing];
    const auto job = std::find_if(jobs.begin(), jobs.end(), [id](const HttpJob& one) { return one.id == id; });
    if (job == jobs.end()) continue;
    withdrawn = std::move(*job);
    jobs.erase(job);
    shrink(of, standing);
    return true;
  }
  return false;
}

/// The mutex is held.
std::optional<HttpJob> HttpWorkers::next() {
  for (const std::size_t standing : {first_, 1 - first_})
    for (auto turn = turns_[standing].begin(); turn != turns_[standing].end(); ++turn) {
      const auto peer = peers_.find(*turn);
      if (peer->second.running >= running_per_peer_max_) continue;
      auto& jobs = peer->second.jobs[standing];
      HttpJob job = std::move(jobs.front());
      jobs.pop_front();
      ++peer->second.running;
      turns_[standing].splice(turns_[standing].end(), turns_[standing], turn);
      shrink(peer, standing);
      first_ = 1 - standing;
      return job;
    }
  return std::nullopt;
}

void HttpWorkers::work() {
  name_this_thread("http-worker");
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
    --it->second.running;
    if (it->second.is_gone()) peers_.erase(it);
    // What waits of this peer may have been left waiting because too much of it ran.
    if (waiting_[0] + waiting_[1] > 0) ready_.notify_one();
  }
}

void HttpWorkers::stop() {
  std::vector<HttpJob> forgotten;  // they end after the lock does
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (auto& [name, peer] : peers_)
      for (auto& jobs : peer.jobs) {
        std::move(jobs.begin(), jobs.end(), std::back_inserter(forgotten));
        jobs.clear();
      }
    for (auto& turns : turns_) turns.clear();
    waiting_ = {};
  }
  ready_.notify_all();
  for (auto& thread : threads_)
    if (thread.joinable()) thread.join();
}

std::size_t HttpWorkers::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_[0] + waiting_[1];
}

}  // namespace hindsight::operations
