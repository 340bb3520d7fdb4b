#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "connectors/objects/resource_types.hpp"

namespace hindsight::connectors {

/// One object of each kind that has most of its fields: where mutation begins.
inline constexpr std::array<std::pair<const ResourceType*, std::string_view>, 13> samples{{
    {&types::workload, R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w","namespace":"ns","uid":"u",
      "resourceVersion":"7","generation":2,"creationTimestamp":"2026-01-01T00:00:00Z","finalizers":["kueue.x-k8s.io/resource-in-use"],
      "labels":{"kueue.x-k8s.io/job-uid":"u1","kueue.x-k8s.io/concurrent-admission-parent":"true"},
      "annotations":{"kueue.x-k8s.io/priority-boost":"3","kueue.x-k8s.io/parent-option":"true",
      "kueue.x-k8s.io/workload-allowed-resource-flavors":"spot, other"},
      "ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"a","uid":"u1","controller":true}]},
      "spec":{"queueName":"lq","priority":10,"priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"high"},
      "active":true,"maximumExecutionTimeSeconds":60,"admissionConstraints":{"allowedResourceFlavors":["spot"]},
      "preemptionGates":[{"name":"kueue.x-k8s.io/concurrent-admission"}],"podSets":[{"name":"main","count":4,"minCount":2,"topologyRequest":{"required":"rack"},
      "template":{"metadata":{"labels":{"a":"b"},"annotations":{"kueue.x-k8s.io/podset-group-name":"g"}},"spec":{"nodeSelector":{"zone":"b"},
      "tolerations":[{"key":"k","operator":"Exists","effect":"NoSchedule"}],"overhead":{"cpu":"1m"},"runtimeClassName":"kata",
      "resources":{"requests":{"cpu":"1"},"limits":{"memory":"1Gi"}},
      "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[
      {"key":"a","operator":"In","values":["1","2"]}]}]}}},
      "initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"100m"}}}],
      "containers":[{"image":"i:1","imagePullPolicy":"IfNotPresent","env":[{"name":"A","value":"1"},{"name":"A","value":"2"}],
      "ports":[{"containerPort":80}],"resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"2"}}}]}}}]},
      "status":{"conditions":[{"type":"QuotaReserved","status":"True","reason":"R","message":"m","lastTransitionTime":"2026-01-01T00:00:10Z"}],
      "admission":{"clusterQueue":"cq","podSetAssignments":[{"name":"main","count":3,"flavors":{"cpu":"spot"},"resourceUsage":{"cpu":"3"}}]},
      "admissionChecks":[{"name":"p","state":"Ready","message":"ok","lastTransitionTime":"2026-01-01T00:00:12Z","retryCount":2,
      "podSetUpdates":[{"name":"main","labels":{"a":"b"}}]}],"requeueState":{"count":2,"requeueAt":"2026-01-01T00:05:00Z"},
      "reclaimablePods":[{"name":"main","count":1}],"accumulatedPastExecutionTimeSeconds":33,
      "schedulingStats":{"evictions":[{"reason":"Preempted","underlyingCause":"","count":2}]},
      "preemptionGates":[{"name":"kueue.x-k8s.io/concurrent-admission","position":"Open","lastTransitionTime":"2026-01-01T00:00:12Z"}],
      "options":[{"name":"w-option-spot","resourceFlavors":["spot"],"state":"Admitted","message":"m","lastTransitionTime":"2026-01-01T00:00:12Z"}],
      "resourceRequests":[{"name":"main","resources":{"cpu":"4"}}]}})"},
    {&types::job, R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"ns","uid":"u","generation":4,
      "labels":{"kueue.x-k8s.io/queue-name":"lq","kueue.x-k8s.io/max-exec-time-seconds":"5"},
      "annotations":{"kueue.x-k8s.io/job-min-parallelism":"2","kueue.x-k8s.io/elastic-job":"true","kueue.x-k8s.io/stopping":"true"}},
      "spec":{"suspend":true,"parallelism":4,"completions":9,"completionMode":"Indexed","template":{"metadata":{"labels":{"job-name":"j"}},
      "spec":{"priorityClassName":"p","restartPolicy":"Never","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}},
      "status":{"active":1,"ready":1,"succeeded":3,"completedIndexes":"0-2,5","failedIndexes":"7","uncountedTerminatedPods":{"succeeded":["x"]},
      "startTime":"2026-01-01T00:00:00Z","conditions":[{"type":"Complete","status":"False","message":"m"}]}})"},
    {&types::job_set, R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"s","namespace":"ns","uid":"u"},
      "spec":{"suspend":false,"replicatedJobs":[{"name":"a","replicas":2,"template":{"spec":{"parallelism":3,"completions":2,
      "template":{"spec":{"containers":[{"name":"c"}]}}}}}]},
      "status":{"replicatedJobsStatus":[{"name":"a","active":1,"ready":1,"succeeded":1}],"conditions":[{"type":"Failed","status":"True"}]}})"},
    {&types::cluster_queue, R"({"metadata":{"name":"cq"},"spec":{"cohortName":"t","queueingStrategy":"StrictFIFO",
      "namespaceSelector":{"matchLabels":{"b":"2"},"matchExpressions":[{"key":"c","operator":"NotIn","values":["x"]}]},
      "resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"1500m","borrowingLimit":"2",
      "lendingLimit":0}]}]}],"flavorFungibility":{"whenCanBorrow":"TryNextFlavor","preference":"PreemptionOverBorrowing"},
      "preemption":{"withinClusterQueue":"LowerPriority","borrowWithinCohort":{"policy":"LowerPriority","maxPriorityThreshold":-5}},
      "admissionChecksStrategy":{"admissionChecks":[{"name":"p","onFlavors":["f"]}]},"stopPolicy":"Hold","fairSharing":{"weight":"250m"},
      "concurrentAdmission":{"onSuccess":"RemoveBelowTarget","removeBelowTargetConfig":{"targetResourceFlavor":"f"},
      "explicitOptions":[{"name":"o","createDelaySeconds":5,"deleteDelaySeconds":0,"allowedResourceFlavors":["f"]}]}}})"},
    {&types::cohort, R"({"metadata":{"name":"c"},"spec":{"parentName":"r","fairSharing":{"weight":0}}})"},
    {&types::local_queue, R"({"metadata":{"name":"lq","namespace":"ns"},"spec":{"clusterQueue":"cq","stopPolicy":"Hold"}})"},
    {&types::resource_flavor, R"({"metadata":{"name":"f"},"spec":{"nodeLabels":{"a":"b"},"topologyName":"t",
      "nodeTaints":[{"key":"k","effect":"NoExecute"}],"tolerations":[{"operator":"Exists"}]}})"},
    {&types::workload_priority_class, R"({"metadata":{"name":"p"},"value":-7})"},
    {&types::priority_class, R"({"metadata":{"name":"p"},"value":7,"globalDefault":true})"},
    {&types::namespace_, R"({"metadata":{"name":"n","labels":{"a":"b"}}})"},
    {&types::admission_check,
     R"({"metadata":{"name":"c"},"spec":{"controllerName":"x"},"status":{"conditions":[{"type":"Active","status":"True"}]}})"},
    {&types::topology, R"({"metadata":{"name":"t"},"spec":{"levels":[{"nodeLabel":"a"},{"nodeLabel":"b"}]}})"},
    {&types::node,
     R"({"metadata":{"name":"n","labels":{"a":"b"}},"spec":{"unschedulable":true,"taints":[{"key":"k","effect":"NoSchedule"}]},
      "status":{"allocatable":{"cpu":"4"},"conditions":[{"type":"Ready","status":"True"}]}})"},
}};

}  // namespace hindsight::connectors
