#pragma once

#include "connectors/manifests/finding.hpp"

namespace hindsight::connectors::webhooks {

using manifests::Findings;
using manifests::Kind;
using manifests::ObjectView;

/// The rules of deploy/crds that deploy/crds/with-webhooks leaves to us (`webhook` in deploy/crds/description): what they refuse is
/// refused, and nothing else, in their words. Objects of any shape, as they were written in v1beta2; of v1beta1 the definitions keep all
/// rules.
void check_definition_rules(const Kind& kind, const ObjectView& now, const ObjectView& before, Findings& findings);

}  // namespace hindsight::connectors::webhooks
