#!/usr/bin/env python3
"""Owner references that tenants forge, on a real API server with its controllers, KWOK nodes and the definition of JobSet.

usage: forged_owners_test.py HINDSIGHT

A Job that claims to be part of the tenant's own queued Job or JobSet gets no quota by that: it is suspended and waits in a queue by itself.
What a controller makes for its owner runs with the owner's quota, of each kind. First without webhooks, then with them, where it counts which account
makes the part.
BA-171, JK-7, JK-8
"""
import argparse, glob, json, os, shutil, sys, tempfile, time, unittest

from steps import ROOT, Program, eventually, free_port, run

ARGS = None

QUEUE = "kueue.x-k8s.io/queue-name"
MADE_BY = "hindsight.dev/made-by"
ELASTIC = "kueue.x-k8s.io/elastic-job"
TENANT = "tenant"
JOBSET_CONTROLLER = "system:serviceaccount:jobset-system:jobset-controller-manager"
KUBERAY = "system:serviceaccount:ray-system:kuberay-operator"

CONFIGURATION = """apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: hindsight-system
integrations: {frameworks: [batch/job, jobset.x-k8s.io/jobset, ray.io/raycluster, ray.io/rayjob]}
internalCertManagement: {webhookServiceName: hindsight-webhook-service, webhookSecretName: hindsight-webhook-server-cert}
"""


def kueue(kind, name, spec):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec}


def pod_template(cpu, seconds=600):
    return {"metadata": {"annotations": {"hindsight.dev/run-seconds": str(seconds)}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}}


def ray_definition(kind):
    """KubeRay's own definitions are not to be had here; their shape is left open."""
    plural = kind.lower() + "s"
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": anything, "status": anything}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": plural + ".ray.io"},
            "spec": {"group": "ray.io", "scope": "Namespaced", "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}]}}


def job(name, cpu="1", queue=None, owner=None, suspend=False, pods=1):
    metadata = {"name": name, "namespace": "default", "labels": {QUEUE: queue} if queue else {}, "ownerReferences": [owner] if owner else []}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata,
            "spec": {"suspend": suspend, "parallelism": pods, "completions": pods, "template": pod_template(cpu)}}


def job_set(name, cpu="1", replicas=2):
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": name, "namespace": "default", "labels": {QUEUE: "lq"}},
            "spec": {"suspend": True, "replicatedJobs": [{"name": "w", "replicas": replicas, "template": {"spec": {"parallelism": 1, "completions": 1, "template": pod_template(cpu)}}}]}}


def cluster_spec(cpu, workers):
    return {"headGroupSpec": {"template": pod_template(cpu)},
            "workerGroupSpecs": [{"groupName": "w", "replicas": workers, "template": pod_template(cpu)}]}


def ray_job(name, cpu="1", workers=1):
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": name, "namespace": "default", "labels": {QUEUE: "lq"}},
            "spec": {"suspend": True, "rayClusterSpec": cluster_spec(cpu, workers), "submitterPodTemplate": pod_template("500m")}}


def ray_cluster(name, owner, cpu="1", workers=1):
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": name, "namespace": "default", "ownerReferences": [owner]},
            "spec": {"suspend": False, **cluster_spec(cpu, workers)}}


def elastic_ray_job(name, workers=1):
    """It scales itself, so its size is read from its cluster."""
    out = ray_job(name, workers=workers)
    out["metadata"]["annotations"] = {ELASTIC: "true"}
    out["spec"]["submissionMode"] = "HTTPMode"
    del out["spec"]["submitterPodTemplate"]
    out["spec"]["rayClusterSpec"] |= {"enableInTreeAutoscaling": True, "autoscalerOptions": {"resources": {"requests": {"cpu": "500m"}}}}
    return out


def gated_ray_cluster(name, owner, workers):
    out = ray_cluster(name, owner, workers=workers)
    out["metadata"]["annotations"] = {ELASTIC: "true"}
    out["spec"] |= {"enableInTreeAutoscaling": True, "autoscalerOptions": {"resources": {"requests": {"cpu": "500m"}}}}
    for group in (out["spec"]["headGroupSpec"], *out["spec"]["workerGroupSpecs"]):
        group["template"]["spec"]["schedulingGates"] = [{"name": ELASTIC}]
    return out


class ForgedOwnersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.dev = os.path.join(ROOT, "dev")
        cls.cluster = os.path.join(cls.folder, "cluster")
        run(cls.dev, "cluster", "up", "--dir", cls.cluster, timeout=960)
        cls.addClassCleanup(run, cls.dev, "cluster", "down", "--dir", cls.cluster)
        jobset = run(os.path.join(ROOT, "scripts", "tools.sh"), "path", "jobset-crd.yaml").strip().splitlines()[-1]
        definitions = [*sorted(glob.glob(os.path.join(ROOT, "deploy", "crds", "*.yaml"))), jobset, os.path.join(ROOT, "deploy", "rbac.yaml")]
        # The definition of JobSet is too large for the annotation of an apply on the client.
        cls.kubectl("apply", "--server-side", *[w for f in definitions for w in ("-f", f)])
        cls.create(ray_definition("RayJob"), ray_definition("RayCluster"))
        eventually(lambda: cls.kubectl("get", "jobsets.jobset.x-k8s.io,rayjobs.ray.io,rayclusters.ray.io,workloads.kueue.x-k8s.io,clusterqueues.kueue.x-k8s.io"))
        local = kueue("LocalQueue", "lq", {"clusterQueue": "cq"})
        local["metadata"]["namespace"] = "default"
        cls.create(kueue("ResourceFlavor", "any", {}),
                   kueue("ClusterQueue", "cq", {"namespaceSelector": {}, "resourceGroups": [
                       {"coveredResources": ["cpu"], "flavors": [{"name": "any", "resources": [{"name": "cpu", "nominalQuota": 20}]}]}]}), local,
                   # What a user of a namespace may do, and the accounts of controllers.
                   *[{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
                      "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
                      "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}]}
                     for name, user in (("tenant", TENANT), ("jobset", JOBSET_CONTROLLER), ("kuberay", KUBERAY))])

    @classmethod
    def kubectl(cls, *words, **more):
        return run(cls.dev, "cluster", "kubectl", "--dir", cls.cluster, "--", *words, **more)

    @classmethod
    def create(cls, *objects, user=None):
        """As the cluster's admin, or as `user`."""
        cls.kubectl("create", *(("--as", user) if user else ()), "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def get(self, kind, name):
        return json.loads(self.kubectl("get", kind, name, "-o", "json"))

    def reference(self, kind, name):
        found = self.get(kind, name)
        return {"apiVersion": found["apiVersion"], "kind": found["kind"], "name": name, "uid": found["metadata"]["uid"], "controller": True}

    def workloads_of(self, kind, name):
        """`kind` in the plural: a RayJob and the Job that submits it have one name."""
        all_of = json.loads(self.kubectl("get", "workloads.kueue.x-k8s.io", "-o", "json"))["items"]
        return [w for w in all_of if any((o["kind"].lower() + "s", o["name"]) == (kind, name) for o in w["metadata"].get("ownerReferences", []))]

    def admitted(self, kind, name):
        """It is admitted, and Hindsight has started it."""
        def started():
            assert self.get(kind, name)["spec"].get("suspend") is False, f"{kind} {name} is not started"
        eventually(started)

    def waits_by_itself(self, kind, name, has_workload=True):
        def suspended():
            assert self.get(kind, name)["spec"].get("suspend") is True, f"{kind} {name} runs"
            assert bool(self.workloads_of(kind, name)) == has_workload, f"{kind} {name}: {self.workloads_of(kind, name)}"
        eventually(suspended)

    def runs_as_a_part(self, kind, *names):
        """Whatever was made before `after` has been seen when that has its Workload."""
        self.create(job("after", queue="lq", suspend=True, cpu="100"))
        eventually(lambda: self.assertTrue(self.workloads_of("jobs", "after")))
        for name in names:
            self.assertFalse(self.get(kind, name)["spec"].get("suspend"), f"{kind} {name} was stopped")
            self.assertEqual(self.workloads_of(kind, name), [], f"{kind} {name} is queued")
        self.kubectl("delete", "job", "after", "--cascade=background")

    def tell(self, program):
        """What is needed to find out why it failed."""
        print("---- what hindsight said\n" + program.said()[-6000:], flush=True)
        log = "sqlite:" + os.path.join(self.folder, "log.db")
        records = run(ARGS.hindsight, "log", "cat", "--log", log, check=False).splitlines()[-80:]
        print("---- the end of the log\n" + "\n".join(r[:300] for r in records), flush=True)

    def hindsight(self, *words):
        port = free_port()
        program = Program("hindsight", os.path.join(self.folder, f"hindsight-{port}.out"), ARGS.hindsight, "run", "--kubeconfig", os.path.join(self.cluster, "kubeconfig"),
                          "--log", "sqlite:" + os.path.join(self.folder, "log.db"), "--no-lease", *words)
        self.addCleanup(program.kill)
        program.start()
        return program, port

    def test_1_without_webhooks(self):
        program, _ = self.hindsight()
        try:
            self.create(job("mine", queue="lq", suspend=True), job_set("set"), ray_job("ray"))
            for kind, name in (("jobs", "mine"), ("jobsets", "set"), ("rayjobs", "ray")):
                self.admitted(kind, name)
            of_job, of_set, of_ray = self.reference("jobs", "mine"), self.reference("jobsets", "set"), self.reference("rayjobs", "ray")
            # No controller makes Jobs for a Job.
            self.create(job("forged", queue="lq", owner=of_job, cpu="50"))
            self.waits_by_itself("jobs", "forged")
            # What the controllers make runs: two replicas, the cluster and the submitter.
            self.create(job("set-w-0", owner=of_set), job("set-w-1", owner=of_set))
            self.create(ray_cluster("ray-c", of_ray), job("ray", cpu="500m", owner=of_ray))
            self.runs_as_a_part("jobs", "set-w-0", "set-w-1", "ray")
            self.runs_as_a_part("rayclusters", "ray-c")
            eventually(lambda: self.assertEqual(self.get("jobs", "set-w-0")["status"].get("ready"), 1))
            # More than the owner was admitted with.
            self.create(job("set-w-2", owner=of_set), ray_cluster("ray-d", of_ray, workers=9))
            self.waits_by_itself("jobs", "set-w-2", has_workload=False)
            time.sleep(1.1)  # who is older is told by whole seconds, and behind the first that does not fit nobody does
            self.create(job("set-w-3", queue="lq", owner=of_set, cpu="50"))
            self.waits_by_itself("jobs", "set-w-3")
            self.waits_by_itself("rayclusters", "ray-d", has_workload=False)
            self.runs_as_a_part("jobs", "set-w-0", "set-w-1", "ray")
            # There is room when one has gone.
            self.kubectl("delete", "job", "set-w-0", "--cascade=background")
            self.kubectl("patch", "job", "set-w-2", "--type=merge", "-p", '{"spec":{"suspend":false}}')
            self.runs_as_a_part("jobs", "set-w-1", "set-w-2")
            # An owner that grew gives no room before it is admitted with more. What its autoscaler added waits at the gate.
            self.create(elastic_ray_job("elastic"))
            self.admitted("rayjobs", "elastic")
            of_elastic = self.reference("rayjobs", "elastic")
            self.create(gated_ray_cluster("elastic-c", of_elastic, workers=1))
            self.kubectl("patch", "rayjobs.ray.io", "elastic", "--subresource=status", "--type=merge", "-p", '{"status":{"rayClusterName":"elastic-c"}}')
            grown = gated_ray_cluster("elastic-c", of_elastic, workers=100)["spec"]["workerGroupSpecs"]
            self.kubectl("patch", "rayclusters.ray.io", "elastic-c", "--type=merge", "-p", json.dumps({"spec": {"workerGroupSpecs": grown}}))
            eventually(lambda: self.assertEqual([w["spec"]["podSets"][1]["count"] for w in self.workloads_of("rayjobs", "elastic")].count(100), 1))
            time.sleep(1.1)  # as above: the cluster that grew is the oldest
            self.create(ray_cluster("elastic-d", of_elastic, workers=50), gated_ray_cluster("elastic-e", of_elastic, workers=50),
                        job("elastic-job", queue="lq", owner=of_elastic, cpu="50"))
            self.waits_by_itself("rayclusters", "elastic-d", has_workload=False)
            self.waits_by_itself("rayclusters", "elastic-e", has_workload=False)
            self.waits_by_itself("jobs", "elastic-job")
            self.runs_as_a_part("rayclusters", "elastic-c")
        except BaseException:
            self.tell(program)
            raise
        self.assertEqual(program.stop(), 0)

    def test_2_with_webhooks(self):
        self.kubectl("apply", "-f", os.path.join(ROOT, "deploy", "webhooks.yaml"))
        configuration = os.path.join(self.folder, "config.yaml")
        with open(configuration, "w", encoding="utf-8") as out:
            out.write(CONFIGURATION)
        port = free_port()
        program, _ = self.hindsight("--config", configuration, "--webhooks", "--webhook-address", f"127.0.0.1:{port}", "--webhook-url", f"https://127.0.0.1:{port}")
        try:
            eventually(lambda: program.heard("webhooks are registered"))
            of_set, of_ray = self.reference("jobsets", "set"), self.reference("rayjobs", "ray")

            def asked():  # the API server hears of the webhooks a moment later, and the mirror is filled
                self.kubectl("delete", "job", "probe", "--ignore-not-found", "--cascade=background")
                self.create(job("probe", owner=of_set), user=TENANT)
                self.assertEqual(self.get("jobs", "probe")["metadata"].get("annotations", {}).get(MADE_BY), TENANT)
            eventually(asked)
            # Room or not: a tenant makes no parts, of whatever owner.
            self.kubectl("delete", "job", "set-w-1", "set-w-2", "set-w-3", "probe", "--cascade=background")
            self.create(job("taken", queue="lq", owner=of_set, cpu="50"), ray_cluster("taken", of_ray), user=TENANT)
            self.waits_by_itself("jobs", "taken")
            self.assertEqual(self.get("rayclusters", "taken")["metadata"]["annotations"][MADE_BY], TENANT)
            # The controllers do.
            self.create(job("set-w-4", owner=of_set), job("set-w-5", owner=of_set), user=JOBSET_CONTROLLER)
            self.runs_as_a_part("jobs", "set-w-4", "set-w-5")
            self.assertNotIn(MADE_BY, self.get("jobs", "set-w-4")["metadata"].get("annotations", {}))
            # Nobody becomes a part later, or forgets who made it.
            self.create(job("plain", queue="lq", cpu="50"), user=TENANT)
            said = self.kubectl("patch", "job", "plain", "--as", TENANT, "--type=merge", "-p", json.dumps({"metadata": {"ownerReferences": [of_set]}}), check=False)
            self.assertIn("metadata.ownerReferences: Forbidden: found JobSet set as controller", said)
            said = self.kubectl("annotate", "job", "taken", "--as", TENANT, MADE_BY + "-", check=False)
            self.assertIn("only controllers may change who made the job", said)
            # Nor piece by piece: first the uid, and then what makes it count.
            vague = {"apiVersion": "example.com/v1", "kind": "Foo", "name": "x", "uid": of_set["uid"], "controller": True}
            self.create(job("vague", queue="lq", cpu="50", owner=vague), user=TENANT)
            said = self.kubectl("patch", "job", "vague", "--as", TENANT, "--type=merge", "-p", json.dumps({"metadata": {"ownerReferences": [of_set]}}), check=False)
            self.assertIn("metadata.ownerReferences: Forbidden: found JobSet set as controller", said)
            self.waits_by_itself("jobs", "vague")
            # Nor by being there before its owner is queued, or before it is there at all.
            later = job_set("later")
            later["metadata"]["labels"] = {}
            self.create(later)
            self.create(job("early", queue="lq", cpu="50", owner=self.reference("jobsets", "later")), user=TENANT)
            self.kubectl("label", "jobsets.jobset.x-k8s.io", "later", f"{QUEUE}=lq")
            eventually(lambda: self.assertTrue(self.workloads_of("jobsets", "later")))
            self.waits_by_itself("jobs", "early")
            self.assertEqual(self.get("jobs", "early")["metadata"]["annotations"][MADE_BY], TENANT)
            of_nobody = {**of_set, "name": "tomorrow", "uid": "11111111-2222-3333-4444-555555555555"}
            made = json.loads(self.kubectl("create", "--dry-run=server", "-o", "json", "--as", TENANT, "-f", "-", input=json.dumps(job("orphan", owner=of_nobody))))
            self.assertEqual(made["metadata"]["annotations"][MADE_BY], TENANT)
        except BaseException:
            self.tell(program)
            raise
        self.assertEqual(program.stop(), 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("hindsight")
    ARGS, rest = parser.parse_known_args()
    ARGS.hindsight = os.path.abspath(ARGS.hindsight)
    unittest.main(argv=[sys.argv[0], *rest])
