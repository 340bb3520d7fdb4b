#include "connectors/kubernetes/backoff.hpp"

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

}  // namespace hindsight::connectors::kubernetes
