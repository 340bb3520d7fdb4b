#include "bench/live/job_creations.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "bench/live/job_objects.hpp"
#include "bench/live/job_writes.hpp"
#include "bench/live/plain_write.hpp"

namespace hindsight::bench {

using connectors::kubernetes::KubernetesCluster;

Result<std::vector<JobCreation>> create_jobs(const connectors::kubernetes::Connection& connection, std::size_t count) {
  std::vector<std::unique_ptr<KubernetesCluster>> clients;
  for (std::size_t i = 0; i < job_creators; ++i) {
    auto client = KubernetesCluster::connect(connection);
    if (!client) return tl::unexpected(client.error());
    clients.push_back(*std::move(client));
  }
  std::vector<JobCreation> out(count);
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::optional<Error> refusal;  // Guarded by mutex.
  const auto create = [&](KubernetesCluster& client) {
    for (std::size_t i = next++; i < count; i = next++) {
      auto write = job_creation(i);
      out[i].sent = std::chrono::steady_clock::now();
      auto answer = write_and_wait(client, std::move(write));
      if (!succeeded(answer)) {
        const std::lock_guard lock(mutex);
        refusal = Error{ErrorKind::unavailable,
                        "the creation of a Job: found HTTP " + std::to_string(answer.http_status) + "; allowed: 201; " + answer.body};
        next = count;
        return;
      }
      out[i].answer = std::move(answer.body);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (auto& client : clients) threads.emplace_back([&create, &of_one = *client] { create(of_one); });
  }
  for (auto& client : clients) client->stop();
  if (refusal) return tl::unexpected(*refusal);
  return out;
}

}  // namespace hindsight::bench
