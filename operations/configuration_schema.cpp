#include "operations/configuration_schema.hpp"

namespace hindsight::operations {
namespace {

using connectors::manifests::Schema;
using connectors::manifests::SchemaTable;

// The language is that of SchemaTable. Durations are strings here; configuration_checks.cpp reads them.
constexpr std::string_view table_text = R"(
@LabelSelector
  matchLabels             map<string>
  matchExpressions        list
    key!                  qualified
    operator!             enum=In|NotIn|Exists|DoesNotExist
    values                list<string>
@Configuration
  apiVersion, kind        string
  namespace               label
  webhook                 object default={}
    port                  int32 min=1 max=65535 default=9443
    host                  string
    certDir               string default="/tmp/k8s-webhook-server/serving-certs"
  metrics                 object default={}
    bindAddress           string default=":8443"
    enableClusterQueueResources  bool default=false
    customLabels          list(name) max=20
      name!               string max=100
      sourceLabelKey, sourceAnnotationKey  qualified
      sourceKind          enum=ClusterQueue|LocalQueue|Cohort|Workload default="ClusterQueue"
      trackedValues       set<string>
    localQueueMetrics     object default={}
      enable              bool default=true
      localQueueSelector  @LabelSelector
  health                  object default={}
    healthProbeBindAddress  string default=":8081"
    readinessEndpointName, livenessEndpointName  string
  pprofBindAddress        string
  leaderElection          object default={}
    leaderElect           bool default=true
    leaseDuration         string default="15s"
    renewDeadline         string default="10s"
    retryPeriod           string default="2s"
    resourceLock          enum=leases default="leases"
    resourceName          dns default="c1f6bfd2.kueue.x-k8s.io"
    resourceNamespace     label
  controller
    groupKindConcurrency  map<int32>
    cacheSyncTimeout      intOrString
  tls
    minVersion            enum=VersionTLS10|VersionTLS11|VersionTLS12|VersionTLS13
    cipherSuites          set<string>
    curvePreferences      set<intOrString>
  manageJobsWithoutQueueName  bool default=false
  managedJobsNamespaceSelector  @LabelSelector
  internalCertManagement  object default={}
    enable                bool default=true
    webhookServiceName    string default="kueue-webhook-service"
    webhookSecretName     string default="kueue-webhook-server-cert"
  waitForPodsReady        object default={}
    timeout               string default="30m"
    blockAdmission        bool default=false
    recoveryTimeout       string
    requeuingStrategy     object default={}
      timestamp           enum=Eviction|Creation default="Eviction"
      backoffLimitCount   int32 min=0
      backoffBaseSeconds  int32 min=0 default=60
      backoffMaxSeconds   int32 min=0 default=3600
  clientConnection        object default={}
    qps                   number default=300
    burst                 int32 default=500
  integrations            object default={}
    frameworks            set<string> default=["batch/job"]
    externalFrameworks    set<string>
    labelKeysToCopy       set<qualified>
  multiKueue              object default={}
    gcInterval            string default="1m"
    origin                string default="multikueue"
    workerLostTimeout     string default="15m"
    dispatcherName        qualified default="kueue.x-k8s.io/multikueue-dispatcher-all-at-once"
    incrementalDispatcherConfig
      stepSize            int32 min=1 default=3
    externalFrameworks    list(name)
      name!               string
    clusterProfile
      accessProviders     list(name)
        name!             string min=1
        execConfig        any
  fairSharing
    preemptionStrategies! list<string>
  admissionFairSharing
    usageHalfLifeTime     string default="0s"
    usageSamplingInterval  string default="5m"
    resourceWeights       map<number>
  resources               object default={}
    quotaCheckStrategy    enum=BlockUndeclared|IgnoreUndeclared default="BlockUndeclared"
    excludeResourcePrefixes  list<string>
    transformations       list(input)
      input!              qualified
      strategy            enum=Retain|Replace default="Retain"
      multiplyBy          qualified
      outputs             map<quantity>
    deviceClassMappings   list(name) max=16
      name!               qualified
      deviceClassNames!   set<qualified> min=1 max=8
      sources             list<any>
  featureGates            map<bool>
  objectRetentionPolicies
    workloads
      afterFinished, afterDeactivatedByKueue  string
  visibilityServer        object default={}
    bindAddress           string
    bindPort              int32 min=1 max=65535 default=8082
  hindsight
    admissionsAhead       int32 min=0 max=1000
    claimDuration         string
    controllers           set<string>
    maxOptions            int32 min=1 max=64
    messageInterval       string
    preemptedWorkloadSliceHistory int32 min=0
    preemptionRightTimeout  string
    reactivationBatch     string
    repeatedPreemptions   int32 min=0 max=1000
    topologyMetrics       int32 min=0 max=16
    topologyCapacity      enum=Sum|Nodes
    topologyProfile       enum=Kueue|Compact
    upgradesBlockStrictFIFO bool
@QueueVisibility
  updateIntervalSeconds   int32 min=1
  clusterQueues
    maxCount              int32 min=0 max=4000
@PodOptions
  namespaceSelector, podSelector  @LabelSelector
)";

const SchemaTable& table() {
  static const SchemaTable instance({table_text});
  return instance;
}

constexpr Framework framework_table[] = {
    {"batch/job", "Job", "v1", "batch"},
    {"jobset.x-k8s.io/jobset", "JobSet", "v1alpha2", "jobset.x-k8s.io"},
    {"kubeflow.org/pytorchjob", "PyTorchJob", "v1", "kubeflow.org"},
    {"kubeflow.org/paddlejob", "PaddleJob", "v1", "kubeflow.org"},
    {"kubeflow.org/tfjob", "TFJob", "v1", "kubeflow.org"},
    {"kubeflow.org/xgboostjob", "XGBoostJob", "v1", "kubeflow.org"},
    {"kubeflow.org/jaxjob", "JAXJob", "v1", "kubeflow.org"},
    {"kubeflow.org/mpijob", "MPIJob", "v2beta1", "kubeflow.org"},
    {"trainer.kubeflow.org/trainjob", "TrainJob", "v1alpha1", "trainer.kubeflow.org"},
    {"ray.io/raycluster", "RayCluster", "v1", "ray.io"},
    {"ray.io/rayjob", "RayJob", "v1", "ray.io"},
    {"ray.io/rayservice", "RayService", "v1", "ray.io"},
    {"workload.codeflare.dev/appwrapper", "AppWrapper", "v1beta2", "workload.codeflare.dev"},
    {"sparkoperator.k8s.io/sparkapplication", "SparkApplication", "v1beta2", "sparkoperator.k8s.io"},
    {"pod", "Pod", "v1", ""},
    {"deployment", "Deployment", "v1", "apps"},
    {"statefulset", "StatefulSet", "v1", "apps"},
    {"leaderworkerset.x-k8s.io/leaderworkerset", "LeaderWorkerSet", "v1", "leaderworkerset.x-k8s.io"},
};

// The names of Go's crypto/tls, which the field is documented by.
constexpr std::string_view cipher_suite_table[] = {
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_RSA_WITH_RC4_128_SHA",
};

constexpr std::string_view curve_table[] = {"CurveP256", "CurveP384", "CurveP521", "X25519", "X25519MLKEM768"};

}  // namespace

const Schema& configuration_schema() { return table().at("Configuration"); }
const Schema& queue_visibility_schema() { return table().at("QueueVisibility"); }
const Schema& pod_options_schema() { return table().at("PodOptions"); }
std::span<const Framework> frameworks() { return framework_table; }
std::span<const std::string_view> cipher_suites() { return cipher_suite_table; }
std::span<const std::string_view> curves() { return curve_table; }

}  // namespace hindsight::operations
