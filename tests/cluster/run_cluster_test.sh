#!/usr/bin/env bash
# The local cluster of ./dev cluster does what end-to-end tests rely on. Starts clusters of its own and always stops them.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

state="$(mktemp -d "${HINDSIGHT_BUILD_DIR:-build}/cluster-test.XXXXXX")"
state="$(cd "$state" && pwd)"
passed=0
failed=0

cluster() {
  local command="$1"
  shift
  ./dev cluster "$command" --dir "$state/main" "$@"
}
kubectl() { "$kubectl_binary" --kubeconfig "$state/main/kubeconfig" "$@"; }

finish() {
  ./dev cluster down --dir "$state/main" >"$state/down.log" 2>&1
  ./dev cluster down --dir "$state/small" >>"$state/down.log" 2>&1
  rm -rf "$state"
}
trap finish EXIT

# check SENTENCE COMMAND...: the sentence holds if the command succeeds.
check() {
  local sentence="$1" output
  shift
  if output="$("$@" 2>&1)"; then
    passed=$((passed + 1))
    echo "ok      $sentence"
  else
    failed=$((failed + 1))
    echo "FAILED  $sentence"
    echo "        command: $*"
    printf '%s\n' "$output" | sed 's/^/        /'
  fi
}
fails() { ! "$@"; }
equal() { [[ "$1" == "$2" ]] || { echo "found '$1', expected '$2'"; return 1; }; }
matches() { [[ "$1" =~ $2 ]] || { echo "found '$1', expected a match of '$2'"; return 1; }; }

# apply_job NAME SPEC_LINES POD_ANNOTATIONS: a Job of one container; SPEC_LINES go into its pod spec (flow YAML, comma at the end).
apply_job() {
  kubectl apply -f - <<YAML
apiVersion: batch/v1
kind: Job
metadata: {name: $1}
spec:
  parallelism: 3
  completions: 3
  backoffLimit: 0
  template:
    metadata: {annotations: {$3}}
    spec: {$2 restartPolicy: Never, containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]}
YAML
}
nodes_of() { kubectl get pods -l "job-name=$1" -o jsonpath='{.items[*].spec.nodeName}'; }
pids() { grep -ho '"pid": [0-9]*' "$state"/*/pids/*.json | cut -d' ' -f2; }

# A running pod's phase is reached without sleeping by the clock: kubectl waits for it.
wait_job() { kubectl wait "job/$1" --for="condition=$2" --timeout=60s; }
wait_pods() { kubectl wait pod -l "job-name=$1" --for="$2" --timeout=60s; }

check "up starts a cluster" cluster up
kubectl_binary="$(scripts/tools.sh path kubectl)"
check "status says that every component is ready" cluster status
pids_first="$(pids)"
check "five processes run" equal "$(wc -w <<<"$pids_first")" 5
check "up again changes nothing" cluster up
check "up again starts no process" equal "$(pids)" "$pids_first"
check "up with other options is refused" fails cluster up --nodes 3
check "the kubeconfig is private" equal "$(stat -c %a "$state/main/kubeconfig")" 600
check "the server says its version" matches "$(kubectl version -o json | tr -d ' \n')" '"gitVersion":"v1\.36\.[0-9]+"'
check "four nodes are ready" equal "$(kubectl get nodes --no-headers | grep -cw Ready)" 4
check "two nodes are in pool b" equal "$(kubectl get nodes -l pool=b --no-headers | wc -l)" 2
check "a node has 32 cpu and 128Gi" \
  equal "$(kubectl get node node-0 -o jsonpath='{.status.allocatable.cpu} {.status.allocatable.memory}')" "32 128Gi"
check "the user hindsight may do everything" equal "$(kubectl --kubeconfig "$state/main/hindsight.kubeconfig" auth can-i '*' '*' --all-namespaces)" yes

check "a Job is accepted" apply_job quick 'nodeSelector: {pool: b},' ''
check "a Job completes" wait_job quick complete
check "its pods ran on nodes of the selected pool" matches "$(nodes_of quick)" '^node-[23] node-[23] node-[23]$'

check "a Job with a failing container is accepted" apply_job failing '' 'hindsight.dev/exit-code: "3"'
check "it fails" wait_job failing failed

check "a Job with run-seconds is accepted" apply_job timed '' 'hindsight.dev/run-seconds: "600", hindsight.dev/termination-seconds: "600"'
check "its pods run" wait_pods timed 'jsonpath={.status.phase}=Running'
check "it can be suspended" kubectl patch job timed -p '{"spec":{"suspend":true}}'
check "its pods then terminate slowly" kubectl wait job/timed --for='jsonpath={.status.terminating}=3' --timeout=60s

check "nodes of pool a can be tainted" kubectl taint nodes -l pool=a spot=true:NoSchedule
check "a Job without toleration is accepted" apply_job intolerant 'nodeSelector: {pool: a},' ''
check "its pods are unschedulable" wait_pods intolerant 'condition=PodScheduled=false'
check "a Job with toleration is accepted" \
  apply_job tolerant 'nodeSelector: {pool: a}, tolerations: [{key: spot, operator: Exists}],' ''
check "it completes" wait_job tolerant complete

check "a node can be told to fail" kubectl annotate node node-3 hindsight.dev/node-state=down
check "it becomes not ready" kubectl wait node/node-3 --for=condition=Ready=false --timeout=60s
check "it can be told to recover" kubectl annotate node node-3 hindsight.dev/node-state-
check "it becomes ready" kubectl wait node/node-3 --for=condition=Ready --timeout=60s

check "a second cluster runs beside the first, with parts left out" \
  ./dev cluster up --dir "$state/small" --no-kwok --no-controller-manager --no-scheduler --feature-gates AllAlpha=false
check "it has two processes" equal "$(find "$state/small/pids" -name '*.json' | wc -l)" 2
check "its objects are its own" equal "$("$kubectl_binary" --kubeconfig "$state/small/kubeconfig" get jobs -A 2>&1)" "No resources found"
check "it can be stopped with its data kept" ./dev cluster down --dir "$state/small" --keep
check "and started again" ./dev cluster up --dir "$state/small"

check "the API server can be stopped" cluster stop apiserver
check "then status says so" fails cluster status
check "then clients fail" fails kubectl get nodes --request-timeout=3s
check "the API server can be started" cluster start apiserver
check "then all is ready" cluster status
check "objects are still there" kubectl get job quick
check "a Job is accepted after the restart" apply_job after '' ''
check "it completes" wait_job after complete

revision_old="$(kubectl get --raw '/api/v1/configmaps?limit=1' | grep -oE '"resourceVersion":"[0-9]+"' | head -n 1 | tr -dc 0-9)"
check "a list says its revision" matches "$revision_old" '^[0-9]+$'
check "an object can be created" kubectl create configmap later
check "compaction expires watches" cluster compact --expire-watches
check "a watch from an old revision is told that it expired" \
  matches "$(kubectl get --raw "/api/v1/configmaps?watch=1&timeoutSeconds=5&resourceVersion=$revision_old" 2>&1)" '"code":410'
# 410 for a list needs a revision that etcd dropped and the API server's cache never held.
check "a list of an old revision is told that it expired" \
  matches "$(kubectl get --raw "/api/v1/configmaps?resourceVersion=$revision_old&resourceVersionMatch=Exact" 2>&1)" 'Expired|too old|compacted'

pids_last="$(pids)"
check "seven processes ran at the end" equal "$(wc -w <<<"$pids_last")" 7
check "down stops the first cluster" cluster down
check "down stops the second" ./dev cluster down --dir "$state/small"
left=""
for pid in $pids_last; do
  if [[ -r "/proc/$pid/cmdline" ]] && tr '\0' ' ' <"/proc/$pid/cmdline" | grep -qF "$state"; then left+=" $pid"; fi
done
check "no process is left" equal "$left" ""
check "no kubeconfig is left" equal "$(find "$state" -name '*kubeconfig')" ""
check "down without a cluster is no error" cluster down

echo "$passed passed, $failed failed"
[[ "$failed" == 0 ]]
