#pragma once

#include <sys/types.h>

#include <string>

namespace hindsight::bench {

/// A `hindsight run --role node` that can be killed and started again; ended with this object.
class NodeProcess {
 public:
  /// What it says is appended to `output`. `standby`: it follows what is not its own.
  NodeProcess(std::string program, std::string log, unsigned session_seconds, bool standby, std::string output);
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
  const bool standby_;
  pid_t pid_ = 0;
};

}  // namespace hindsight::bench
