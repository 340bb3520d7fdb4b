#include "connectors/manifests/schemas/tables.hpp"

namespace hindsight::connectors::manifests {

// kueue.x-k8s.io/v1beta2 (base-api §2): the bounds, enums and defaults that the schema of a CustomResourceDefinition carries.

std::string_view kueue_table() {
  return R"(
@Condition
  lastTransitionTime!     time
  message!                string max=32768
  observedGeneration      int64 min=0
  reason!                 reason min=1 max=1024
  status!                 enum=True|False|Unknown
  type!                   qualified max=316
@FairSharing
  weight                  quantity default=1
@FairSharingStatus
  weightedShare!          int64

# ---- ResourceFlavor ------------------------------------------------------------------------------------------------------
@ResourceFlavor
  apiVersion, kind        string
  metadata                @Metadata
  spec
    nodeLabels            map<string> max=8
    nodeTaints            list max=8
      effect!, key!, value  string
      timeAdded           time
    tolerations           list<@Toleration> max=8
    topologyName          dns

# ---- ClusterQueue and Cohort -----------------------------------------------------------------------------------------------
@ResourceGroup
  coveredResources!       list<string> min=1 max=64
  flavors!                list(name) min=1 max=64
    name!                 dns
    resources!            list(name) min=1 max=64
      name!               string
      nominalQuota!, borrowingLimit, lendingLimit  quantity
@FlavorUsage
  name!                   dns
  resources!              list(name) max=64
    name!                 string
    borrowed, total       quantity
@ClusterQueue
  apiVersion, kind        string
  metadata                @Metadata
  spec
    admissionChecksStrategy
      admissionChecks!    list(name) min=1 max=64
        name!             string min=1 max=316
        onFlavors         set<dns> max=64
    admissionScope
      admissionMode!      enum=UsageBasedAdmissionFairSharing|NoAdmissionFairSharing
    cohortName            dns
    concurrentAdmission
      onSuccess!          enum=RemoveOther|RemoveLower|RemoveBelowTarget
      explicitOptions     list(name) max=64
        name!             label
        createDelaySeconds, deleteDelaySeconds  int32 min=0
        allowedResourceFlavors!  set<dns> min=1 max=64
      removeBelowTargetConfig
        targetResourceFlavor!  dns
      upgradeFungibility  enum=Always|NoPreemption|NoBorrowing
    concurrentAdmissionPolicy
      migration!
        mode!             enum=TryPreferredFlavors|RetainFirstAdmission
        constraints
          lastAcceptableFlavorName  dns
          explicitVariants  list(name) max=16
            name!         label
            createDelaySeconds, maxDeleteDelaySeconds  int32 min=0
            allowedResourceFlavors!  set<dns> min=1 max=64
          upgradeFungibility  enum=Always|NoPreemption|NoBorrowing
    fairSharing           @FairSharing
    flavorFungibility     object default={}
      preference          enum=BorrowingOverPreemption|PreemptionOverBorrowing
      whenCanBorrow       enum=MayStopSearch|TryNextFlavor default="MayStopSearch"
      whenCanPreempt      enum=MayStopSearch|TryNextFlavor default="TryNextFlavor"
    namespaceSelector     @LabelSelector
    preemption            object default={}
      borrowWithinCohort  object default={}
        maxPriorityThreshold  int32
        policy            enum=Never|LowerPriority default="Never"
      reclaimWithinCohort  enum=Never|LowerPriority|Any default="Never"
      withinClusterQueue  enum=Never|LowerPriority|LowerOrNewerEqualPriority default="Never"
    queueingStrategy      enum=StrictFIFO|BestEffortFIFO default="BestEffortFIFO"
    resourceGroups        list<@ResourceGroup> max=16
    stopPolicy            enum=None|Hold|HoldAndDrain default="None"
  status
    admittedWorkloads, pendingWorkloads, reservingWorkloads  int32
    conditions            list(type)<@Condition> max=16
    fairSharing           @FairSharingStatus
    flavorsReservation, flavorsUsage  list(name)<@FlavorUsage> max=64
@Cohort
  apiVersion, kind        string
  metadata                @Metadata
  spec
    fairSharing           @FairSharing
    parentName            dns
    resourceGroups        list<@ResourceGroup> max=16
  status
    fairSharing           @FairSharingStatus

# ---- LocalQueue ------------------------------------------------------------------------------------------------------------
@LocalQueue
  apiVersion, kind        string
  metadata                @Metadata
  spec
    clusterQueue          dns
    fairSharing           @FairSharing
    stopPolicy            enum=None|Hold|HoldAndDrain default="None"
  status
    admittedWorkloads, pendingWorkloads, reservingWorkloads  int32
    conditions            list(type)<@Condition> max=16
    fairSharing
      admissionFairSharingStatus
        consumedResources!  map<quantity>
        lastUpdate!       time
      weightedShare!      int64
    flavorsReservation, flavorsUsage  list(name) max=64
      name!               dns
      resources!          list(name) max=64
        name!             string
        total             quantity

# ---- Workload --------------------------------------------------------------------------------------------------------------
@TopologyAssignment
  levels!                 list<string> min=1 max=16
  slices!                 list max=1000
    domainCount!          int32 min=1
    podCounts!
      individual          list<int32> min=1 max=100000
      universal           int32 min=1
    valuesPerLevel!       list min=1 max=16
      individual
        prefix            string max=63
        roots!            list<string> min=1 max=100000
        suffix            string max=63
      universal           string max=63
@Workload
  apiVersion, kind        string
  metadata                @Metadata
  spec
    active                bool default=true
    admissionConstraints
      allowedResourceFlavors  set<dns> max=64
    maximumExecutionTimeSeconds  int32 min=1
    podSets               list(name) min=1 max=18
      count               int32 min=0 default=1
      minCount            int32 min=1
      name                label default="main"
      template!           @PodTemplate
      topologyRequest
        podIndexLabel, subGroupIndexLabel  string max=317
        podSetGroupName   string max=256
        podSetSliceRequiredTopology, preferred, required  string max=63
        podSetSliceSize   int32 min=1
        podsetSliceRequiredTopologyConstraints  list max=3
          size!           int32 min=1
          topology!       string min=1 max=63
        subGroupCount     int32 min=0
        unconstrained     bool
    preemptionGates       list(name) max=8
      name!               string min=1 max=63
    priority              int32
    priorityClassRef
      group!              enum=kueue.x-k8s.io|scheduling.k8s.io
      kind!               enum=WorkloadPriorityClass|PriorityClass
      name!               dns min=1
    queueName             dns
    workloadType          enum=Default|ResourceFlavorOption|Parent
  status
    accumulatedPastExecutionTimeSeconds  int32
    admission
      clusterQueue        dns
      podSetAssignments   list(name) max=18
        count             int32 min=0
        delayedTopologyRequest  enum=Pending|Ready
        flavors           map<dns>
        name              label default="main"
        resourceUsage     map<quantity>
        topologyAssignment  @TopologyAssignment
    admissionChecks       list(name) max=8
      lastTransitionTime!  time
      message!            string max=32768
      name!               string min=1 max=316
      podSetUpdates       list max=18
        annotations, labels, nodeSelector  map<string>
        name!             label
        tolerations       list<@Toleration> max=8
      requeueAfterSeconds, retryCount  int32 min=0
      state!              enum=Pending|Ready|Retry|Rejected
    clusterName           string max=256
    conditions            list(type)<@Condition> max=16
    nominatedClusterNames  list<string> max=20
    options               list(name) max=64
      name!               string min=1 max=253
      resourceFlavors     list<dns> max=64
      state!              enum=Pending|Admitted|Deactivated|Finished
      message             string max=32768
      lastTransitionTime!  time
    preemptionGates       list(name) max=8
      lastTransitionTime!  time
      name!               string min=1 max=63
      position!           enum=Closed|Open
    reclaimablePods       list(name) max=18
      count!              int32 min=0
      name!               label
    requeueState
      count               int32 min=0
      requeueAt           time
    resourceRequests      list(name) max=18
      name!               label
      resources           map<quantity>
    schedulingStats
      evictions           list(reason,underlyingCause) max=256
        count!            int32 min=0
        reason!, underlyingCause!  string max=316
    unhealthyNodes        list(name) max=8
      name!               string max=63

# ---- the small kinds -------------------------------------------------------------------------------------------------------
@WorkloadPriorityClass
  apiVersion, kind        string
  metadata                @Metadata
  description             string max=2048
  value!                  int32
@AdmissionCheck
  apiVersion, kind        string
  metadata                @Metadata
  spec
    controllerName!       string min=1 max=253
    parameters
      apiGroup!           dns min=1
      kind!               string min=1 max=63
      name!               label min=1
  status
    conditions            list(type)<@Condition> max=16
@Topology
  apiVersion, kind        string
  metadata                @Metadata
  spec
    levels!               list min=1 max=16
      nodeLabel!          qualified min=1 max=316
@MultiKueueConfig
  apiVersion, kind        string
  metadata                @Metadata
  spec
    clusters!             set<string> min=1 max=20
    quotaManagement       enum=Manual|Automated
@MultiKueueCluster
  apiVersion, kind        string
  metadata                @Metadata
  spec
    clusterSource!
      clusterProfileRef
        name!             string min=1 max=256
      kubeConfig
        location!         string min=1 max=256
        locationType      enum=Secret|Path default="Secret"
  status
    conditions            list(type)<@Condition> max=16
@ProvisioningRequestConfig
  apiVersion, kind        string
  metadata                @Metadata
  spec
    managedResources      set<string> max=100
    parameters            map<string> max=100
    podSetMergePolicy     enum=IdenticalPodTemplates|IdenticalWorkloadSchedulingRequirements
    podSetUpdates
      nodeSelector        list(key) max=8
        key!, valueFromProvisioningClassDetail!  string max=317
    provisioningClassName!  string min=1 max=253
    retryStrategy         object default={"backoffLimitCount":3,"backoffBaseSeconds":60,"backoffMaxSeconds":1800}
      backoffBaseSeconds  int32 default=60
      backoffLimitCount   int32 default=3
      backoffMaxSeconds   int32 default=1800
)";
}

}  // namespace hindsight::connectors::manifests
