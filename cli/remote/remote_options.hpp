#pragma once

#include <string>

#include "cli/remote/api_client.hpp"

namespace hindsight::cli {

/// Options that all commands on a cluster share.
struct RemoteOptions {
  std::string kubeconfig, context, namespace_, format, dry_run = "none";
  bool all_namespaces = false;

  [[nodiscard]] Result<std::unique_ptr<ApiClient>> connect() const { return ApiClient::connect(kubeconfig, context); }
  /// --namespace, else that of the context.
  [[nodiscard]] std::string namespace_in(const ApiClient& client) const { return namespace_.empty() ? client.namespace_() : namespace_; }
  [[nodiscard]] DryRun how() const { return dry_run == "client" ? DryRun::client : dry_run == "server" ? DryRun::server : DryRun::none; }
};

void add_connection_options(CLI::App& command, RemoteOptions& options);
/// -n, and with `all` -A.
void add_namespace_options(CLI::App& command, RemoteOptions& options, bool all);
void add_dry_run(CLI::App& command, RemoteOptions& options);

/// "clusterqueue.kueue.x-k8s.io/name created (dry run)", or with -o the object; `done`: "created".
void print_done(const Session& session, const RemoteOptions& options, const Json& object, const char* done);
/// "clusterqueue.kueue.x-k8s.io/name", "job.batch/name", "pod/name".
[[nodiscard]] std::string resource_name(const std::string& api_version, const std::string& kind, const std::string& name);

}  // namespace hindsight::cli
