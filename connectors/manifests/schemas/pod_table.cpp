#include "connectors/manifests/schemas/tables.hpp"

namespace hindsight::connectors::manifests {

// Pods and pod templates of core/v1, Kubernetes 1.36, without volumes.

std::string_view pod_table() {
  return R"(
@NodeSelectorRequirement
  key!, operator!  string
  values  list<string>
@NodeSelectorTerm
  matchExpressions, matchFields  list<@NodeSelectorRequirement>
@LabelSelector
  matchExpressions  list<@NodeSelectorRequirement>
  matchLabels  map<string>
@PodAffinityTerm
  labelSelector, namespaceSelector  @LabelSelector
  matchLabelKeys, mismatchLabelKeys, namespaces  list<string>
  topologyKey!  string
@PodAffinity
  preferredDuringSchedulingIgnoredDuringExecution  list
    podAffinityTerm!  @PodAffinityTerm
    weight!  int32
  requiredDuringSchedulingIgnoredDuringExecution  list<@PodAffinityTerm>
@Affinity
  nodeAffinity
    preferredDuringSchedulingIgnoredDuringExecution  list
      preference!  @NodeSelectorTerm
      weight!  int32
    requiredDuringSchedulingIgnoredDuringExecution
      nodeSelectorTerms!  list<@NodeSelectorTerm>
  podAffinity, podAntiAffinity  @PodAffinity
@TemplateMetadata
  annotations, labels  map<string>
  finalizers  list<string>
  name, namespace  string
@HttpGet
  host, path, scheme  string
  httpHeaders  list
    name!, value!  string
  port!  intOrString
@TcpSocket
  host  string
  port!  intOrString
@Handler
  exec
    command  list<string>
  httpGet  @HttpGet
  sleep
    seconds!  int64
  tcpSocket  @TcpSocket
@Probe
  exec
    command  list<string>
  failureThreshold, initialDelaySeconds, periodSeconds, successThreshold, timeoutSeconds  int32
  grpc
    port!  int32
    service  string default=""
  httpGet  @HttpGet
  tcpSocket  @TcpSocket
  terminationGracePeriodSeconds  int64
@ResourceFieldRef
  containerName, resource!  string
  divisor  quantity
@FieldRef
  apiVersion, fieldPath!  string
@EnvVar
  name!, value  string
  valueFrom
    configMapKeyRef
      key!  string
      name  string default=""
      optional  bool
    fieldRef  @FieldRef
    fileKeyRef
      key!, path!, volumeName!  string
      optional  bool default=false
    resourceFieldRef  @ResourceFieldRef
    secretKeyRef
      key!  string
      name  string default=""
      optional  bool
@EnvFrom
  configMapRef
    name  string default=""
    optional  bool
  prefix  string
  secretRef
    name  string default=""
    optional  bool
@ResourceRequirements
  claims  list(name)
    name!, request  string
  limits, requests  map<quantity>
@ContainerPort
  containerPort!, hostPort  int32
  hostIP, name  string
  protocol  string default="TCP"
@RestartRule
  action!  string
  exitCodes
    operator!  string
    values  set<int32>
@ContainerSecurity
  allowPrivilegeEscalation, privileged, readOnlyRootFilesystem, runAsNonRoot  bool
  appArmorProfile, seccompProfile  @SecurityProfile
  capabilities
    add, drop  list<string>
  procMount  string
  runAsGroup, runAsUser  int64
  seLinuxOptions  @SeLinux
  windowsOptions  @WindowsOptions
@SeLinux
  level, role, type, user  string
@SecurityProfile
  localhostProfile, type!  string
@WindowsOptions
  gmsaCredentialSpec, gmsaCredentialSpecName, runAsUserName  string
  hostProcess  bool
@VolumeMount
  mountPath!, mountPropagation, name!, recursiveReadOnly, subPath, subPathExpr  string
  readOnly  bool
@Container
  args, command  list<string>
  env  list(name)<@EnvVar>
  envFrom  list<@EnvFrom>
  image, imagePullPolicy, name!, restartPolicy, terminationMessagePath, terminationMessagePolicy, workingDir  string
  lifecycle
    postStart, preStop  @Handler
    stopSignal  string
  livenessProbe, readinessProbe, startupProbe  @Probe
  ports  list(containerPort,protocol)<@ContainerPort>
  resizePolicy  list
    resourceName!, restartPolicy!  string
  resources  @ResourceRequirements
  restartPolicyRules  list<@RestartRule>
  securityContext  @ContainerSecurity
  stdin, stdinOnce, tty  bool
  volumeDevices  list(devicePath)
    devicePath!, name!  string
  volumeMounts  list(mountPath)<@VolumeMount>
@EphemeralContainer
  args, command  list<string>
  env  list(name)<@EnvVar>
  envFrom  list<@EnvFrom>
  image, imagePullPolicy, name!, restartPolicy, targetContainerName, terminationMessagePath  string
  terminationMessagePolicy, workingDir  string
  lifecycle
    postStart, preStop  @Handler
    stopSignal  string
  livenessProbe, readinessProbe, startupProbe  @Probe
  ports  list(containerPort,protocol)<@ContainerPort>
  resizePolicy  list
    resourceName!, restartPolicy!  string
  resources  @ResourceRequirements
  restartPolicyRules  list<@RestartRule>
  securityContext  @ContainerSecurity
  stdin, stdinOnce, tty  bool
  volumeDevices  list(devicePath)
    devicePath!, name!  string
  volumeMounts  list(mountPath)<@VolumeMount>
@LocalObjectReference
  name  string default=""
@Toleration
  effect, key, operator, value  string
  tolerationSeconds  int64
@PodSecurity
  appArmorProfile, seccompProfile  @SecurityProfile
  fsGroup, runAsGroup, runAsUser  int64
  fsGroupChangePolicy, seLinuxChangePolicy, supplementalGroupsPolicy  string
  runAsNonRoot  bool
  seLinuxOptions  @SeLinux
  supplementalGroups  list<int64>
  sysctls  list
    name!, value!  string
  windowsOptions  @WindowsOptions
@TopologySpread
  labelSelector  @LabelSelector
  matchLabelKeys  list<string>
  maxSkew!, minDomains  int32
  nodeAffinityPolicy, nodeTaintsPolicy, topologyKey!, whenUnsatisfiable!  string
@PodSpec
  activeDeadlineSeconds, terminationGracePeriodSeconds  int64
  affinity  @Affinity
  automountServiceAccountToken, enableServiceLinks, hostIPC, hostNetwork, hostPID, hostUsers, setHostnameAsFQDN  bool
  shareProcessNamespace  bool
  containers!, initContainers  list(name)<@Container>
  dnsConfig
    nameservers, searches  list<string>
    options  list
      name, value  string
  dnsPolicy, hostname, hostnameOverride, nodeName, preemptionPolicy, priorityClassName, restartPolicy  string
  runtimeClassName, schedulerName, serviceAccount, serviceAccountName, subdomain  string
  ephemeralContainers  list(name)<@EphemeralContainer>
  hostAliases  list(ip)
    hostnames  list<string>
    ip!  string
  imagePullSecrets  list(name)<@LocalObjectReference>
  nodeSelector  map<string>
  os
    name!  string
  overhead  map<quantity>
  priority  int32
  readinessGates  list
    conditionType!  string
  resourceClaims  list(name)
    name!, resourceClaimName, resourceClaimTemplateName  string
  resources  @ResourceRequirements
  schedulingGates  list(name)
    name!  string
  schedulingGroup
    podGroupName  string
  securityContext  @PodSecurity
  tolerations  list<@Toleration>
  topologySpreadConstraints  list(topologyKey,whenUnsatisfiable)<@TopologySpread>
  volumes  list(name)<@Volume>
@PodTemplate
  metadata  @TemplateMetadata
  spec  @PodSpec
)";
}

}  // namespace hindsight::connectors::manifests
