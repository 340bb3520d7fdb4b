// Only the manifests that lie in the module are used: nothing of it is compiled.
module hindsight.dev/tools/kueue

go 1.26.0

require sigs.k8s.io/kueue v0.19.0
