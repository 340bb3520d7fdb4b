#!/usr/bin/env python3
"""Write views.json: what drive.py's views make of sample objects. usage: record_views.py (no arguments)"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "conformance", "tools"))
import drive  # noqa: E402


def workload(spec, status):
    base = {"podSets": [{"name": "main", "template": {}}]}
    return {"kind": "Workload", "metadata": {"name": "w", "namespace": "default"}, "spec": {**base, **spec}, "status": status}


def topology(slices):
    assignment = {"name": "main", "count": 3, "topologyAssignment": {"levels": ["block", "rack"], "slices": slices}}
    return workload({}, {"admission": {"clusterQueue": "q", "podSetAssignments": [assignment]}})


def template(**pod):
    return {"spec": {"containers": [{"name": "c"}], **pod}}


GATES = [{"name": "b"}, {"name": "a"}]
SAMPLES = [
    workload({}, {}),
    workload({"queueName": "lq", "priority": -3, "active": False, "podSets": [{"name": "a", "count": 0}, {"name": "b", "count": 4}]}, {}),
    workload({}, {"conditions": [{"type": "QuotaReserved", "status": "False", "reason": "Pending"}, {"type": "X", "status": "Unknown"}]}),
    workload({}, {"admission": {}}),
    workload({}, {"admission": {"clusterQueue": "q", "podSetAssignments": [{"name": "main"}, {"name": "b", "count": 2, "flavors": {"cpu": "f"},
                                                                                        "resourceUsage": {"cpu": "2", "memory": "1Gi"}}]}}),
    workload({}, {"admissionChecks": [{"name": "a", "state": "Ready"}, {"name": "b", "state": "Retry"}], "reclaimablePods": [{"name": "main", "count": 1}]}),
    workload({}, {"admissionChecks": [], "reclaimablePods": []}),
    topology([{"domainCount": 1, "valuesPerLevel": [{"universal": "x"}, {"universal": "y"}], "podCounts": {"universal": 3}}]),
    topology([{"domainCount": 2, "valuesPerLevel": [{"universal": "x"}, {"individual": {"prefix": "r-", "roots": ["2", "10"], "suffix": ".z"}}],
               "podCounts": {"individual": [1, 2]}},
              {"domainCount": 1, "valuesPerLevel": [{"individual": {"roots": ["a"]}}, {"universal": "y"}], "podCounts": {"universal": 5}}]),
    {"kind": "Job", "spec": {"suspend": True, "parallelism": 3, "template": template()}},
    {"kind": "Job", "spec": {"template": template(nodeSelector={"a": "b"}, schedulingGates=GATES)}},
    {"kind": "Job", "spec": {"suspend": False, "parallelism": 0, "template": template(nodeSelector={})}},
    {"kind": "JobSet", "spec": {"suspend": True, "replicatedJobs": [{"name": "x", "template": {"spec": {"template": template(nodeSelector={"p": "q"})}}},
                                                                   {"name": "y", "template": {"spec": {"template": template(schedulingGates=GATES)}}}]}},
    {"kind": "JobSet", "spec": {"replicatedJobs": []}},
    {"kind": "RayCluster", "spec": {"suspend": True}},
    {"kind": "ClusterQueue", "spec": {}},
    {"kind": "ClusterQueue", "status": {"pendingWorkloads": 2, "reservingWorkloads": 1, "admittedWorkloads": 1,
                                        "flavorsReservation": [{"name": "f", "resources": [{"name": "cpu", "total": "5", "borrowed": "2"}, {"name": "gpu"}]}],
                                        "flavorsUsage": [{"name": "f", "resources": []}]}},
]


def view(o):
    if o["kind"] == "Workload":
        return drive.workload_view(o)
    return drive.queue_view(o) if o["kind"] == "ClusterQueue" else drive.job_view(o["kind"], o)


def main():
    with open(os.path.join(HERE, "views.json"), "w") as f:
        rows = [json.dumps({"object": o, "view": view(o)}, sort_keys=True) for o in SAMPLES]
        f.write("[\n" + ",\n".join(rows) + "\n]\n")


if __name__ == "__main__":
    main()
