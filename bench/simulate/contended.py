#!/usr/bin/env python3
"""Queues of one cohort, and many kinds of jobs that wait for each other: input of `hindsight simulate`.

    bench/simulate/contended.py QUEUES KINDS JOBS FOLDER

writes FOLDER/queues.yaml and FOLDER/load.yaml. Each ClusterQueue has 20 CPU; a job of kind k asks for k CPU. Wherever a job ends, one of
each kind and queue is tried again and lacks another amount.
"""

import os
import sys

QUEUE = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: cq{0}}}
spec:
  cohortName: all
  namespaceSelector: {{}}
  preemption: {{reclaimWithinCohort: Any, withinClusterQueue: LowerPriority}}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: default
      resources: [{{name: cpu, nominalQuota: 20}}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: lq{0}, namespace: default}}
spec: {{clusterQueue: cq{0}}}
"""


def main(queues, kinds, jobs, folder):
    with open(os.path.join(folder, "queues.yaml"), "w", encoding="utf-8") as out:
        out.write("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: default}\n")
        for i in range(queues):
            out.write(QUEUE.format(i))
    everywhere = ", ".join(f"{{namespace: default, queue: lq{i}}}" for i in range(queues))
    with open(os.path.join(folder, "load.yaml"), "w", encoding="utf-8") as out:
        out.write(f"seed: 7\ncount: {jobs}\narrival: {{kind: exponential, mean: 5s}}\njobs:\n")
        for k in range(kinds):
            out.write(f"- {{name: k{k}, weight: 1, runTime: {{kind: exponential, mean: 2m}}, requests: {{cpu: {k + 1}}}, queues: [{everywhere}]}}\n")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
