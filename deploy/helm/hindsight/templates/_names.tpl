{{/* Names are fixed (values.yaml), so selectors never change from one release of the chart to the next. */}}

{{- define "hindsight.labels" -}}
app.kubernetes.io/name: hindsight
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "hindsight.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* Where the log is, as --log takes it. "partition": with a partition, as processes that stay in one need it. */}}
{{- define "hindsight.log" -}}
{{- $values := .root.Values -}}
{{- if eq $values.log.kind "sqlite" -}}
sqlite:/var/lib/hindsight/log.db
{{- else -}}
{{- $kafka := $values.log.kafka -}}
kafka:{{ join "," $kafka.brokers }}{{ with $kafka.prefix }}/{{ . }}{{ end }}{{ if and .partition (gt (int $kafka.partition) 0) }}?partition={{ int $kafka.partition }}{{ end }}
{{- end }}
{{- end }}

{{- define "hindsight.kafkaSecret" -}}
{{- with .Values.log.kafka -}}
{{- if .settingsSecret }}{{ .settingsSecret }}{{ else if .settings }}hindsight-kafka{{ end }}
{{- end }}
{{- end }}

{{/* A log in which somebody only looked on is another one than that of who decides. */}}
{{- define "hindsight.claim" -}}
{{ .Values.log.sqlite.storage.existingClaim | default (eq .Values.mode "observe" | ternary "hindsight-observe-log" "hindsight-log") }}
{{- end }}

{{/* The file of --config. */}}
{{- define "hindsight.configuration" -}}
{{- $own := deepCopy .Values.configuration -}}
{{- $certificates := dict "webhookServiceName" "hindsight-webhook-service" "webhookSecretName" "hindsight-webhook-server-cert" -}}
{{- if or (and .Values.webhooks.enabled .Values.webhooks.certSecret) (and .Values.visibility.enabled .Values.visibility.certSecret) -}}
{{- $_ := set $certificates "enable" false -}}
{{- end -}}
{{- $fixed := dict "apiVersion" "config.kueue.x-k8s.io/v1beta2" "kind" "Configuration" "namespace" .Release.Namespace "internalCertManagement" $certificates -}}
{{- toYaml (merge $fixed $own) -}}
{{- end }}
