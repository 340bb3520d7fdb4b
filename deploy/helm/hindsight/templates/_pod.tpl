{{/* Options of the Deployment, in the order of deploy/hindsight.yaml. */}}
{{- define "hindsight.arguments" -}}
{{- $v := .Values -}}
{{- $split := eq $v.layout "split" -}}
- run
{{- if $split }}
- --role=connector
{{- end }}
{{- if eq $v.mode "observe" }}
- --observe
{{- end }}
- --config=/etc/hindsight/config.yaml
- --log={{ include "hindsight.log" (dict "root" . "partition" (eq $v.domains "one")) }}
{{- if eq $v.log.kind "sqlite" }}
{{- with $v.log.sqlite.limit }}
- --log-limit={{ . }}
{{- end }}
{{- with $v.log.sqlite.durability }}
- --durability={{ . }}
{{- end }}
{{- else }}
{{- include "hindsight.kafkaArguments" . }}
{{- end }}
{{- if not $split }}
{{- include "hindsight.historyArguments" . }}
{{- end }}
{{- with $v.domain }}
- --domain={{ . }}
{{- end }}
{{- if ne $v.domains "one" }}
- --domains={{ $v.domains }}
{{- end }}
- --http=127.0.0.1:8080
- --probe-address=:8081
{{- if $v.metrics.enabled }}
- --metrics
{{- if $v.metrics.certSecret }}
- --metrics-cert-dir=/run/secrets/hindsight/metrics-tls
{{- end }}
{{- end }}
- --log-level={{ $v.logLevel }}
{{- if $v.webhooks.enabled }}
- --webhooks
{{- if $v.webhooks.certSecret }}
- --webhook-cert-dir=/run/secrets/hindsight/webhook-tls
{{- end }}
{{- end }}
{{- if $v.visibility.enabled }}
- --visibility
{{- if $v.visibility.certSecret }}
- --visibility-cert-dir=/run/secrets/hindsight/visibility-tls
{{- end }}
{{- end }}
{{- if $v.page.enabled }}
{{- if $v.page.expose }}
- --ui=:8444
- --ui-host-name=hindsight.{{ .Release.Namespace }}.svc
{{- range $v.page.hostNames }}
- --ui-host-name={{ . }}
{{- end }}
{{- if $v.page.certSecret }}
- --ui-cert-dir=/run/secrets/hindsight/page-tls
{{- end }}
{{- else }}
- --ui=127.0.0.1:8181
{{- end }}
{{- if ne (int $v.page.states) 4 }}
- --ui-states={{ int $v.page.states }}
{{- end }}
{{- end }}
{{- range $v.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{- define "hindsight.kafkaArguments" }}
{{- if include "hindsight.kafkaSecret" . }}
- --log-config=/run/secrets/hindsight/kafka/kafka.properties
{{- end }}
{{- if .Values.log.kafka.snapshotSpace }}
- --snapshot-dir=/var/lib/hindsight/snapshots
{{- end }}
{{- end }}

{{/* For who decides. */}}
{{- define "hindsight.historyArguments" }}
{{- with .Values.log.keepHistory }}
- --keep-history={{ . }}
{{- end }}
{{- if .Values.log.checkpointKeySecret }}
- --checkpoint-key=/run/secrets/hindsight/checkpoint/key.pem
{{- end }}
{{- end }}

{{- define "hindsight.nodeArguments" -}}
{{- $v := .Values -}}
- run
- --role=node
- --log={{ include "hindsight.log" (dict "root" . "partition" false) }}
{{- include "hindsight.kafkaArguments" . }}
{{- include "hindsight.historyArguments" . }}
- --member=$(POD_NAME)
{{- with $v.nodes.group }}
- --group={{ . }}
{{- end }}
- --session-timeout={{ int $v.nodes.sessionTimeout }}
{{- if $v.nodes.standby }}
- --standby
{{- end }}
- --http={{ if not $v.nodes.plainMetrics }}127.0.0.1{{ end }}:8080
- --probe-address=:8081
- --log-level={{ $v.logLevel }}
{{- end }}

{{/* Makes the topics, or says what is wrong with them. */}}
{{- define "hindsight.initContainer" }}
{{- if and (eq .Values.log.kind "kafka") .Values.log.kafka.init }}
initContainers:
- name: log-init
  {{- include "hindsight.imageLines" . | nindent 2 }}
  args:
  - log
  - init
  - --log={{ include "hindsight.log" (dict "root" . "partition" false) }}
  {{- if include "hindsight.kafkaSecret" . }}
  - --log-config=/run/secrets/hindsight/kafka/kafka.properties
  {{- end }}
  resources:
    requests: {cpu: 50m, memory: 64Mi}
    limits: {memory: 256Mi}
  {{- include "hindsight.containerSecurity" . | nindent 2 }}
  {{- with include "hindsight.kafkaMounts" . | trim }}
  volumeMounts:
  {{- . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "hindsight.kafkaMounts" -}}
{{- if include "hindsight.kafkaSecret" . }}
- {name: kafka, mountPath: /run/secrets/hindsight/kafka, readOnly: true}
{{- end }}
{{- if .Values.log.kafka.tlsSecret }}
- {name: kafka-tls, mountPath: /run/secrets/hindsight/kafka-tls, readOnly: true}
{{- end }}
{{- end }}

{{/* What the log needs, of who decides ("decides") or not: mounts and volumes. */}}
{{- define "hindsight.logMounts" -}}
{{- $v := .root.Values -}}
{{- if eq $v.log.kind "sqlite" }}
- {name: log, mountPath: /var/lib/hindsight}
{{- else }}
{{- include "hindsight.kafkaMounts" .root }}
{{- if $v.log.kafka.snapshotSpace }}
- {name: snapshots, mountPath: /var/lib/hindsight/snapshots}
{{- end }}
{{- end }}
{{- if and .decides $v.log.checkpointKeySecret }}
- {name: checkpoint, mountPath: /run/secrets/hindsight/checkpoint, readOnly: true}
{{- end }}
- {name: tmp, mountPath: /tmp}
{{- end }}

{{- define "hindsight.logVolumes" -}}
{{- $v := .root.Values -}}
{{- if eq $v.log.kind "sqlite" }}
- name: log
  persistentVolumeClaim: {claimName: {{ include "hindsight.claim" .root }}}
{{- else }}
{{- with include "hindsight.kafkaSecret" .root }}
- name: kafka
  secret: {secretName: {{ . }}}
{{- end }}
{{- with $v.log.kafka.tlsSecret }}
- name: kafka-tls
  secret: {secretName: {{ . }}}
{{- end }}
{{- with $v.log.kafka.snapshotSpace }}
- name: snapshots
  emptyDir: {sizeLimit: {{ . }}}
{{- end }}
{{- end }}
{{- if and .decides $v.log.checkpointKeySecret }}
- name: checkpoint
  secret: {secretName: {{ $v.log.checkpointKeySecret }}}
{{- end }}
# SQLite puts large sorts here.
- name: tmp
  emptyDir: {sizeLimit: 256Mi}
{{- end }}

{{- define "hindsight.imageLines" -}}
image: {{ include "hindsight.image" . | quote }}
{{- with .Values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
{{- end }}

{{- define "hindsight.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "hindsight.podSecurity" -}}
securityContext:
  runAsNonRoot: true
  {{- if not (kindIs "invalid" .Values.user) }}
  runAsUser: {{ int64 .Values.user }}
  runAsGroup: {{ int64 .Values.user }}
  fsGroup: {{ int64 .Values.user }}
  fsGroupChangePolicy: OnRootMismatch
  {{- end }}
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{/* A stop takes about a second; the rest is room for a slow volume. The server answers before the log is read, so a long log is no reason to start anew. */}}
{{- define "hindsight.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: probes}
  periodSeconds: 1
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: probes}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: {path: /readyz, port: probes}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}

{{/* Where pods go; "app" is the label by which they know each other. */}}
{{- define "hindsight.placement" }}
{{- $v := .root.Values }}
{{- with $v.imagePullSecrets }}
imagePullSecrets:
{{- toYaml . | nindent 0 }}
{{- end }}
{{- with $v.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $v.nodeSelector }}
nodeSelector:
{{- toYaml . | nindent 2 }}
{{- end }}
{{- with $v.tolerations }}
tolerations:
{{- toYaml . | nindent 0 }}
{{- end }}
{{- with $v.affinity }}
affinity:
{{- toYaml . | nindent 2 }}
{{- end }}
{{- if $v.topologySpread.enabled }}
topologySpreadConstraints:
- maxSkew: {{ int $v.topologySpread.maxSkew }}
  topologyKey: {{ $v.topologySpread.topologyKey }}
  whenUnsatisfiable: {{ $v.topologySpread.whenUnsatisfiable }}
  labelSelector:
    matchLabels: {app.kubernetes.io/name: {{ .app }}}
{{- end }}
{{- end }}

{{/* Certificates that somebody else makes: name of the volume and of the Secret. */}}
{{- define "hindsight.certificates" -}}
{{- $v := .Values -}}
{{- if and $v.metrics.enabled $v.metrics.certSecret }}
- {name: metrics-tls, secret: {{ $v.metrics.certSecret }}}
{{- end }}
{{- if and $v.webhooks.enabled $v.webhooks.certSecret }}
- {name: webhook-tls, secret: {{ $v.webhooks.certSecret }}}
{{- end }}
{{- if and $v.visibility.enabled $v.visibility.certSecret }}
- {name: visibility-tls, secret: {{ $v.visibility.certSecret }}}
{{- end }}
{{- if and $v.page.enabled $v.page.expose $v.page.certSecret }}
- {name: page-tls, secret: {{ $v.page.certSecret }}}
{{- end }}
{{- end }}
