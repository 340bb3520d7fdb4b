#include "bench/nodes/node_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace hindsight::bench {

NodeProcess::NodeProcess(std::string program, std::string log, unsigned session_seconds, bool standby, std::string output)
    : program_(std::move(program)),
      log_(std::move(log)),
      session_(std::to_string(session_seconds)),
      output_(std::move(output)),
      standby_(standby) {}

NodeProcess::~NodeProcess() { kill(); }

void NodeProcess::start() {
  pid_ = ::fork();
  if (pid_ != 0) return;
  const int out = ::open(output_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execl(program_.c_str(), program_.c_str(), "run", "--role", "node", "--log", log_.c_str(), "--session-timeout", session_.c_str(),
          "--http", "127.0.0.1:0", standby_ ? "--standby" : nullptr, nullptr);
  ::_exit(127);
}

void NodeProcess::kill() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  (void)wait();
}

void NodeProcess::ask_to_end() const {
  if (pid_ != 0) ::kill(pid_, SIGTERM);
}

bool NodeProcess::wait() {
  int status = 0;
  const bool ended = pid_ != 0 && ::waitpid(pid_, &status, 0) == pid_;
  pid_ = 0;
  return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace hindsight::bench
