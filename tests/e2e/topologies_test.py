#!/usr/bin/env python3
"""Gangs with places in a topology on a real API server, with the real Job controller, scheduler and KWOK nodes, while Hindsight is killed.

usage: topologies_test.py HINDSIGHT

Sixteen nodes of 32 CPUs in two blocks of two racks of four. What is told is what the Pods do: which node each is bound to.
TAS-18, TAS-19, TAS-25, TAS-26, TAS-28, TAS-29, TAS-77, TAS-79, TAS-80, TAS-81, TAS-84, TAS-85, TAS-90, TAS-91, TAS-96,
TAS-98, TAS-99, TAS-100, EJ-108, EJ-112
"""
import argparse, collections, json, sys, unittest

import jobs_test
from jobs_test import Controller  # noqa: F401 (the fixture makes one)
from steps import eventually, run
from suspended_jobs_test import GATES, Fixture

BLOCK, RACK, HOST = "topology.hindsight.dev/block", "topology.hindsight.dev/rack", "kubernetes.io/hostname"
GATE = "kueue.x-k8s.io/topology"
INDEX = "batch.kubernetes.io/job-completion-index"


def gang(name, pods, cpu, indexed=True, seconds=3600, **topology):
    out = jobs_test.job(name, "gpu", pods, seconds)
    template = out["spec"]["template"]
    template["metadata"]["annotations"].update({f"kueue.x-k8s.io/podset-{k.replace('_', '-')}": v for k, v in topology.items()})
    template["spec"]["containers"][0]["resources"] = {"requests": {"cpu": str(cpu)}}
    out["spec"]["backoffLimit"] = 100  # a pod that is deleted counts as failed
    if indexed:
        out["spec"]["completionMode"] = "Indexed"
    return out


def stranger(name, node, cpu):
    """A pod that no queue knows, bound like one of a DaemonSet."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": {"nodeName": node, "restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "tolerations": [{"operator": "Exists"}],
                     "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": str(cpu)}}}]}}


class TopologiesTest(Fixture):
    options = ("--nodes", "16")
    gates = {**GATES, "ElasticJobsViaWorkloadSlicesWithTAS": True}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.apply({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Topology", "metadata": {"name": "dc"},
                   "spec": {"levels": [{"nodeLabel": BLOCK}, {"nodeLabel": RACK}, {"nodeLabel": HOST}]}},
                  {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "gpu"},
                   "spec": {"nodeLabels": {"type": "kwok"}, "topologyName": "dc"}})
        flavors = [{"name": "gpu", "resources": [{"name": "cpu", "nominalQuota": 512}]}]
        cls.apply({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "gpu"},
                   "spec": {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}],
                            "preemption": {"withinClusterQueue": "LowerPriority"}}},
                  {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "gpu", "namespace": "default"},
                   "spec": {"clusterQueue": "gpu"}})

    def setUp(self):
        self.nodes = {n["metadata"]["name"]: n for n in self.items("nodes")}

    def tearDown(self):
        self.kubectl("delete", "jobs,pods", "--all", "-n", "default", "--wait=true", "--grace-period=0", "--force", check=False)

        def gone():
            self.assertFalse(self.items("pods") + self.items("workloads.kueue.x-k8s.io"))
        eventually(gone)

    def of(self, node, level):
        return self.nodes[node]["metadata"]["labels"][level]

    def bound(self, name, count):
        """The pods of a job, once so many are bound and none waits."""
        def look():
            pods = self.pods(name)
            self.assertEqual(len(pods), count, name)
            for pod in pods:
                self.assertNotIn("schedulingGates", pod["spec"])
                self.assertIn("nodeName", pod["spec"], pod["metadata"]["name"])
            return pods
        return eventually(look)

    def assignment(self, name):
        """Host → pods, as the status of the Workload says, in the order of the assignment."""
        out = []
        for w in self.workloads(name):
            for p in w["status"]["admission"]["podSetAssignments"]:
                for s in p["topologyAssignment"]["slices"]:
                    values = s["valuesPerLevel"][-1]
                    n = s["domainCount"]
                    individual = values.get("individual")
                    hosts = [values["universal"]] * n if "universal" in values else [individual.get("prefix", "") + r + individual.get("suffix", "") for r in individual["roots"]]
                    counts = [s["podCounts"]["universal"]] * n if "universal" in s["podCounts"] else s["podCounts"]["individual"]
                    out += zip(hosts, counts)
        return out

    def check_places(self, name, pods):
        """The pods stand as the status says, each selects its host, and none is over its capacity."""
        where = self.assignment(name)
        self.assertEqual(collections.Counter(p["spec"]["nodeName"] for p in pods), collections.Counter(dict(where)))
        for p in pods:
            self.assertEqual(p["spec"]["nodeSelector"][HOST], p["spec"]["nodeName"])
        ranks = {p["metadata"]["labels"][INDEX]: p["spec"]["nodeName"] for p in pods if INDEX in p["metadata"].get("labels", {})}
        if ranks:  # TAS-81
            slots = [host for host, count in where for _ in range(count)]
            self.assertEqual([ranks[str(i)] for i in range(len(ranks))], slots)

    def test_1_a_gang_stands_in_one_rack_by_rank(self):
        self.apply(gang("train", 8, 16, required_topology=RACK))
        pods = self.bound("train", 8)
        self.assertEqual(len({self.of(p["spec"]["nodeName"], RACK) for p in pods}), 1)
        self.check_places("train", pods)
        template = self.job("train")["spec"]["template"]
        self.assertEqual(template["spec"]["schedulingGates"], [{"name": GATE}])
        self.assertEqual(template["spec"]["nodeSelector"], {"type": "kwok"})
        # A pod that fails is replaced, and its successor stands where it did (TAS-85).
        old = next(p for p in pods if p["metadata"]["labels"][INDEX] == "3")
        self.kubectl("delete", "pod", old["metadata"]["name"], "--grace-period=0", "--force")

        def replaced():
            new = [p for p in self.pods("train") if p["metadata"]["labels"][INDEX] == "3" and p["metadata"]["uid"] != old["metadata"]["uid"]]
            self.assertEqual([p["spec"].get("nodeName") for p in new], [old["spec"]["nodeName"]])
        eventually(replaced)
        # Suspended, its template is as its user wrote it.
        self.patch("clusterqueues.kueue.x-k8s.io", "gpu", {"spec": {"stopPolicy": "HoldAndDrain"}})

        def stopped():
            spec = self.job("train")["spec"]
            self.assertTrue(spec["suspend"])
            self.assertNotIn("schedulingGates", spec["template"]["spec"])
            self.assertNotIn("nodeSelector", spec["template"]["spec"])
        eventually(stopped)
        self.patch("clusterqueues.kueue.x-k8s.io", "gpu", {"spec": {"stopPolicy": "None"}})
        self.check_places("train", self.bound("train", 8))

    def test_2_pods_of_others_use_the_nodes(self):
        racks = collections.defaultdict(list)
        for node in self.nodes:
            racks[self.of(node, RACK)].append(node)
        # In every rack somebody else has most of one node: no rack holds four pods of a whole node.
        self.apply(*[stranger(f"stranger-{rack}", sorted(nodes)[0], 20) for rack, nodes in racks.items()])
        self.until(lambda: len(self.items("pods")) == len(racks), "they run")
        self.until(lambda: all(p["status"]["phase"] == "Running" for p in self.items("pods")), "they run")
        self.until(lambda: len(self.usage()) >= len(racks), "the log knows")
        self.apply(gang("whole", 4, 32, required_topology=RACK))
        self.until(lambda: self.condition("whole")["status"] == "False", "it does not fit")
        told = self.condition("whole")["message"]
        self.assertIn("topology", told)
        self.assertEqual(self.pods("whole"), [])
        self.apply(gang("small", 16, 12, indexed=False, unconstrained_topology="true"))
        pods = self.bound("small", 16)
        self.check_places("small", pods)
        self.kubectl("delete", "job", "small")
        # TAS-26, TAS-28: one of them goes, while nobody watches.
        self.controller.kill()
        self.kubectl("delete", "pod", "stranger-rack-2", "--grace-period=0", "--force")
        self.controller.start()
        pods = self.bound("whole", 4)
        self.assertEqual({self.of(p["spec"]["nodeName"], RACK) for p in pods}, {"rack-2"})

    def usage(self):
        """Of which nodes the log tells that pods of others use something."""
        text = run(jobs_test.ARGS.hindsight, "log", "cat", "-o", "json", "--log", self.log, "--kind", "NodeUsageObserved")
        return {json.loads(line)["body"]["node"] for line in text.splitlines() if line.strip() and json.loads(line)["body"].get("usage")}

    def test_3_places_are_kept_when_hindsight_is_killed(self):
        self.apply(gang("first", 4, 32, required_topology=RACK))
        first = self.bound("first", 4)
        # A pod is made anew, and waits, while nobody is there to tell it where.
        self.controller.kill()
        self.kubectl("delete", "pod", first[0]["metadata"]["name"], "--grace-period=0", "--force")
        self.until(lambda: [p for p in self.pods("first") if p["spec"].get("schedulingGates") == [{"name": GATE}]], "it waits at its gate")
        self.controller.start()
        first = self.bound("first", 4)
        self.check_places("first", first)
        self.apply(gang("second", 12, 32, indexed=False, preferred_topology=BLOCK))
        second = self.bound("second", 12)
        self.check_places("second", second)
        self.assertFalse({p["spec"]["nodeName"] for p in first} & {p["spec"]["nodeName"] for p in second})
        # Everything is full: nobody gets in until somebody leaves, though quota were there.
        self.patch("clusterqueues.kueue.x-k8s.io", "gpu", {"spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
            {"name": "gpu", "resources": [{"name": "cpu", "nominalQuota": 1024}]}]}]}})
        self.apply(gang("third", 2, 16, required_topology=HOST))
        self.until(lambda: self.condition("third")["status"] == "False", "it waits")
        self.controller.kill()
        self.kubectl("delete", "job", "first")
        self.controller.start()
        third = self.bound("third", 2)
        self.assertEqual(len({p["spec"]["nodeName"] for p in third}), 1)
        self.check_places("third", third)

    def test_4_nodes_come_and_go(self):
        outside = [n for n in self.nodes if self.of(n, RACK) != "rack-3"]
        self.kubectl("cordon", *outside)
        self.kubectl("cordon", "node-12")
        self.apply(gang("four", 4, 32, required_topology=RACK))
        self.until(lambda: self.condition("four")["status"] == "False", "no rack has four nodes")
        self.kubectl("uncordon", "node-12")  # TAS-18
        pods = self.bound("four", 4)
        self.assertEqual({self.of(p["spec"]["nodeName"], RACK) for p in pods}, {"rack-3"})
        self.kubectl("uncordon", *outside)
        # TAS-19: heartbeats are no records.
        text = run(jobs_test.ARGS.hindsight, "log", "stats", "-o", "json", "--log", self.log)
        seen = {o["kind"]: o["records"] for o in json.loads(text)["kinds"]}
        self.assertLess(seen["NodeObserved"], 16 * (self.controller.starts + 8), seen)

    def test_5_pods_of_a_failed_node_get_another(self):
        """TAS-96, TAS-98, TAS-100: by the hands of the real controllers, which evict from the node and make the pods anew."""
        self.apply(gang("train", 6, 16, required_topology=RACK))
        before = self.bound("train", 6)
        rack = {self.of(p["spec"]["nodeName"], RACK) for p in before}
        failing = before[0]["spec"]["nodeName"]
        self.kubectl("taint", "node", failing, "broken=yes:NoExecute")
        self.addCleanup(self.kubectl, "taint", "node", failing, "broken-", check=False)

        def elsewhere():
            pods = self.pods("train")
            self.assertEqual(len(pods), 6)
            self.assertEqual([p["spec"].get("nodeName") for p in pods].count(None), 0)
            self.assertNotIn(failing, {p["spec"]["nodeName"] for p in pods})
            return pods
        after = eventually(elsewhere)
        self.assertEqual({self.of(p["spec"]["nodeName"], RACK) for p in after}, rack)
        self.assertEqual(collections.Counter(p["spec"]["nodeName"] for p in after), collections.Counter(dict(self.assignment("train"))))
        stayed = {p["metadata"]["uid"] for p in before if p["spec"]["nodeName"] != failing}
        self.assertTrue(stayed <= {p["metadata"]["uid"] for p in after}, "the others were left alone")
        w = self.workloads("train")[0]
        self.assertNotIn("unhealthyNodes", w["status"])
        self.assertIsNone(self.condition("train", "Evicted")["status"])
        told = run(jobs_test.ARGS.hindsight, "history", "job/train", "-n", "default", "--log", self.log)
        self.assertIn(f"nodes failed: {failing}", told)
        self.assertEqual(self.reasons(w["metadata"]["name"]).count("Admitted"), 1)

    def test_5b_pods_of_a_node_that_comes_back_keep_it(self):
        """TAS-96: as when a kubelet registers its node again, before anybody ended the pods there."""
        self.apply(gang("train", 6, 16, preferred_topology=RACK))
        before = self.bound("train", 6)
        where = collections.Counter(dict(self.assignment("train")))
        gone = before[0]["spec"]["nodeName"]
        node = json.loads(self.kubectl("get", "node", gone, "-o", "json"))
        for key in ("resourceVersion", "uid", "creationTimestamp", "managedFields"):
            node["metadata"].pop(key, None)
        self.kubectl("delete", "node", gone, "--wait=false")
        eventually(lambda: self.assertNotIn(gone, dict(self.assignment("train"))))
        self.kubectl("create", "-f", "-", input=json.dumps(node))
        eventually(lambda: self.assertEqual(collections.Counter(dict(self.assignment("train"))), where))
        after = self.pods("train")
        self.assertEqual({p["metadata"]["uid"]: p["spec"]["nodeName"] for p in after}, {p["metadata"]["uid"]: p["spec"]["nodeName"] for p in before})
        told = run(jobs_test.ARGS.hindsight, "history", "job/train", "-n", "default", "--log", self.log)
        self.assertIn("its pods run on hosts that came back", told)

    def test_5c_an_elastic_job_gets_another_node_and_grows(self):
        """EJ-112, EJ-108: the pods that stand on nodes that are well stay there in both cases."""
        job = gang("train", 4, 16, indexed=False, unconstrained_topology="true")
        job["metadata"]["annotations"] = {"kueue.x-k8s.io/elastic-job": "true"}
        job["spec"]["completions"] = 100
        self.apply(job)
        before = self.bound("train", 4)
        failing = before[0]["spec"]["nodeName"]
        self.kubectl("taint", "node", failing, "broken=yes:NoExecute")
        self.addCleanup(self.kubectl, "taint", "node", failing, "broken-", check=False)

        def elsewhere():
            pods = self.pods("train")
            self.assertEqual(len(pods), 4)
            self.assertEqual([p["spec"].get("nodeName") for p in pods].count(None), 0)
            self.assertNotIn(failing, {p["spec"]["nodeName"] for p in pods})
            return pods
        repaired = eventually(elsewhere)
        where = lambda pods: {p["metadata"]["uid"]: p["spec"]["nodeName"] for p in pods}
        stayed = {uid: node for uid, node in where(before).items() if node != failing}
        self.assertEqual({uid: node for uid, node in where(repaired).items() if uid in stayed}, stayed, "the others were left alone")
        self.patch("job", "train", {"spec": {"parallelism": 6}})
        grown = self.bound("train", 6)
        self.assertEqual({uid: node for uid, node in where(grown).items() if uid in where(repaired)}, where(repaired))
        slices = sorted(self.workloads("train"), key=lambda w: w["metadata"]["creationTimestamp"])
        self.assertEqual([any(c["type"] == "Finished" and c["status"] == "True" for c in w["status"]["conditions"]) for w in slices], [True, False])
        self.assertEqual(sum(p["count"] for p in slices[-1]["status"]["admission"]["podSetAssignments"]), 6)
        told = run(jobs_test.ARGS.hindsight, "history", "job/train", "-n", "default", "--log", self.log)
        self.assertIn(f"nodes failed: {failing}", told)
        self.assertNotIn("Evicted", told)

    def test_6_without_another_node_it_is_evicted_and_starts_again(self):
        """TAS-99: the rack has no other node for its pods; it comes back in another rack."""
        self.apply(gang("full", 8, 16, required_topology=RACK))
        before = self.bound("full", 8)
        rack = self.of(before[0]["spec"]["nodeName"], RACK)
        lost = before[0]["spec"]["nodeName"]
        self.kubectl("cordon", *[n for n in self.nodes if self.of(n, RACK) == rack and n != lost])
        self.kubectl("taint", "node", lost, "broken=yes:NoExecute")
        self.addCleanup(self.kubectl, "uncordon", *[n for n in self.nodes if self.of(n, RACK) == rack], check=False)
        self.addCleanup(self.kubectl, "taint", "node", lost, "broken-", check=False)

        def evicted_and_back():
            w = self.workloads("full")[0]
            reasons = self.reasons(w["metadata"]["name"])
            self.assertIn("EvictedDueToNodeFailures", reasons)
            pods = self.pods("full")
            self.assertEqual(len(pods), 8)
            self.assertEqual({self.of(p["spec"]["nodeName"], RACK) == rack for p in pods if "nodeName" in p["spec"]}, {False})
        eventually(evicted_and_back)
        self.check_places("full", self.bound("full", 8))

    def test_7_places_come_after_the_nodes_of_a_check(self):
        """TAS-90, TAS-91: quota first, and places on the nodes that the check names once it is ready."""
        check = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck", "metadata": {"name": "prov"},
                 "spec": {"controllerName": "kueue.x-k8s.io/provisioning-request"}}
        flavors = [{"name": "gpu", "resources": [{"name": "cpu", "nominalQuota": 64}]}]
        self.apply(check, {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "late"},
                           "spec": {"namespaceSelector": {}, "admissionChecksStrategy": {"admissionChecks": [{"name": "prov"}]},
                                    "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}]}},
                   {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "late", "namespace": "default"}, "spec": {"clusterQueue": "late"}})
        now = "2026-01-01T00:00:00Z"
        self.kubectl("patch", "admissionchecks.kueue.x-k8s.io", "prov", "--subresource=status", "--type=merge", "-p", json.dumps(
            {"status": {"conditions": [{"type": "Active", "status": "True", "reason": "Active", "message": "", "lastTransitionTime": now}]}}))
        late = gang("late", 2, 16, preferred_topology=RACK)
        late["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "late"
        self.apply(late)

        def granted():
            assigned = self.workloads("late")[0]["status"]["admission"]["podSetAssignments"][0]
            self.assertEqual(assigned["delayedTopologyRequest"], "Pending")
            self.assertNotIn("topologyAssignment", assigned)
        eventually(granted)
        self.controller.kill()
        self.controller.start()
        name = self.workloads("late")[0]["metadata"]["name"]

        def ready():
            states = self.workloads("late")[0]["status"]["admissionChecks"]
            self.kubectl("patch", "workloads.kueue.x-k8s.io", name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"admissionChecks": [
                {**states[0], "state": "Ready", "message": "made", "podSetUpdates": [{"name": "main", "nodeSelector": {RACK: "rack-2"}}]}]}}))
        eventually(ready)
        pods = self.bound("late", 2)
        self.assertEqual({self.of(p["spec"]["nodeName"], RACK) for p in pods}, {"rack-2"})
        self.check_places("late", pods)
        self.assertEqual(self.workloads("late")[0]["status"]["admission"]["podSetAssignments"][0]["delayedTopologyRequest"], "Ready")
        self.assertEqual(self.reasons(name).count("Admitted"), 1)

    def test_zz_the_log_verifies(self):
        self.verify()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    jobs_test.ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
