#include "connectors/manifests/schemas/tables.hpp"

namespace hindsight::connectors::manifests {

// The kinds of Kubernetes itself that admission looks at, 1.36, and the metadata of every object.

std::string_view core_table() {
  return R"(
@Metadata
  annotations, labels     map<string>
  creationTimestamp, deletionTimestamp  time
  deletionGracePeriodSeconds, generation  int64
  finalizers              list<string>
  generateName, name, namespace, resourceVersion, selfLink, uid  string
  managedFields           list<any>
  ownerReferences         list
    apiVersion!, kind!, name!, uid!  string
    blockOwnerDeletion, controller  bool
@Namespace
  apiVersion, kind        string
  metadata                @Metadata
  spec
    finalizers            list<string>
  status
    conditions            list<any>
    phase                 string
@StatusCondition
  lastHeartbeatTime, lastTransitionTime, lastProbeTime  time
  message, reason         string
  observedGeneration      int64
  status!, type!          string
@Node
  apiVersion, kind        string
  metadata                @Metadata
  spec
    configSource          any
    externalID, podCIDR, providerID  string
    podCIDRs              list<string>
    taints                list
      effect!, key!, value  string
      timeAdded           time
    unschedulable         bool
  status
    addresses, declaredFeatures, images, runtimeHandlers, volumesAttached  list<any>
    allocatable, capacity  map<quantity>
    conditions            list<@StatusCondition>
    config, daemonEndpoints, features, nodeInfo  any
    phase                 string
    volumesInUse          list<string>
@Pod
  apiVersion, kind        string
  metadata                @Metadata
  spec                    @PodSpec
  status                  any
@PriorityClass
  apiVersion, kind        string
  metadata                @Metadata
  description             string
  globalDefault           bool
  preemptionPolicy        enum=Never|PreemptLowerPriority
  value                   int32
@RuntimeClass
  apiVersion, kind        string
  metadata                @Metadata
  handler!                string
  overhead
    podFixed              map<quantity>
  scheduling
    nodeSelector          map<string>
    tolerations           list<@Toleration>
@LimitRange
  apiVersion, kind        string
  metadata                @Metadata
  spec
    limits!               list
      default, defaultRequest, max, maxLimitRequestRatio, min  map<quantity>
      type!               string

# Only their metadata is known here; an integration looks at the rest.
@Unknown
  apiVersion, kind        string
  metadata                @Metadata
  spec, status            any
# Events: written, never judged.
  action, count, deprecatedCount, deprecatedFirstTimestamp, deprecatedLastTimestamp, deprecatedSource, eventTime  any
  firstTimestamp, involvedObject, lastTimestamp, message, note, reason, regarding, related, reportingComponent  any
  reportingController, reportingInstance, series, source, type  any
)";
}

}  // namespace hindsight::connectors::manifests
