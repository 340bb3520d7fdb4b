#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace hindsight::test {

struct ProgramOptions {
  std::map<std::string, std::string> environment;  ///< On top of that of the test, without HINDSIGHT_LOG and KUBECONFIG.
  std::optional<std::uint64_t> file_size_max;      ///< RLIMIT_FSIZE: writes beyond fail, as on a full disk.
  std::optional<std::uint64_t> descriptors_max;    ///< RLIMIT_NOFILE, which it cannot raise.
  std::string folder;                              ///< Where it runs; empty: where the test runs.
  /// RLIMIT_AS and the like: the soft limit, which may be raised again while it runs (prlimit).
  std::vector<std::pair<int, std::uint64_t>> limits;
  std::vector<int> closed;       ///< Of standard input, output and errors those that it does not get.
  std::optional<unsigned> user;  ///< It runs as this user, which only root can arrange; limits that do not hold for root are set for it.
};

/// What a process left behind.
struct Outcome {
  int status = -1;  ///< Exit code; 128 + the signal that ended it.
  std::string out, err;
};

/// The `hindsight` binary as a process of its own; ended with this object.
class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments, const ProgramOptions& options = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] pid_t id() const { return pid_; }
  void signal(int number) const;
  /// False: it has ended, or the time is over, without having written this.
  [[nodiscard]] bool wait_for(const std::string& part, std::chrono::seconds limit = std::chrono::seconds(120));
  /// What it has written so far, both streams.
  [[nodiscard]] std::string said() const;
  /// Waits for its end; kills it when the time is over.
  [[nodiscard]] Outcome wait(std::chrono::seconds limit = std::chrono::seconds(120));

 private:
  void collect(int descriptor, std::string& into);

  pid_t pid_ = -1;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string out_, err_;
  int open_ = 2;
  std::thread out_reader_, err_reader_;
  std::optional<int> status_;
};

/// Runs it to its end.
[[nodiscard]] Outcome hindsight(const std::vector<std::string>& arguments, const ProgramOptions& options = {});

}  // namespace hindsight::test
