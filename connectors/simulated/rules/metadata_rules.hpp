#pragma once

#include "connectors/simulated/rules/finding.hpp"

namespace hindsight::connectors::simulated {

/// What the API server demands of the metadata of every object: name, labels, annotations, finalizers, owners.
void check_metadata(const Kind& kind, const Json& metadata, Findings& findings);

/// What a change of metadata must leave alone; an object that is being deleted gets no new finalizers.
void check_metadata_change(const Json& now, const Json& before, Findings& findings);

}  // namespace hindsight::connectors::simulated
