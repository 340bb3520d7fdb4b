#!/usr/bin/env bash
# Builds the real components that tests run against (etcd, Kubernetes, KWOK) from the Go modules under tools/, and fetches Kafka.
#
#   scripts/tools.sh build [etcd|kwok|kubernetes|jobset|helm|kafka|kueue|kueue-manager]...   build what is absent (default: etcd, kubernetes, kwok and jobset)
#   scripts/tools.sh path NAME                                print where the binary or manifest lies; status 1 if it is not built
#
# Of JobSet it is the CRD alone: jobset-crd.yaml; of Kueue the manifests of its release: kueue-manifests.yaml, and apart from them its controller: kueue-manager; of Kafka a folder of jars: kafka. All of it lies in ${XDG_CACHE_HOME:-~/.cache}/hindsight/tools/<folder>-<hash>/bin. The hash covers go.mod, go.sum and the linker flags, so
# a changed version is a new folder and every checkout of the repository shares what is built.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/hindsight"

# The toolchain fetched when the installed go is too old for the go lines in tools/*/go.mod.
go_needed="1.26.0"

say() { echo "tools: $*" >&2; }
fail() { say "error: $*"; exit 1; }

folder_of() {
  case "$1" in
    etcd) echo etcd ;;
    kwok) echo kwok ;;
    helm) echo helm ;;
    kube-apiserver | kube-controller-manager | kube-scheduler | kubectl) echo kubernetes ;;
    jobset-crd.yaml) echo jobset ;;
    kueue-manifests.yaml) echo kueue ;;
    kueue-manager) echo kueue-manager ;;
    kafka) echo kafka ;;
    *) fail "unknown name '$1'; allowed: etcd, kwok, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl, jobset-crd.yaml, kueue-manifests.yaml, kueue-manager, helm, kafka" ;;
  esac
}

packages_of() {
  case "$1" in
    etcd) echo go.etcd.io/etcd/server/v3 ;;
    kwok) echo sigs.k8s.io/kwok/cmd/kwok ;;
    helm) echo helm.sh/helm/v4/cmd/helm ;;
    kueue-manager) echo sigs.k8s.io/kueue/cmd/kueue ;;
    kubernetes) echo k8s.io/kubernetes/cmd/{kube-apiserver,kube-controller-manager,kube-scheduler,kubectl} ;;
    jobset | kueue | kafka) ;;
    *) fail "unknown tool folder '$1'; allowed: etcd, kwok, kubernetes, jobset, kueue, kueue-manager, helm, kafka" ;;
  esac
}

binaries_of() {
  case "$1" in
    kubernetes) echo kube-apiserver kube-controller-manager kube-scheduler kubectl ;;
    jobset) echo jobset-crd.yaml ;;
    kueue) echo kueue-manifests.yaml ;;
    *) echo "$1" ;;
  esac
}

# Version of a required module as the folder's go.mod says, without the leading v.
version_in() { sed -nE "s|^(require)?[[:space:]]*$2 v([^ ]+).*|\2|p" "$root/tools/$1/go.mod" | head -n 1; }

# Without these a server calls itself v0.0.0 and clients refuse it.
linker_flags_of() {
  local version major minor
  case "$1" in
    kubernetes)
      version="$(version_in kubernetes k8s.io/kubernetes)"
      IFS=. read -r major minor _ <<<"$version"
      local p=k8s.io/component-base/version
      echo "-s -w -X $p.gitVersion=v$version -X $p.gitMajor=$major -X $p.gitMinor=$minor -X $p.gitTreeState=clean"
      ;;
    helm) echo "-s -w -X helm.sh/helm/v4/internal/version.version=v$(version_in helm helm.sh/helm/v4)" ;;
    kueue-manager) echo "-s -w -X sigs.k8s.io/kueue/pkg/version.GitVersion=v$(version_in kueue-manager sigs.k8s.io/kueue)" ;;
    *) echo "-s -w" ;;
  esac
}

bin_folder_of() {
  local hash
  if [[ "$1" == kafka ]]; then
    hash="$(sha256sum <"$root/tools/kafka/pom.xml" | cut -c1-12)"
  else
    hash="$({ cat "$root/tools/$1/go.mod" "$root/tools/$1/go.sum"; linker_flags_of "$1"; } | sha256sum | cut -c1-12)"
  fi
  echo "$cache/tools/$1-$hash/bin"
}

is_built() {
  local folder="$1" bin binary
  bin="$(bin_folder_of "$folder")"
  for binary in $(binaries_of "$folder"); do
    [[ -e "$bin/$binary" ]] || return 1
  done
}

# "1.26.8" is at least "1.26.0"?
at_least() { [[ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" == "$2" ]]; }

go_version() { "$1" version | sed -nE 's/^go version go([0-9.]+).*/\1/p'; }

# Prints a go command of at least $go_needed. Debian 12's go (1.19) cannot switch toolchains by itself, but the toolchain is a Go module
# like any other, so it can download it.
find_go() {
  local candidate
  for candidate in "$(command -v go || true)" /usr/local/go/bin/go /usr/lib/go/bin/go; do
    if [[ -x "$candidate" ]] && at_least "$(GOTOOLCHAIN=local go_version "$candidate")" "$go_needed"; then
      echo "$candidate"
      return
    fi
  done

  local arch
  case "$(uname -m)" in
    x86_64) arch=amd64 ;;
    aarch64) arch=arm64 ;;
    *) fail "no go toolchain is known for machine '$(uname -m)'; allowed: x86_64, aarch64" ;;
  esac
  local home="$cache/go-$go_needed-linux-$arch"
  if [[ ! -x "$home/bin/go" ]]; then
    local old
    old="$(command -v go || true)"
    [[ -n "$old" ]] || fail "go is not installed; run './dev cluster up' (it installs golang-go) or put go >= $go_needed on PATH"
    say "$old is version $(GOTOOLCHAIN=local go_version "$old"), $go_needed is needed: fetching that toolchain as a Go module"
    local scratch module
    scratch="$(mktemp -d)"
    (cd "$scratch" && "$old" mod init toolchain >/dev/null 2>&1)
    module="$(cd "$scratch" && GOTOOLCHAIN=local GOFLAGS=-mod=mod "$old" mod download -json \
      "golang.org/toolchain@v0.0.1-go$go_needed.linux-$arch" | sed -nE 's/^[[:space:]]*"Dir": "(.*)",?$/\1/p')"
    rm -rf "$scratch"
    [[ -d "$module" ]] || fail "the module proxy did not deliver golang.org/toolchain@v0.0.1-go$go_needed.linux-$arch"
    # The module cache holds files without their execute bits.
    rm -rf "$home.new"
    cp -r "$module" "$home.new"
    chmod -R u+w "$home.new"
    chmod +x "$home.new"/bin/* "$home.new/pkg/tool/linux_$arch"/*
    mv "$home.new" "$home"
  fi
  echo "$home/bin/go"
}

# Prints the folder of the one module that tools/$2 requires.
module_of() {
  local go="$1" folder="$2"
  (cd "$root/tools/$folder" && GOTOOLCHAIN=local "$go" mod download "sigs.k8s.io/$folder")
  (cd "$root/tools/$folder" && GOTOOLCHAIN=local GOFLAGS=-mod=readonly "$go" list -m -f '{{.Dir}}' "sigs.k8s.io/$folder")
}

copy_jobset_crd() {
  local go="$1" bin="$2" module
  module="$(module_of "$go" jobset)"
  install -m 644 "$module/config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml" "$bin/.jobset-crd.yaml.new"
  mv "$bin/.jobset-crd.yaml.new" "$bin/jobset-crd.yaml"
}

# What `kubectl apply` gets of a release of Kueue: definitions, roles, webhooks, configuration and the Deployment, made by kubectl's kustomize.
render_kueue_manifests() {
  local go="$1" bin="$2" module
  build kubernetes
  module="$(module_of "$go" kueue)"
  "$(bin_folder_of kubernetes)/kubectl" kustomize "$module/config/default" >"$bin/.kueue-manifests.yaml.new"
  mv "$bin/.kueue-manifests.yaml.new" "$bin/kueue-manifests.yaml"
}

# Moved when complete, so that an interrupted download leaves no half folder.
fetch_kafka() {
  local bin="$1"
  command -v mvn >/dev/null || fail "mvn is not installed; run './dev kafka up' (it installs maven)"
  say "fetching Kafka from Maven Central"
  rm -rf "$bin/.kafka.new"
  (cd "$root/tools/kafka" && mvn -q -B dependency:copy-dependencies -DoutputDirectory="$bin/.kafka.new") >&2
  mv "$bin/.kafka.new" "$bin/kafka"
}

build() {
  local folder="$1" go bin package name start
  is_built "$folder" && return
  bin="$(bin_folder_of "$folder")"
  mkdir -p "$bin"
  if [[ "$folder" == kafka ]]; then
    fetch_kafka "$bin"
    return
  fi
  go="$(find_go)"
  if [[ "$folder" == jobset ]]; then
    copy_jobset_crd "$go" "$bin"
    return
  fi
  if [[ "$folder" == kueue ]]; then
    render_kueue_manifests "$go" "$bin"
    return
  fi
  for package in $(packages_of "$folder"); do
    name="${package##*/}"
    [[ "$package" == go.etcd.io/etcd/server/v3 ]] && name=etcd
    [[ "$package" == sigs.k8s.io/kueue/cmd/kueue ]] && name=kueue-manager
    [[ -x "$bin/$name" ]] && continue
    start="$SECONDS"
    say "building $name (Kubernetes' own and Kueue's take minutes on a cold cache)"
    # Built aside and moved, so that an interrupted build leaves no half binary.
    # The compiler collects its garbage when the heap is five times as large, not twice, which saves a seventh of its time.
    (cd "$root/tools/$folder" && GOGC=400 GOTOOLCHAIN=local GOFLAGS="-mod=readonly -buildvcs=false -trimpath" CGO_ENABLED=0 \
      nice -n 10 "$go" build -ldflags "$(linker_flags_of "$folder")" -o "$bin/.$name.new" "$package")
    mv "$bin/.$name.new" "$bin/$name"
    say "built $name in $((SECONDS - start)) s"
  done
}

case "${1:-}" in
  build)
    shift
    folders=("$@")
    [[ ${#folders[@]} -gt 0 ]] || folders=(etcd kubernetes kwok jobset)
    missing=()
    for folder in "${folders[@]}"; do
      packages_of "$folder" >/dev/null
      is_built "$folder" || missing+=("$folder")
    done
    [[ ${#missing[@]} -gt 0 ]] || exit 0
    mkdir -p "$cache/tools"
    # Tests that start at the same time wait for one build.
    exec 9>"$cache/tools/lock"
    flock 9
    for folder in "${missing[@]}"; do build "$folder"; done
    ;;
  path)
    [[ $# -eq 2 ]] || fail "usage: scripts/tools.sh path BINARY"
    folder="$(folder_of "$2")"
    binary="$(bin_folder_of "$folder")/$2"
    [[ -e "$binary" ]] || fail "$2 is not built; run scripts/tools.sh build"
    echo "$binary"
    ;;
  *) fail "usage: scripts/tools.sh build [etcd|kwok|kubernetes|jobset|helm|kafka|kueue|kueue-manager]... | path NAME" ;;
esac
