#include "connectors/webhooks/surroundings.hpp"

#include <algorithm>
#include <array>

namespace hindsight::connectors::webhooks {

bool gate_by_default(std::string_view name) {
  static constexpr std::array<std::string_view, 10> on{"AdmissionGatedBy",
                                                       "ElasticJobsViaWorkloadSlices",
                                                       "PartialAdmission",
                                                       "TASMultiLayerTopology",
                                                       "TASValidateWorkloadSliceSize",
                                                       "TopologyAwareScheduling",
                                                       "WorkloadIdentifierAnnotations",
                                                       "WorkloadPriorityClassDefaulting",
                                                       "WorkloadValidateResourcesAreNonNegative",
                                                       "WorkloadValidationForPodSetMetadata"};
  return std::find(on.begin(), on.end(), name) != on.end();
}

}  // namespace hindsight::connectors::webhooks
