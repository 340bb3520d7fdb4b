#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "connectors/webhooks/rules/webhook_rules.hpp"

namespace hindsight::connectors::webhooks {

/// One pod template of a job: what it asks of topologies stands in its annotations.
struct TemplateRequest {
  std::string field;        ///< "spec.template.metadata.annotations"
  const Json& annotations;  ///< May be of any shape.
  std::int64_t count = 1;   ///< Pods of its PodSet.
};

/// The templates of a job, one a PodSet. Jobs of any shape.
[[nodiscard]] std::vector<TemplateRequest> templates_of(const Kind& kind, const ObjectView& job);

/// What the annotations of pod templates ask of topologies (2724 §2.9; TAS-38 to TAS-45).
void check_topology_requests(const std::vector<TemplateRequest>& templates, const Surroundings& around, Findings& findings);

/// The same of a Workload's `topologyRequest`s, written by hand (TAS-47, TAS-44).
void check_workload_topology(const ObjectView& now, const ObjectView& before, const Surroundings& around, Findings& findings);

}  // namespace hindsight::connectors::webhooks
