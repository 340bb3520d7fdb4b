#include "connectors/webhooks/surroundings.hpp"

#include <algorithm>
#include <array>

namespace hindsight::connectors::webhooks {

bool gate_by_default(std::string_view name) {
<<<<<<< HEAD
  static constexpr std::array<std::string_view, 7> on{"AdmissionGatedBy",
                                                      "ElasticJobsViaWorkloadSlices",
=======
  static constexpr std::array<std::string_view, 9> on{"ElasticJobsViaWorkloadSlices",
>>>>>>> h3
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
