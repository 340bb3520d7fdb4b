#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/live/controller_process.hpp"
#include "bench/live/request_counts.hpp"
#include "bench/live/server_usage.hpp"
#include "bench/live/settings.hpp"
#include "bench/live/third_client.hpp"
#include "connectors/json/json_value.hpp"
#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "tests/support/cluster_fixture.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::bench {

/// Says on standard error what goes on.
void say(const std::string& text);
[[nodiscard]] Error failure(const std::string& message);

/// Has the kinds of Kueue's API served. Errors: unavailable.
[[nodiscard]] Result<void> define_kinds(hindsight::testing::LocalCluster& cluster, const Settings& settings);

/// Runs `work` on an API server of its own that knows the kinds of Kueue: what one phase leaves behind must not slow the next.
template <class T>
Result<T> on_a_cluster(const Settings& settings, const std::function<Result<T>(hindsight::testing::LocalCluster&)>& work) {
  hindsight::testing::LocalCluster cluster;
  if (!cluster.failure().empty()) return tl::unexpected(failure(cluster.failure()));
  if (auto defined = define_kinds(cluster, settings); !defined) return tl::unexpected(defined.error());
  return work(cluster);
}

/// What a load took of everybody.
struct LiveFigures {
  std::uint64_t writes = 0;      ///< Of Hindsight, of all kinds, Kubernetes events left out.
  std::uint64_t conflicts = 0;   ///< Of Hindsight.
  std::uint64_t answers = 0;     ///< To all its requests: writes, Kubernetes events, lists, the lease.
  double cpu_seconds = 0;        ///< Of Hindsight, from its start.
  double load_cpu_seconds = 0;   ///< Of these: since the load began.
  double megabytes = 0;          ///< Of Hindsight, at most.
  double load_megabytes = 0;     ///< By how much what it has in memory grew under the load.
  ServerUsage server;            ///< Processor time: since the load began.
  RequestCounts requests;        ///< Since the load began, of everybody.
  ThirdClient::Seen idle, busy;  ///< What the writes of somebody else take before the load, and beside it.
};

/// An API server with Hindsight, a client of the load and a third client; nothing goes on yet when it is made.
class LiveCluster {
 public:
  /// Applies the `objects`, a List, and starts everybody. Errors: unavailable.
  [[nodiscard]] static Result<std::unique_ptr<LiveCluster>> start(hindsight::testing::LocalCluster& cluster, const Settings& settings,
                                                                  const connectors::Json& objects, const std::string& folder);
  ~LiveCluster();
  LiveCluster(const LiveCluster&) = delete;
  LiveCluster& operator=(const LiveCluster&) = delete;

  /// Who makes the load; it writes as many at a time as it wants to.
  [[nodiscard]] connectors::kubernetes::KubernetesCluster& client() { return *client_; }
  /// Of the administrator.
  [[nodiscard]] const connectors::kubernetes::Connection& connection() const { return connection_; }

  /// Ends the client and Hindsight; call it before what the client calls back dies. Errors: unavailable.
  [[nodiscard]] Result<LiveFigures> end();

 private:
  explicit LiveCluster(hindsight::testing::LocalCluster& cluster) : cluster_(cluster) {}
  [[nodiscard]] Result<void> begin();

  hindsight::testing::LocalCluster& cluster_;
  std::string folder_;
  connectors::kubernetes::Connection connection_;
  std::unique_ptr<ControllerProcess> controller_;
  std::unique_ptr<connectors::kubernetes::KubernetesCluster> client_;
  std::unique_ptr<ThirdClient> third_;
  LiveFigures before_;
};

}  // namespace hindsight::bench
