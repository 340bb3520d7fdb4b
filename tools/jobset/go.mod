// Only the CRD that lies in the module is used: nothing of it is compiled.
module hindsight.dev/tools/jobset

go 1.26.0

require sigs.k8s.io/jobset v0.12.0
