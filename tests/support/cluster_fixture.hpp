#pragma once

#include <string>
#include <vector>

namespace hindsight::testing {

/// A real Kubernetes API server with its etcd, started by `./dev cluster up` in a folder of its own and stopped at the end of this
/// object's life, also when the test fails. Should the test process be killed, the next start sweeps up what it left behind.
///
/// In a GoogleTest suite: make it in SetUpTestSuite, destroy it in TearDownTestSuite.
class LocalCluster {
 public:
  struct Options {
    bool with_nodes = false;  ///< Controller manager, scheduler and KWOK nodes as well.
    int nodes = 4;
    std::vector<std::string> more;  ///< Further options of `./dev cluster up`.
  };

  LocalCluster() : LocalCluster(Options{}) {}
  explicit LocalCluster(const Options& options);
  ~LocalCluster();
  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;

  /// Empty when it is up; else what went wrong.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  /// Of the user hindsight.
  [[nodiscard]] std::string kubeconfig() const { return folder_ + "/hindsight.kubeconfig"; }
  [[nodiscard]] std::string admin_kubeconfig() const { return folder_ + "/kubeconfig"; }
  [[nodiscard]] const std::string& folder() const { return folder_; }

  /// "apiserver", "etcd", ... False when the command failed.
  [[nodiscard]] bool stop(const std::string& component) { return command({"stop", component}); }
  [[nodiscard]] bool start(const std::string& component) { return command({"start", component}); }
  /// Makes etcd forget all older revisions.
  [[nodiscard]] bool compact() { return command({"compact"}); }
  /// Runs kubectl as admin; `output` gets what it printed.
  bool kubectl(const std::vector<std::string>& words, std::string* output = nullptr);

 private:
  bool command(const std::vector<std::string>& words, std::string* output = nullptr);

  std::string folder_;
  std::string failure_;
};

}  // namespace hindsight::testing
