#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "connectors/manifests/schema.hpp"

namespace hindsight::connectors::webhooks {

/// How an API server reaches the webhooks.
struct ClientConfig {
  std::string authorities;  ///< PEM of whom it shall trust; empty: what stands there stays.
  std::string url;          ///< "https://host:port", without a path; empty: through the Service.
  std::string service, service_namespace;
  std::int32_t port = 443;  ///< Of the Service.
};

// A merge patch with the object's resourceVersion that brings an object as it is to where it should be; nothing: it is there.

/// For a MutatingWebhookConfiguration or ValidatingWebhookConfiguration. Of its webhooks only where they are reached changes, and only of
/// those whose name is one of ours ("mjob.kb.io", "vworkload.kb.io").
[[nodiscard]] std::optional<std::string> configuration_patch(const manifests::Json& configuration, const ClientConfig& client);

/// For a CustomResourceDefinition: its versions are converted by us.
[[nodiscard]] std::optional<std::string> definition_patch(const manifests::Json& definition, const ClientConfig& client);

}  // namespace hindsight::connectors::webhooks
