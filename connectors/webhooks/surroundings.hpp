#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "connectors/manifests/schema.hpp"

namespace hindsight::connectors::webhooks {

/// hindsight.maxOptions unless set: as many flavors as Kueue tries (8691 V3).
inline constexpr std::size_t max_options_by_default = 16;

/// What defaults and rules may ask about the rest of the cluster and the settings. Asked from several threads at the same time.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  /// The object as it is known now; null: there is none, or its kind is not looked at.
  [[nodiscard]] virtual std::shared_ptr<const manifests::Json> find(std::string_view kind, std::string_view namespace_,
                                                                    std::string_view name) const = 0;
  /// Whether the feature gate of that name is on.
  [[nodiscard]] virtual bool gate(std::string_view name) const = 0;
  /// Whether jobs of that namespace are looked after (managedJobsNamespaceSelector, BA-172).
  [[nodiscard]] virtual bool manages_namespace(std::string_view namespace_) const = 0;
  /// manageJobsWithoutQueueName.
  [[nodiscard]] virtual bool manages_jobs_without_queue_name() const = 0;
  /// Whether jobs of that kind are integrated (integrations.frameworks).
  [[nodiscard]] virtual bool manages_kind(std::string_view kind, std::string_view group) const = 0;
  /// Whether the account makes jobs as parts of other jobs (hindsight.controllers).
  [[nodiscard]] virtual bool is_controller(std::string_view user) const = 0;
  /// How many Options a ClusterQueue may ask for (hindsight.maxOptions).
  [[nodiscard]] virtual std::size_t max_options() const = 0;
};

/// Feature gates that were switched, by name.
using GateValues = std::map<std::string, bool, std::less<>>;

/// The gates that rules ask for, as they are unless set (base-api §12).
[[nodiscard]] bool gate_by_default(std::string_view name);

}  // namespace hindsight::connectors::webhooks
