#pragma once

#include "connectors/manifests/finding.hpp"
#include "connectors/webhooks/surroundings.hpp"

namespace hindsight::connectors::webhooks {

using manifests::Findings;
using manifests::Json;
using manifests::Kind;
using manifests::ObjectView;
using manifests::ProblemKind;

// What the admission webhooks of the control plane do to objects on their way in (base-api §2 and §5). The recorded conformance
// scenarios ran without webhooks; plain manifests run with them, as on a real cluster.

/// Fills in what webhooks fill in on creation: a job that is managed is suspended, gets the namespace's queue `default` and the class
/// `default` where these exist (BA-23, BA-24), flavors, queues and checks get the finalizer resource-in-use, and a Workload loses
/// `minCount` where partial admission is off. A job that claims to be part of another one is left alone if `user` is a controller; anybody
/// else's is managed by itself, and carries the name of who made it. An object of any shape is left whole.
void apply_webhook_defaults(const Kind& kind, Json& object, const Surroundings& around, std::string_view user);

/// Rules for queues, flavors and workloads beyond those of the definitions (BA-4 to BA-18). `before` does not exist on creation. Both
/// fit their tables.
void check_webhook_rules(const Kind& kind, const ObjectView& now, const ObjectView& before, const Surroundings& around, Findings& findings);

/// Rules for jobs (BA-23, BA-25, BA-26, base-api §5). Jobs of any shape; `user` writes the job.
void check_job_webhook_rules(const Kind& kind, const ObjectView& now, const ObjectView& before, const Surroundings& around,
                             std::string_view user, Findings& findings);

}  // namespace hindsight::connectors::webhooks
