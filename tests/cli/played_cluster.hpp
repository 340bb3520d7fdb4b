#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/connectors/kubernetes/fake_api_server.hpp"

namespace hindsight::test {

using Json = nlohmann::json;

/// As much of a cluster as a control plane needs to queue Jobs, played on loopback: lists and watches that tell of changes, creates, merge
/// patches with their preconditions, and a Job controller that starts and stops Jobs without any of their pods ever getting ready. One
/// ClusterQueue "cq", LocalQueue "lq" in the namespace "default".
class PlayedCluster {
 public:
  /// `cpu`: of the queue.
  explicit PlayedCluster(int cpu = 4);
  ~PlayedCluster();

  [[nodiscard]] std::string url() const { return server_.url(); }
  /// A kubeconfig for it. `user`: what it says of the user, in YAML.
  [[nodiscard]] std::string kubeconfig(const std::string& user = "{token: secret}") const;

  void add_job(const std::string& name, int cpu = 1);
  /// A Workload without a job, with so much text in it that a record of it takes about as many bytes.
  void add_workload(const std::string& name, std::size_t bytes = 0, int cpu = 1);
  /// Whether answers have the header Date, which is of this machine.
  void tell_date(bool yes) { dates_ = yes; }

  /// How often a Job was started.
  [[nodiscard]] std::size_t starts() const;
  /// Waits until it was that often; false: the time is over.
  [[nodiscard]] bool wait_for_starts(std::size_t n, std::chrono::seconds limit = std::chrono::seconds(120));
  /// Waits until the Workload has quota.
  [[nodiscard]] bool wait_for_admission(const std::string& workload, std::chrono::seconds limit = std::chrono::seconds(120));
  [[nodiscard]] bool has_admission(const std::string& workload) const;
  /// All Workloads as they are.
  [[nodiscard]] std::vector<Json> workloads() const;

 private:
  using Exchange = connectors::kubernetes::testing::Exchange;
  struct Change {
    int version = 0;
    std::string path;  ///< Of the object.
    std::string type;
    Json object;
  };

  void put(const std::string& path, Json object);
  void serve(Exchange& e);
  void watch(Exchange& e);
  void control_job(Json& job);
  void answer(Exchange& e, int status, const Json& body) const;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<std::string, Json> objects_;  ///< By path.
  std::vector<Change> changes_;
  int version_ = 0;
  std::size_t starts_ = 0;
  std::atomic<bool> closing_ = false, dates_ = true;
  connectors::kubernetes::testing::FakeApiServer server_;
};

}  // namespace hindsight::test
