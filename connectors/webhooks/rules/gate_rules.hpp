#pragma once

#include "connectors/webhooks/rules/webhook_rules.hpp"

namespace hindsight::connectors::webhooks {

/// Annotations scheduling-gated-by and admission-gated-by of a job, each under its own feature gate: set at creation only, afterwards only
/// taken away (6915 §2.2, §3.B, §3.C).
void check_job_gates(const ObjectView& now, const ObjectView& before, const Surroundings& around, Findings& findings);

/// admission-gated-by of a Workload, by the same rules (SG-63).
void check_workload_gates(const ObjectView& now, const ObjectView& before, const Surroundings& around, Findings& findings);

}  // namespace hindsight::connectors::webhooks
