#include "connectors/manifests/schemas/tables.hpp"

namespace hindsight::connectors::manifests {

// batch/v1 Job of Kubernetes 1.36 and jobset.x-k8s.io/v1alpha2 JobSet.

std::string_view job_table() {
  return R"(
@JobSpec
  activeDeadlineSeconds   int64
  backoffLimit, backoffLimitPerIndex, completions, maxFailedIndexes, parallelism, ttlSecondsAfterFinished  int32
  completionMode, managedBy, podReplacementPolicy  string
  manualSelector, suspend  bool
  podFailurePolicy
    rules!                list
      action!             string
      onExitCodes
        containerName, operator!  string
        values!           set<int32>
      onPodConditions     list
        status, type!     string
  selector                @LabelSelector
  successPolicy
    rules!                list
      succeededCount      int32
      succeededIndexes    string
  template!               @PodTemplate
@Job
  apiVersion, kind        string
  metadata                @Metadata
  spec                    @JobSpec
  status
    active, failed, ready, succeeded, terminating  int32
    completedIndexes, failedIndexes  string
    completionTime, startTime  time
    conditions            list<@StatusCondition>
    uncountedTerminatedPods
      failed, succeeded   set<string>

# ---- JobSet ----------------------------------------------------------------------------------------------------------------
@JobSet
  apiVersion, kind        string
  metadata                @Metadata
  spec
    coordinator
      jobIndex, podIndex  int32
      replicatedJob!      string
    failurePolicy
      maxRestarts         int32
      restartStrategy     enum=Recreate|BlockingRecreate default="Recreate"
      rules               list
        action!           enum=FailJobSet|RestartJobSet|RestartJobSetAndIgnoreMaxRestarts|RestartJob|RestartJobAndIgnoreMaxRestarts
        name!             string
        onJobFailureReasons, onJobFailureMessagePatterns, targetReplicatedJobs  list<string>
    managedBy             string
    network
      enableDNSHostnames, publishNotReadyAddresses  bool
      subdomain           string
    replicatedJobs        list(name)
      dependsOn           list(name) max=1
        name!             string
        status!           enum=Ready|Complete
      groupName           string default="default"
      name!               string
      replicas            int32 default=1
      template!
        metadata          @TemplateMetadata
        spec              @JobSpec
    startupPolicy
      startupPolicyOrder!  enum=AnyOrder|InOrder
    successPolicy
      operator!           enum=All|Any
      targetReplicatedJobs  list<string>
    suspend               bool
    ttlSecondsAfterFinished  int32 min=0
    volumeClaimPolicies   list<any>
  status
    conditions            list(type)<@Condition>
    individualJobsStatus  any
    previousConditions    list<any>
    replicatedJobsStatus  list(name)
      active!, failed!, ready!, succeeded!, suspended!  int32
      name!               string
    restarts, restartsCountTowardsMax  int32
    terminalState         string
)";
}

}  // namespace hindsight::connectors::manifests
