#pragma once

#include <sys/types.h>

#include <string>

namespace hindsight::bench {

/// A `hindsight run --role node` that can be killed and started again; ended with this object.
class NodeProcess {
 public:
  /// What it says is appended to `output`.
  NodeProcess(std::string program, std::string log, unsigned session_seconds, std::string output);
  ~NodeProcess();
  NodeProcess(const NodeProcess&) = delete;
  NodeProcess& operator=(const NodeProcess&) = delete;

  void start();
  /// SIGKILL.
  void kill();
  /// SIGTERM, without waiting for the end.
  void ask_to_end() const;
  /// Waits for the end. True: with status 0.
  bool wait();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  const std::string program_, log_, session_, output_;
  pid_t pid_ = 0;
};

}  // namespace hindsight::bench
