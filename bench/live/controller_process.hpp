#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vocabulary/result.hpp"

namespace hindsight::bench {

/// A `hindsight run` on a real cluster, with its log in a folder of its own; stopped at the end of this object's life.
class ControllerProcess {
 public:
  /// Starts it, with `more` arguments, and waits until it is ready. What it says goes to `folder`/hindsight.out. Errors: unavailable, with
  /// the end of what it said.
  [[nodiscard]] static Result<std::unique_ptr<ControllerProcess>> start(const std::string& program, const std::string& kubeconfig,
                                                                        const std::string& folder,
                                                                        const std::vector<std::string>& more = {});
  ~ControllerProcess();
  ControllerProcess(const ControllerProcess&) = delete;
  ControllerProcess& operator=(const ControllerProcess&) = delete;

  /// A counter or gauge of its /metrics without labels. Errors: unavailable, not_found.
  [[nodiscard]] Result<std::uint64_t> metric(const std::string& name) const;
  [[nodiscard]] double cpu_seconds() const;
  /// Most resident memory so far.
  [[nodiscard]] double megabytes_max() const;
  [[nodiscard]] double megabytes_now() const;
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// SIGTERM; whether it ended with status 0.
  [[nodiscard]] bool stop();

 private:
  ControllerProcess() = default;
  [[nodiscard]] bool wait_until_ready() const;

  pid_t pid_ = 0;
  std::uint16_t port_ = 0;
  std::string output_;
};

}  // namespace hindsight::bench
