#pragma once

#include <string_view>

#include "connectors/simulated/rules/finding.hpp"
#include "connectors/simulated/rules/template_update.hpp"

namespace hindsight::connectors::simulated {

// batch/v1 Job as the API server of Kubernetes 1.36 keeps it; updates of pod templates also as its predecessors judged them.

/// Defaults of the spec and its pod template.
void default_job(Json& job);

/// The selector and the labels that tie pods to the job; only on creation.
void generate_job_selector(Json& job);

/// What holds for every Job.
void check_job(const ObjectView& job, Findings& findings);

/// What a change of spec must leave alone; of the template see template_update.hpp.
void check_job_change(const ObjectView& now, const ObjectView& before, const JobRules& rules, Findings& findings);

/// Which states of the status may follow which.
void check_job_status_change(const ObjectView& now, const ObjectView& before, Findings& findings);

/// Drops the counters that are 0, as the API server does.
void compact_job_status(Json& status);

}  // namespace hindsight::connectors::simulated
