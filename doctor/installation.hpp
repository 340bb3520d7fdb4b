#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "doctor/cluster_reader.hpp"

namespace hindsight::doctor {

/// Where deploy/ puts things.
namespace names {
inline constexpr const char* namespace_ = "hindsight-system";
inline constexpr const char* account = "hindsight";
inline constexpr const char* deployment = "hindsight";
inline constexpr const char* webhook_service = "hindsight-webhook-service";
inline constexpr const char* webhook_secret = "hindsight-webhook-server-cert";
inline constexpr const char* visibility_service = "hindsight-visibility-server";
inline constexpr const char* mutating = "hindsight-mutating-webhook-configuration";
inline constexpr const char* validating = "hindsight-validating-webhook-configuration";
inline constexpr const char* lease = "c1f6bfd2.kueue.x-k8s.io";
}  // namespace names

/// What of Hindsight is in a cluster, as far as Deployments tell. A process outside of the cluster has none.
struct Installation {
  std::string namespace_ = names::namespace_;
  std::string account = names::account;  ///< The service account.
  std::string deployment = names::deployment;
  std::string container = names::deployment;  ///< The one of the pod that runs us.
  std::vector<std::string> arguments;         ///< Of the container; empty: there is no Deployment.
  Json object;                                ///< The Deployment; null: there is none.
  std::vector<std::string> others;            ///< Further Deployments of Hindsight: "namespace/name".
  std::string configuration;                  ///< The text of --config from the ConfigMap that is mounted; empty: not found.
  std::string configuration_map;              ///< Its name.

  [[nodiscard]] bool deployed() const { return !object.is_null(); }
  [[nodiscard]] std::int64_t replicas() const;
  /// "--webhooks" stands among the arguments.
  [[nodiscard]] bool has_flag(std::string_view flag) const;
  /// The value of "--option=value" or "--option value"; empty: not there.
  [[nodiscard]] std::string value_of(std::string_view option) const;
  /// Those of deploy/, so that its manifests say what there is to be.
  [[nodiscard]] bool has_default_names() const { return namespace_ == names::namespace_ && account == names::account; }
  /// "-n hindsight-system deployment/hindsight" for kubectl.
  [[nodiscard]] std::string deployment_words() const;
};

/// Reads what a Deployment says of us. `object` is one of apps/v1.
[[nodiscard]] Installation installation_of(Json object);

/// Looks for it: in `namespace_`, or where it is empty in all namespaces. Errors: those of `list`.
[[nodiscard]] Result<Installation> look_for_installation(ClusterReader& cluster, const std::string& namespace_);

}  // namespace hindsight::doctor
