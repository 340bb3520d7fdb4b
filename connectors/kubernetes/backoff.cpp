#include "connectors/kubernetes/backoff.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <random>

namespace hindsight::connectors::kubernetes {

Random system_random() {
  struct Source {
    std::mutex mutex;
    std::mt19937_64 engine{std::random_device{}()};
  };
  return [source = std::make_shared<Source>()] {
    const std::lock_guard lock(source->mutex);
    return std::uniform_real_distribution<double>(0.0, 1.0)(source->engine);
  };
}

std::chrono::milliseconds wait_before_retry(const Backoff& backoff, unsigned failures, int retry_after_seconds, const Random& random) {
  const std::int64_t seconds = std::clamp<std::int64_t>(retry_after_seconds, 0, retry_after_max.count());
  const std::chrono::milliseconds asked(static_cast<std::int64_t>(static_cast<double>(seconds) * 1000 * (1.0 + 0.2 * random())));
  return std::max(asked, backoff.after(failures, random));
}

}  // namespace hindsight::connectors::kubernetes
