#!/usr/bin/env python3
"""What users and controllers see of the CustomResourceDefinitions and of the controller's rights, on a real API server.

usage: crd_usage_test.py [--dir D]

Starts a cluster of its own and always stops it. Each function that begins with `test_` is one test; it fails by an
AssertionError, or when the API server refuses what it should not.
"""
import argparse
import copy
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import traceback

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from api_server import ROOT, Cluster, Refused  # noqa: E402

CRDS = ROOT / "deploy" / "crds"
API = "/apis/kueue.x-k8s.io"
NOW = "2026-01-01T00:00:00Z"
GROUPS = [{"coveredResources": ["cpu"], "flavors": [{"name": "one", "resources": [{"name": "cpu", "nominalQuota": 4, "borrowingLimit": 1}]}]}]
POD_SETS = [{"name": "main", "count": 3, "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}]


def same(found, expected, what="value"):
    assert found == expected, f"{what}: found {found!r}, expected {expected!r}"


def create(cluster, version, plural, kind, name, namespaced=False, **content):
    body = {"apiVersion": f"kueue.x-k8s.io/{version}", "kind": kind, "metadata": {"name": name}, **content}
    where = "namespaces/default/" if namespaced else ""
    return cluster.call("POST", f"{API}/{version}/{where}{plural}?fieldValidation=Strict", body)


def path(version, plural, name, sub="", namespaced=False):
    return f"{API}/{version}/{'namespaces/default/' if namespaced else ''}{plural}/{name}" + (f"/{sub}" if sub else "")


def set_status(cluster, live, plural, status, namespaced=False):
    version = live["apiVersion"].split("/")[1]
    return cluster.call("PUT", path(version, plural, live["metadata"]["name"], "status", namespaced), {**live, "status": status})


def columns(cluster, *arguments):
    """Rows of kubectl get as lists, cut at two or more spaces."""
    lines = cluster.kubectl("get", *arguments).rstrip().splitlines()
    return [[cell.strip() for cell in line.replace("  ", "\0").split("\0") if cell.strip()] for line in lines]


# ---- BA-1: versions --------------------------------------------------------------------------------------------------

def test_both_versions_are_served_and_v1beta2_is_preferred(cluster):
    group = next(g for g in cluster.call("GET", "/apis")["groups"] if g["name"] == "kueue.x-k8s.io")
    same([version["version"] for version in group["versions"]], ["v1beta2", "v1beta1"], "versions")
    for version in ("v1beta1", "v1beta2"):
        found = {r["kind"] for r in cluster.call("GET", f"{API}/{version}")["resources"] if "/" not in r["name"]}
        same(found, {d["spec"]["names"]["kind"] for d in definitions()}, version)


def test_v1beta1_is_deprecated(cluster):
    create(cluster, "v1beta2", "resourceflavors", "ResourceFlavor", "deprecation")
    assert "deprecated; use v1beta2" in cluster.kubectl("get", "resourceflavors.v1beta1.kueue.x-k8s.io", "deprecation")


def test_a_v1beta1_queue_survives_updates_through_v1beta2(cluster):
    spec = {"cohort": "all", "resourceGroups": GROUPS, "admissionChecks": ["check"],
            "flavorFungibility": {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}}
    create(cluster, "v1beta1", "clusterqueues", "ClusterQueue", "old-queue", spec=spec)
    live = cluster.call("GET", path("v1beta2", "clusterqueues", "old-queue"))
    live = set_status(cluster, live, "clusterqueues", {"pendingWorkloads": 3})
    live["spec"]["stopPolicy"] = "Hold"
    cluster.call("PUT", path("v1beta2", "clusterqueues", "old-queue"), live)
    found = cluster.call("GET", path("v1beta1", "clusterqueues", "old-queue"))
    for field, value in spec.items():
        same(found["spec"][field], value, field)
    same(found["spec"]["stopPolicy"], "Hold")
    same(found["status"]["pendingWorkloads"], 3)


# CA-1; V12 of 8691 §2.11
def test_a_v1beta2_queue_survives_updates_through_v1beta1(cluster):
    spec = {"cohortName": "all", "resourceGroups": GROUPS, "admissionChecksStrategy": {"admissionChecks": [{"name": "check", "onFlavors": ["one"]}]},
            "concurrentAdmissionPolicy": {"migration": {"mode": "TryPreferredFlavors", "constraints": {"lastAcceptableFlavorName": "one"}}},
            "concurrentAdmission": {"onSuccess": "RemoveBelowTarget", "removeBelowTargetConfig": {"targetResourceFlavor": "one"}}}
    create(cluster, "v1beta2", "clusterqueues", "ClusterQueue", "new-queue", spec=spec)
    live = cluster.call("GET", path("v1beta1", "clusterqueues", "new-queue"))
    live["spec"]["stopPolicy"] = "Hold"
    cluster.call("PUT", path("v1beta1", "clusterqueues", "new-queue"), live)
    found = cluster.call("GET", path("v1beta2", "clusterqueues", "new-queue"))
    for field, value in spec.items():
        same(found["spec"][field], value, field)
    same(found["spec"]["stopPolicy"], "Hold")


def test_workloads_survive_updates_through_the_other_version(cluster):
    old = {"queueName": "q", "podSets": POD_SETS, "priority": 1, "priorityClassName": "p",
           "priorityClassSource": "kueue.x-k8s.io/workloadpriorityclass"}
    new = {"queueName": "q", "podSets": POD_SETS, "priority": 1, "preemptionGates": [{"name": "kueue.x-k8s.io/multikueue"}],
           "priorityClassRef": {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "p"}}
    old_status = {"accumulatedPastExexcutionTimeSeconds": 5, "admission": {"clusterQueue": "cq", "podSetAssignments": [
        {"name": "main", "count": 3, "topologyAssignment": {"levels": ["l"], "domains": [{"values": ["a"], "count": 3}]}}]}}
    new_status = {"accumulatedPastExecutionTimeSeconds": 5, "admission": {"clusterQueue": "cq", "podSetAssignments": [
        {"name": "main", "count": 3, "topologyAssignment": {"levels": ["l"], "slices": [
            {"domainCount": 1, "valuesPerLevel": [{"universal": "a"}], "podCounts": {"universal": 3}}]}}]}}
    for name, own, other, spec, status in (("old", "v1beta1", "v1beta2", old, old_status), ("new", "v1beta2", "v1beta1", new, new_status)):
        live = create(cluster, own, "workloads", "Workload", name, True, spec=spec)
        set_status(cluster, live, "workloads", status, True)
        live = cluster.call("GET", path(other, "workloads", name, namespaced=True))
        live["spec"]["active"] = False
        live = cluster.call("PUT", path(other, "workloads", name, namespaced=True), live)
        set_status(cluster, live, "workloads", {**live["status"], "requeueState": {"count": 1}}, True)
        found = cluster.call("GET", path(own, "workloads", name, namespaced=True))
        for field, value in spec.items():
            same(found["spec"][field], value, field)
        same(found["spec"]["active"], False)
        same(found["status"], {**status, "requeueState": {"count": 1}}, "status")


def test_a_multikueue_cluster_survives_updates_through_the_other_version(cluster):
    for name, own, other, spec in (("old", "v1beta1", "v1beta2", {"kubeConfig": {"location": "s", "locationType": "Secret"}}),
                                   ("new", "v1beta2", "v1beta1", {"clusterSource": {"clusterProfileRef": {"name": "p"}}})):
        create(cluster, own, "multikueueclusters", "MultiKueueCluster", name, spec=spec)
        live = cluster.call("GET", path(other, "multikueueclusters", name))
        live["metadata"]["labels"] = {"seen": "yes"}
        cluster.call("PUT", path(other, "multikueueclusters", name), live)
        same(cluster.call("GET", path(own, "multikueueclusters", name))["spec"], spec)


# ---- BA-2: names and columns -----------------------------------------------------------------------------------------

def test_short_names_and_scopes(cluster):
    expected = {"resourceflavors": ("flavor,flavors,rf", False), "clusterqueues": ("cq", False), "cohorts": ("co", False),
                "localqueues": ("queue,queues,lq", True), "workloads": ("kwl,kueueworkload,kueueworkloads", True),
                "workloadpriorityclasses": ("wpc", False), "admissionchecks": ("ac", False), "topologies": ("topo", False),
                "multikueueconfigs": ("mkconf", False), "multikueueclusters": ("mkc", False), "provisioningrequestconfigs": ("prc", False)}
    for version in ("v1beta1", "v1beta2"):
        found = {r["name"]: (",".join(r["shortNames"]), r["namespaced"])
                 for r in cluster.call("GET", f"{API}/{version}")["resources"] if "/" not in r["name"]}
        same(found, expected, version)
    for short in sum((names.split(",") for names, _ in expected.values()), []):
        assert "error" not in cluster.kubectl("get", short), short


def test_status_is_a_subresource_where_there_is_one(cluster):
    found = {r["name"] for r in cluster.call("GET", f"{API}/v1beta2")["resources"] if "/" in r["name"]}
    same(found, {f"{plural}/status" for plural in ("admissionchecks", "clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads")})


def test_columns_of_cluster_queues(cluster):
    live = create(cluster, "v1beta2", "clusterqueues", "ClusterQueue", "columns", spec={"cohortName": "team"})
    set_status(cluster, live, "clusterqueues", {"pendingWorkloads": 7, "admittedWorkloads": 5})
    create(cluster, "v1beta1", "clusterqueues", "ClusterQueue", "columns-v1beta1", spec={"cohort": "group"})
    same(columns(cluster, "cq", "columns"), [["NAME", "COHORT", "PENDING WORKLOADS"], ["columns", "team", "7"]])
    same(columns(cluster, "cq", "columns", "-o", "wide"),
         [["NAME", "COHORT", "STRATEGY", "PENDING WORKLOADS", "ADMITTED WORKLOADS"], ["columns", "team", "BestEffortFIFO", "7", "5"]])
    same(columns(cluster, "cq", "columns-v1beta1")[1], ["columns-v1beta1", "group"])


def test_columns_of_local_queues(cluster):
    live = create(cluster, "v1beta2", "localqueues", "LocalQueue", "columns", True, spec={"clusterQueue": "cq"})
    set_status(cluster, live, "localqueues", {"pendingWorkloads": 1, "admittedWorkloads": 2}, True)
    same(columns(cluster, "lq", "columns"),
         [["NAME", "CLUSTERQUEUE", "PENDING WORKLOADS", "ADMITTED WORKLOADS"], ["columns", "cq", "1", "2"]])


def test_columns_of_workloads(cluster):
    live = create(cluster, "v1beta2", "workloads", "Workload", "columns", True, spec={"queueName": "q", "podSets": POD_SETS})
    conditions = [{"type": kind, "status": status, "reason": "R", "message": "", "lastTransitionTime": NOW}
                  for kind, status in (("Admitted", "True"), ("Finished", "False"))]
    set_status(cluster, live, "workloads", {"conditions": conditions, "admission": {"clusterQueue": "cq", "podSetAssignments": []}}, True)
    header, row = columns(cluster, "kwl", "columns")
    same(header, ["NAME", "QUEUE", "RESERVED IN", "ADMITTED", "FINISHED", "AGE"])
    same(row[:5], ["columns", "q", "cq", "True", "False"])
    assert row[5].endswith("s"), row


def test_columns_of_small_kinds(cluster):
    create(cluster, "v1beta2", "workloadpriorityclasses", "WorkloadPriorityClass", "columns", value=42)
    same(columns(cluster, "wpc", "columns"), [["NAME", "VALUE"], ["columns", "42"]])
    live = create(cluster, "v1beta2", "multikueueclusters", "MultiKueueCluster", "columns", spec={"clusterSource": {"kubeConfig": {"location": "s"}}})
    set_status(cluster, live, "multikueueclusters",
               {"conditions": [{"type": "Active", "status": "True", "reason": "Active", "message": "Connected", "lastTransitionTime": NOW}]})
    header, row = columns(cluster, "mkc", "columns")
    same((header, row[:2]), (["NAME", "CONNECTED", "AGE"], ["columns", "True"]))


# api §2.5
def test_workloads_can_be_selected_by_cluster_queue(cluster):
    for name, queue in (("selected", "selected-queue"), ("not-selected", "another-queue")):
        live = create(cluster, "v1beta2", "workloads", "Workload", name, True, spec={"podSets": POD_SETS})
        set_status(cluster, live, "workloads", {"admission": {"clusterQueue": queue, "podSetAssignments": []}}, True)
    found = cluster.call("GET", f"{API}/v1beta2/workloads?fieldSelector=status.admission.clusterQueue%3Dselected-queue")["items"]
    same([item["metadata"]["name"] for item in found], ["selected"])


def test_kubectl_explains_fields(cluster):
    assert "infinite share" in cluster.kubectl("explain", "clusterqueue.spec.fairSharing.weight")


# ---- templates and merging -------------------------------------------------------------------------------------------

def test_templates_keep_every_field_of_a_pod(cluster):
    template = yaml.safe_load((pathlib.Path(__file__).parent / "pod_template.yaml").read_text())
    create(cluster, "v1beta2", "workloads", "Workload", "lossless", True, spec={"podSets": [{"name": "main", "template": template}]})
    for version in ("v1beta1", "v1beta2"):
        found = cluster.call("GET", path(version, "workloads", "lossless", namespaced=True))
        same(found["spec"]["podSets"][0]["template"], template, version)


def test_of_template_metadata_labels_and_annotations_are_kept(cluster):
    metadata = {"labels": {"a": "b"}, "annotations": {"c": "d"}, "name": "n", "finalizers": ["example.com/f"], "creationTimestamp": None}
    body = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": "metadata"},
            "spec": {"podSets": [{"template": {"metadata": metadata, "spec": {"containers": []}}}]}}
    cluster.call("POST", f"{API}/v1beta2/namespaces/default/workloads", body)
    found = cluster.call("GET", path("v1beta2", "workloads", "metadata", namespaced=True))
    same(found["spec"]["podSets"][0]["template"]["metadata"], {"labels": {"a": "b"}, "annotations": {"c": "d"}})


def test_two_controllers_can_own_entries_of_one_list(cluster):
    create(cluster, "v1beta2", "workloads", "Workload", "shared", True, spec={"podSets": POD_SETS})
    for manager in ("first", "second"):
        body = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": "shared"}, "status": {
            "admissionChecks": [{"name": manager, "state": "Pending", "message": "", "lastTransitionTime": NOW}],
            "conditions": [{"type": manager, "status": "True", "reason": "R", "message": "", "lastTransitionTime": NOW}]}}
        cluster.call("PATCH", path("v1beta2", "workloads", "shared", "status", True) + f"?fieldManager={manager}", body, "application/apply-patch+yaml")
    found = cluster.call("GET", path("v1beta2", "workloads", "shared", namespaced=True))["status"]
    for field, key in (("admissionChecks", "name"), ("conditions", "type")):
        same(sorted(item[key] for item in found[field]), ["first", "second"], field)


# ---- what is stored and wrong ----------------------------------------------------------------------------------------

def without_rules(node):
    if isinstance(node, dict):
        return {key: without_rules(value) for key, value in node.items() if key != "x-kubernetes-validations"}
    return [without_rules(item) for item in node] if isinstance(node, list) else node


def replace_definition(cluster, definition):
    address = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{definition['metadata']['name']}"
    live = cluster.call("GET", address)
    cluster.call("PUT", address, {**live, "spec": definition["spec"]})


def eventually(action, wanted):
    """Repeats `action` until the API server, which reloads a changed definition in its own time, accepts (or refuses) it."""
    for _ in range(100):
        try:
            result = action()
        except Refused as error:
            result = error
        if isinstance(result, Refused) != wanted:
            return result
        time.sleep(0.1)
    raise AssertionError(f"after 10 s still: {result}")


# BA-10, BA-16
def test_stored_violations_do_not_block_other_updates(cluster):
    real = {d["spec"]["names"]["plural"]: d for d in definitions()}
    reserved = {"conditions": [{"type": "QuotaReserved", "status": "True", "reason": "R", "message": "", "lastTransitionTime": NOW}]}
    queue = {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{"name": "one", "resources": [{"name": "cpu", "nominalQuota": 1}]}]}],
             "admissionChecksStrategy": {"admissionChecks": [{"name": "a", "onFlavors": ["gone"]}]}}
    for plural in ("clusterqueues", "workloads"):
        replace_definition(cluster, without_rules(real[plural]))
    eventually(lambda: create(cluster, "v1beta2", "clusterqueues", "ClusterQueue", "violation", spec=queue), wanted=True)
    live = create(cluster, "v1beta2", "workloads", "Workload", "violation", True, spec={"podSets": POD_SETS})
    eventually(lambda: set_status(cluster, live, "workloads", reserved, True), wanted=True)
    for plural in ("clusterqueues", "workloads"):
        replace_definition(cluster, real[plural])
    eventually(lambda: create(cluster, "v1beta2", "clusterqueues", "ClusterQueue", f"violation-{time.time_ns()}", spec=queue), wanted=False)
    other = create(cluster, "v1beta2", "workloads", "Workload", "violation-2", True, spec={"podSets": POD_SETS})
    eventually(lambda: set_status(cluster, {**other, "metadata": {**other["metadata"], "resourceVersion": None}}, "workloads", reserved, True), wanted=False)

    live = cluster.call("GET", path("v1beta2", "clusterqueues", "violation"))
    live["spec"]["stopPolicy"] = "Hold"
    live = cluster.call("PUT", path("v1beta2", "clusterqueues", "violation"), live)
    worse = copy.deepcopy(live)
    worse["spec"]["admissionChecksStrategy"]["admissionChecks"][0]["onFlavors"] = ["gone", "missing"]
    refused(lambda: cluster.call("PUT", path("v1beta2", "clusterqueues", "violation"), worse), "onFlavors must name flavors")
    live = cluster.call("GET", path("v1beta2", "workloads", "violation", namespaced=True))
    set_status(cluster, live, "workloads", {**reserved, "requeueState": {"count": 1}}, True)


def refused(action, words):
    try:
        action()
    except Refused as error:
        assert words in str(error), error
        return
    raise AssertionError(f"accepted, although it should be refused with {words!r}")


def test_definitions_with_a_conversion_webhook_are_accepted_too(cluster):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, CRDS / "generate.py", "--conversion", "Webhook", "--output", folder], check=True, stdout=subprocess.DEVNULL)
        printed = cluster.kubectl("apply", "--dry-run=server", "-f", folder)
    same(printed.count("configured"), len(definitions()), "definitions that differ")


# ---- rights ----------------------------------------------------------------------------------------------------------

def test_the_controller_may_do_what_it_needs_and_no_more(cluster):
    cluster.kubectl("apply", "-f", ROOT / "deploy" / "rbac.yaml")
    may = {"kueue.x-k8s.io": {"workloads": "list watch create patch delete", "workloads/status": "patch", "clusterqueues": "list watch patch",
                              "clusterqueues/status": "patch", "localqueues": "list watch", "localqueues/status": "patch", "cohorts": "list watch",
                              "resourceflavors": "list watch patch", "admissionchecks": "list watch patch", "topologies": "list watch patch",
                              "workloadpriorityclasses": "list watch"},
           "batch": {"jobs": "list watch patch delete", "jobs/status": "patch", "jobs/finalizers": "update"},
           "jobset.x-k8s.io": {"jobsets": "list watch patch delete", "jobsets/finalizers": "update"},
           "ray.io": {"rayjobs": "list watch patch delete", "rayclusters": "list watch patch delete"},
           "": {"pods": "list watch patch", "pods/status": "patch", "nodes": "list watch", "namespaces": "get list watch", "limitranges": "list watch",
                "events": "create patch"},
           "scheduling.k8s.io": {"priorityclasses": "list watch"}, "node.k8s.io": {"runtimeclasses": "list watch"}}
    may_not = {"": {"secrets": "get list", "pods": "create delete update", "pods/status": "update", "nodes": "patch update",
                    "namespaces": "create patch"},
               "batch": {"jobs": "create update", "jobs/status": "update"}, "rbac.authorization.k8s.io": {"clusterroles": "get update bind"},
               "kueue.x-k8s.io": {"clusterqueues": "create update delete", "localqueues": "create update patch delete", "workloads": "update",
                                  "workloads/status": "update", "workloadpriorityclasses": "update"},
               "apiextensions.k8s.io": {"customresourcedefinitions": "get patch"}}
    for expected, table in ((True, may), (False, may_not)):
        for group, resources in table.items():
            for resource, verbs in resources.items():
                for verb in verbs.split():
                    same(allowed(cluster, group, resource, verb, "default"), expected, f"may {verb} {resource}.{group}")
    for verb in ("get", "create", "patch"):
        same(allowed(cluster, "coordination.k8s.io", "leases", verb, "hindsight-system"), True, f"may {verb} leases in its namespace")
        same(allowed(cluster, "coordination.k8s.io", "leases", verb, "default"), False, f"may {verb} leases elsewhere")


def allowed(cluster, group, resource, verb, namespace):
    resource, _, sub = resource.partition("/")
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
        "user": "system:serviceaccount:hindsight-system:hindsight",
        "resourceAttributes": {"group": group, "resource": resource, "subresource": sub, "verb": verb, "namespace": namespace}}}
    return cluster.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"]


# ---- the run ---------------------------------------------------------------------------------------------------------

def definitions():
    return [yaml.safe_load(file.read_text()) for file in sorted(CRDS.glob("*.yaml"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    build = os.environ.get("HINDSIGHT_BUILD_DIR", ROOT / "build")
    parser.add_argument("--dir", type=pathlib.Path, default=pathlib.Path(build) / "test-clusters" / "crd-usage")
    arguments = parser.parse_args()
    tests = {name: function for name, function in globals().items() if name.startswith("test_")}
    failed = 0
    with Cluster(arguments.dir) as cluster:
        cluster.kubectl("apply", "-f", CRDS)
        cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")
        for name, function in tests.items():
            try:
                function(cluster)
            except (AssertionError, Refused):
                failed += 1
                print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
