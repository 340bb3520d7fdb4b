#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/model/catalog.hpp"
#include "connectors/kubernetes/lease/lease_election.hpp"
#include "operations/feature_gates.hpp"
#include "operations/listen_address.hpp"
#include "operations/tls.hpp"

namespace hindsight::operations {

/// A label selector; all requirements must hold. See admission::matches().
using LabelRequirements = std::vector<admission::OwnedRequirement>;

/// The controller's configuration, complete with defaults (base-api §11, BA-27).
struct Configuration {
  /// Everything as JSON of v1beta2, every default and every feature gate written out, members in order: equal configurations give equal
  /// texts, whichever way they were written. This is what ConfigurationObserved carries. A waitForPodsReady that is off stands as
  /// {"enable": false}, which no file of v1beta2 can say.
  std::string json;
  /// What is accepted and has no effect, or not the wished one; for people.
  std::vector<std::string> warnings;

  std::string namespace_;  ///< Where the process itself belongs.
  GateValues gates;        ///< All of them.
  [[nodiscard]] bool gate(std::string_view name) const {
    const auto it = gates.find(name);
    return it != gates.end() && it->second;
  }

  bool leader_elect = true;
  connectors::kubernetes::LeaseSettings lease;  ///< Without identity.

  bool manage_jobs_without_queue_name = false;
  LabelRequirements managed_jobs_namespaces;  ///< managedJobsNamespaceSelector (BA-172).
  std::vector<std::string> frameworks;        ///< integrations.frameworks, as given.
  std::vector<std::string> external_frameworks;
  std::vector<std::string> label_keys_to_copy;
  std::vector<std::string> controllers;  ///< Accounts that make jobs as parts of other jobs (hindsight.controllers).
  std::size_t max_options = 16;          ///< hindsight.maxOptions: how many a ClusterQueue may ask for (8691 V3).

  /// hindsight.messageInterval: see connectors::BridgeOptions::message_interval.
  Duration message_interval = Duration::seconds(10);

  std::optional<ListenAddress> metrics_address;  ///< Nothing: no metrics.
  std::optional<ListenAddress> health_address;   ///< Nothing: no probes.
  bool cluster_queue_resource_metrics = false;
  int topology_metrics = 0;  ///< hindsight.topologyMetrics: levels of topologies that gauges are told of.
  bool local_queue_metrics = true;
  LabelRequirements local_queue_metrics_selector;  ///< Empty: all.

  ListenAddress webhook_address{"", 9443};
  std::string webhook_certificates;        ///< Folder.
  bool makes_webhook_certificates = true;  ///< internalCertManagement.enable; otherwise they are in the folder.
  std::string webhook_service, webhook_secret;
  TlsSettings tls;
  ListenAddress visibility_address{"", 8082};

  double client_qps = 300;  ///< Below 0: no limit.
  std::int32_t client_burst = 500;
};

}  // namespace hindsight::operations
