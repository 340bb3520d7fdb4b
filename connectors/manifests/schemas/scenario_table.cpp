#include "connectors/manifests/schemas/tables.hpp"

namespace hindsight::connectors::manifests {

// hindsight.dev/v1alpha1 Scenario: what happens to a cluster, step by step in virtual time.

std::string_view scenario_table() {
  return R"(
@Owner
  kind!, name!            string
@Scenario
  apiVersion, kind        string
  metadata                @Metadata
  spec!
    config                any
    featureGates          map<bool>
    steps!                list
      at!                 string
      apply               list<any>
      patch               list
        kind!             string
        namespace, name   string
        owner             @Owner
        merge!            any
        subresource       enum=status
      finish              list
        kind!             enum=Job|JobSet
        namespace         string
        name!             string
        failed            bool
      delete              list
        kind!             string
        namespace         string
        name!             string
)";
}

}  // namespace hindsight::connectors::manifests
