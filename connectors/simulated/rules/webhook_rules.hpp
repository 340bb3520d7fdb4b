#pragma once

#include "connectors/simulated/object_store.hpp"
#include "connectors/simulated/rules/finding.hpp"

namespace hindsight::connectors::simulated {

// What the admission webhooks of the control plane do to objects on their way in (base-api §2 and §5). The recorded conformance
// scenarios ran without webhooks; plain manifests run with them, as on a real cluster.

/// Fills in what webhooks fill in on creation: a job with a queue is suspended, gets the namespace's queue `default` and the class
/// `default` where these exist (BA-23, BA-24), and flavors, queues and checks get the finalizer resource-in-use.
void apply_webhook_defaults(const Kind& kind, Json& object, const ObjectStore& store);

/// Rules for queues, flavors and workloads beyond those of the definitions (BA-4 to BA-18). `before` does not exist on creation.
void check_webhook_rules(const Kind& kind, const ObjectView& now, const ObjectView& before, Findings& findings);

/// Rules for jobs (BA-23, BA-25, BA-26, base-api §5).
void check_job_webhook_rules(const Kind& kind, const ObjectView& now, const ObjectView& before, const ObjectStore& store,
                             Findings& findings);

}  // namespace hindsight::connectors::simulated
