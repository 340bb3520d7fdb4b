{{/* What one value says about another; the rest is judged by values.schema.json. */}}
{{- define "hindsight.checks" -}}
{{- $v := .Values -}}
{{- if eq $v.log.kind "sqlite" -}}
{{- if ne (int $v.replicas) 1 -}}
{{- fail (printf "replicas: found %d with log.kind sqlite; allowed: 1, because one process writes a log in a file" (int $v.replicas)) -}}
{{- end -}}
{{- if ne $v.layout "single" -}}
{{- fail (printf "layout: found %s with log.kind sqlite; allowed: single, because only a log on Kafka is shared by processes" $v.layout) -}}
{{- end -}}
{{- else -}}
{{- if not $v.log.kafka.brokers -}}
{{- fail "log.kafka.brokers: found none with log.kind kafka; allowed: a list of HOST:PORT" -}}
{{- end -}}
{{- if and $v.log.kafka.settings $v.log.kafka.settingsSecret -}}
{{- fail "log.kafka.settingsSecret: log.kafka.settings are given as well; allowed: one of both" -}}
{{- end -}}
{{- if and (gt (int $v.log.kafka.partition) 0) (eq $v.domains "trees") -}}
{{- fail (printf "log.kafka.partition: found %d with domains trees; allowed: 0, because a tree's partition follows from its name" (int $v.log.kafka.partition)) -}}
{{- end -}}
{{- end -}}
{{- if and (eq $v.domains "trees") (ne $v.layout "split") -}}
{{- fail (printf "domains: found trees with layout %s; allowed: one, or layout split" $v.layout) -}}
{{- end -}}
{{- if and (eq $v.domains "trees") $v.page.enabled -}}
{{- fail "page.enabled: found true with domains trees, which lie in many partitions; allowed: false, and `hindsight ui` on one of them" -}}
{{- end -}}
{{- if and (gt (int $v.replicas) 1) (eq (dig "leaderElection" "leaderElect" true $v.configuration) false) -}}
{{- fail (printf "replicas: found %d with configuration.leaderElection.leaderElect false; allowed: 1, or copies that elect a leader" (int $v.replicas)) -}}
{{- end -}}
{{- if eq $v.mode "observe" -}}
{{- range $name := list "webhooks" "visibility" -}}
{{- if (index $v $name).enabled -}}
{{- fail (printf "%s.enabled: found true with mode observe; allowed: false, because it would have to register itself in the cluster" $name) -}}
{{- end -}}
{{- end -}}
{{- if ne $v.log.kind "sqlite" -}}
{{- fail (printf "log.kind: found %s with mode observe; allowed: sqlite, a log of its own" $v.log.kind) -}}
{{- end -}}
{{- end -}}
{{- if $v.crds.checks -}}
{{- if eq $v.mode "observe" -}}
{{- fail (printf "crds.checks: found %s with mode observe; allowed: empty, because no definitions are installed" $v.crds.checks) -}}
{{- end -}}
{{- if not $v.crds.install -}}
{{- fail (printf "crds.checks: found %s with crds.install false; allowed: empty, because the definitions are left alone" $v.crds.checks) -}}
{{- end -}}
{{- if and (eq $v.crds.checks "webhooks") (not $v.webhooks.enabled) -}}
{{- fail "crds.checks: found webhooks with webhooks.enabled false; allowed: empty or definitions, because nobody else would check" -}}
{{- end -}}
{{- end -}}
{{- if and $v.webhooks.enabled $v.visibility.enabled (ne (empty $v.webhooks.certSecret) (empty $v.visibility.certSecret)) -}}
{{- fail "visibility.certSecret: one of webhooks.certSecret and visibility.certSecret is given; allowed: both or none, because internalCertManagement is on or off for both" -}}
{{- end -}}
{{- if not $v.metrics.enabled -}}
{{- if $v.metrics.serviceMonitor.enabled -}}
{{- fail "metrics.serviceMonitor.enabled: found true with metrics.enabled false; allowed: false, because there is nothing to scrape" -}}
{{- end -}}
{{- if $v.metrics.readers -}}
{{- fail "metrics.readers: some are given with metrics.enabled false; allowed: none" -}}
{{- end -}}
{{- end -}}
{{- range $name := list "apiVersion" "kind" "namespace" "internalCertManagement" -}}
{{- if hasKey $v.configuration $name -}}
{{- fail (printf "configuration.%s: found in the values; allowed: everything but apiVersion, kind, namespace and internalCertManagement, which the chart writes" $name) -}}
{{- end -}}
{{- end -}}
{{- if hasKey $v.podLabels "app.kubernetes.io/name" -}}
{{- fail "podLabels: found app.kubernetes.io/name; allowed: other labels, because Services find pods by this one" -}}
{{- end -}}
{{- end }}
