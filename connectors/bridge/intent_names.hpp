#pragma once

#include "admission/model/intents.hpp"

namespace hindsight::connectors {

// What the bridge carries out, by the names that it uses throughout. For the sources of this folder alone.
using admission::FinalizerIntent;
using admission::Intent;
using admission::JobIntent;
using admission::OptionCreateIntent;
using admission::PodFailIntent;
using admission::PodReleaseIntent;
using admission::QuarantineIntent;
using admission::QueueStatusIntent;
using admission::WorkloadAdoptIntent;
using admission::WorkloadCreateIntent;
using admission::WorkloadIntent;
using admission::WorkloadReviseIntent;

}  // namespace hindsight::connectors
