#pragma once

#include "connectors/webhooks/rules/webhook_rules.hpp"

namespace hindsight::connectors::webhooks {

/// Whether this is one of Ray's kinds and nobody here looks after it: it names no queue, and not all jobs of its namespace are managed.
/// What its annotations say is then its own affair (SG-13).
[[nodiscard]] bool is_unmanaged_ray(const Kind& kind, const ObjectView& now, const Surroundings& around);

/// Rules for RayClusters and RayJobs that wait in a queue: how many groups, which names, and that only elastic ones scale themselves (77
/// §2.5, EJ-129). `elastic`: the job is, and the feature gate is on. Objects of any shape; of other kinds nothing is said.
void check_ray_webhook_rules(const Kind& kind, const ObjectView& now, bool elastic, const Surroundings& around, Findings& findings);

/// Puts the gate of elastic jobs on the head and the workers of a RayCluster, once (EJ-65). RayJobs need none: KubeRay hands their
/// annotation on to the RayCluster that it makes.
void add_gates_to_ray_cluster(Json& ray_cluster);

}  // namespace hindsight::connectors::webhooks
