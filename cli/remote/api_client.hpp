#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/output.hpp"
#include "connectors/cluster.hpp"
#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::cli {

/// Whether what is asked for is done: `client` prints what would be sent, `server` lets the API server judge it and keep nothing.
enum class DryRun { none, client, server };

/// Narrows a list; empty texts: everything.
struct ListSelection {
  std::string namespace_;  ///< Empty: all namespaces, or a kind that has none.
  std::string label_selector, field_selector;
};

/// One API server, asked one request after the other. Each waits for its answer for at most half a minute, and as long again in all while
/// the server has too much to do. Errors: unavailable, denied, not_found, conflict, or invalid, with what the server says.
class ApiClient {
 public:
  /// Reads the kubeconfig as kubectl does; nothing is sent yet.
  [[nodiscard]] static Result<std::unique_ptr<ApiClient>> connect(const std::string& kubeconfig, const std::string& context);
  ~ApiClient();
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;

  /// Of the context; "default" where it names none.
  [[nodiscard]] const std::string& namespace_() const { return cluster_->connection().namespace_; }

  [[nodiscard]] Result<Json> get(const connectors::ResourceType& type, const std::string& namespace_, const std::string& name);
  /// Any path below the server, with its query.
  [[nodiscard]] Result<Json> get_path(const std::string& path);
  /// All objects, page by page.
  [[nodiscard]] Result<std::vector<Json>> list(const connectors::ResourceType& type, const ListSelection& selection);
  [[nodiscard]] Result<Json> create(const connectors::ResourceType& type, const std::string& namespace_, const Json& object,
                                    DryRun dry_run);
  [[nodiscard]] Result<Json> merge_patch(const connectors::ResourceType& type, const std::string& namespace_, const std::string& name,
                                         const Json& patch, DryRun dry_run);
  /// Only the object with this uid, if one is given; what depends on it goes in the background.
  [[nodiscard]] Result<void> remove(const connectors::ResourceType& type, const std::string& namespace_, const std::string& name,
                                    const std::string& uid, DryRun dry_run);

 private:
  explicit ApiClient(std::unique_ptr<connectors::kubernetes::KubernetesCluster> cluster) : cluster_(std::move(cluster)) {}
  [[nodiscard]] Result<Json> send(const connectors::kubernetes::HttpRequest& request);
  [[nodiscard]] Result<connectors::kubernetes::HttpAnswer> ask(connectors::kubernetes::HttpRequest request);

  std::unique_ptr<connectors::kubernetes::KubernetesCluster> cluster_;
};

}  // namespace hindsight::cli
