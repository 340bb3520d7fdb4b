#pragma once

#include "connectors/manifests/finding.hpp"
#include "connectors/simulated/json_views.hpp"
#include "connectors/simulated/reply.hpp"

namespace hindsight::connectors::simulated {

using manifests::at;
using manifests::each_item;
using manifests::Findings;
using manifests::ObjectView;

}  // namespace hindsight::connectors::simulated
