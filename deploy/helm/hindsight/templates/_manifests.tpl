{{/*
The objects of a file that kubectl and kustomize apply as well (files/), with the labels of the release, in its namespace.
So rights and webhooks stand in one place. "skip": kinds that are left out, "leave": names; "readOnly": roles of the cluster keep what does not write.
*/}}
{{- define "hindsight.manifest" -}}
{{- $root := .root -}}
{{- $skip := .skip | default list -}}
{{- $leave := .leave | default list -}}
{{- $readOnly := .readOnly | default false -}}
{{- $text := $root.Files.Get .file | required (printf "the chart has no %s" .file) | replace "hindsight-system" $root.Release.Namespace -}}
{{- range $part := regexSplit "(?m)^---$" $text -1 -}}
{{- $object := fromYaml $part -}}
{{- if hasKey $object "Error" -}}{{- fail (printf "%s: %s" $.file $object.Error) -}}{{- end -}}
{{- if and $object (not (has $object.kind $skip)) (not (has $object.metadata.name $leave)) -}}
{{- $labels := merge (include "hindsight.labels" $root | fromYaml) ($object.metadata.labels | default dict) -}}
{{- $_ := set $object.metadata "labels" $labels -}}
{{- if and $readOnly (eq $object.kind "ClusterRole") -}}
{{- $rules := list -}}
{{- range $rule := $object.rules -}}
{{- $verbs := list -}}
{{- range $rule.verbs -}}{{- if has . (list "get" "list" "watch") -}}{{- $verbs = append $verbs . -}}{{- end -}}{{- end -}}
{{- if $verbs -}}{{- $rules = append $rules (set $rule "verbs" $verbs) -}}{{- end -}}
{{- end -}}
{{- $_ := set $object "rules" $rules -}}
{{- end }}
---
{{ toYaml $object }}
{{- end -}}
{{- end -}}
{{- end }}
