#!/usr/bin/env python3
"""The commands that kueuectl users know, against a real API server with the definitions of deploy/crds.

usage: commands_test.py HINDSIGHT

Queues and flavors are created, listed, stopped, resumed and deleted, with dry runs and every output; Workloads are stopped, resumed and deleted with
their jobs; kubectl finds the binary as a plugin.
BA-193
"""
import argparse, glob, json, os, shutil, sys, tempfile, unittest

from steps import ROOT, WAIT_SECONDS_MAX, eventually, run

ARGS = None


def workload(name, queue, owner=None):
    metadata = {"name": name, "namespace": "default", **({"ownerReferences": [owner]} if owner else {})}
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": metadata,
            "spec": {"queueName": queue, "podSets": [{"name": "main", "count": 1, "template": template}]}}


class CommandsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.dev = os.path.join(ROOT, "dev")
        cls.cluster = os.path.join(cls.folder, "cluster")
        run(cls.dev, "cluster", "up", "--dir", cls.cluster, "--no-kwok", "--no-controller-manager", "--no-scheduler")
        cls.addClassCleanup(run, cls.dev, "cluster", "down", "--dir", cls.cluster)
        cls.kubeconfig = os.path.join(cls.cluster, "kubeconfig")
        cls.kubectl("apply", *[w for f in sorted(glob.glob(os.path.join(ROOT, "deploy", "crds", "*.yaml"))) for w in ("-f", f)])
        eventually(lambda: cls.kubectl("get", "clusterqueues.kueue.x-k8s.io,localqueues.kueue.x-k8s.io,resourceflavors.kueue.x-k8s.io,workloads.kueue.x-k8s.io"))
        # kubectl as the PATH has it, and the two names under which it finds us.
        cls.bin = os.path.join(cls.folder, "bin")
        os.mkdir(cls.bin)
        os.symlink(run(os.path.join(ROOT, "scripts", "tools.sh"), "path", "kubectl").strip().splitlines()[-1], os.path.join(cls.bin, "kubectl"))
        for name in ("kubectl-kueue", "kubectl-hindsight"):
            os.symlink(os.path.abspath(ARGS.hindsight), os.path.join(cls.bin, name))
        cls.environment = {**os.environ, "PATH": cls.bin + ":" + os.environ["PATH"], "KUBECONFIG": cls.kubeconfig, "NO_COLOR": "1"}
        cls.environment.pop("HINDSIGHT_LOG", None)

    @classmethod
    def kubectl(cls, *words, **more):
        return run(cls.dev, "cluster", "kubectl", "--dir", cls.cluster, "--", *words, **more)

    def hindsight(self, *words, **more):
        return run(ARGS.hindsight, *words, env=self.environment, **more)

    def get(self, kind, name, *more):
        return json.loads(self.kubectl("get", f"{kind}.kueue.x-k8s.io", name, "-o", "json", *more))

    def rows(self, *words):
        """The lines of a table, as lists of words; without the age."""
        return [line.split()[:-1] for line in self.hindsight(*words, "--no-headers").splitlines()]

    def test_1_create(self):
        create = ("create", "clusterqueue", "team-a", "--cohort", "all", "--queuing-strategy", "StrictFIFO", "--namespace-selector", "team=a",
                  "--reclaim-within-cohort", "Any", "--preemption-within-cluster-queue", "LowerPriority",
                  "--nominal-quota", "spot:cpu=4;memory=16Gi,reserved:cpu=8;memory=32Gi", "--borrowing-limit", "spot:cpu=2;memory=8Gi",
                  "--lending-limit", "reserved:cpu=1;memory=1Gi")
        self.assertEqual(self.hindsight(*create, "--dry-run", "client"), "clusterqueue.kueue.x-k8s.io/team-a created (client dry run)\n")
        self.assertEqual(self.hindsight(*create, "--dry-run", "server"), "clusterqueue.kueue.x-k8s.io/team-a created (server dry run)\n")
        self.assertIn("NotFound", self.kubectl("get", "clusterqueues.kueue.x-k8s.io", "team-a", check=False))
        self.assertEqual(self.hindsight(*create), "clusterqueue.kueue.x-k8s.io/team-a created\n")
        spec = self.get("clusterqueues", "team-a")["spec"]
        self.assertEqual((spec["cohortName"], spec["queueingStrategy"], spec["namespaceSelector"]), ("all", "StrictFIFO", {"matchLabels": {"team": "a"}}))
        self.assertEqual((spec["preemption"]["reclaimWithinCohort"], spec["preemption"]["withinClusterQueue"]), ("Any", "LowerPriority"))
        self.assertEqual(spec["resourceGroups"], [{"coveredResources": ["cpu", "memory"], "flavors": [
            {"name": "spot", "resources": [{"name": "cpu", "nominalQuota": "4", "borrowingLimit": "2"}, {"name": "memory", "nominalQuota": "16Gi", "borrowingLimit": "8Gi"}]},
            {"name": "reserved", "resources": [{"name": "cpu", "nominalQuota": "8", "lendingLimit": "1"}, {"name": "memory", "nominalQuota": "32Gi", "lendingLimit": "1Gi"}]}]}])
        said = self.hindsight(*create, check=False)
        self.assertIn('the API server says AlreadyExists: clusterqueues.kueue.x-k8s.io "team-a" already exists', said)

        self.assertEqual(self.hindsight("create", "cq", "team-b", "-o", "name"), "clusterqueue.kueue.x-k8s.io/team-b\n")
        said = self.hindsight("create", "localqueue", "lq", "-c", "nowhere", check=False)
        self.assertIn('--clusterqueue: found "nowhere", which is not there', said)
        self.hindsight("create", "localqueue", "lost", "-c", "nowhere", "-i")
        self.assertEqual(self.hindsight("create", "lq", "user-queue", "-c", "team-a", "-n", "default"), "localqueue.kueue.x-k8s.io/user-queue created\n")
        self.assertEqual(self.get("localqueues", "user-queue")["spec"]["clusterQueue"], "team-a")
        made = json.loads(self.hindsight("create", "resourceflavor", "spot", "--node-labels", "pool=spot", "--node-taints", "spot=true:NoSchedule",
                                         "--tolerations", "spot:NoSchedule", "-o", "json"))
        self.assertTrue(made["metadata"]["uid"])
        self.assertEqual(self.get("resourceflavors", "spot")["spec"], {
            "nodeLabels": {"pool": "spot"}, "nodeTaints": [{"key": "spot", "value": "true", "effect": "NoSchedule"}],
            "tolerations": [{"key": "spot", "operator": "Exists", "effect": "NoSchedule"}]})
        # What the definitions refuse is told in their words.
        self.assertIn("the API server says Invalid", self.hindsight("create", "clusterqueue", "Bad_Name", check=False))

    def test_2_list(self):
        self.assertEqual(self.rows("list", "clusterqueue"), [["team-a", "all", "0", "0", "false"], ["team-b", "0", "0", "false"]])
        self.assertEqual(self.hindsight("list", "cq", "--active", "true"), "No resources found.\n")
        self.assertEqual(len(self.rows("list", "cq", "--active", "true,false")), 2)
        self.assertEqual(self.hindsight("list", "cq", "--field-selector", "metadata.name=team-b", "-o", "name"), "clusterqueue.kueue.x-k8s.io/team-b\n")
        self.assertEqual(self.rows("list", "localqueue"), [["lost", "nowhere", "0", "0"], ["user-queue", "team-a", "0", "0"]])
        self.assertEqual(self.rows("list", "localqueue", "-A", "-c", "team-a"), [["default", "user-queue", "team-a", "0", "0"]])
        self.assertEqual(self.hindsight("list", "localqueue", "-n", "kube-system"), "No resources found in kube-system namespace.\n")
        self.assertEqual(self.rows("list", "rf"), [["spot", "pool=spot"]])
        self.assertEqual([o["kind"] for o in json.loads(self.hindsight("list", "rf", "-o", "json"))["items"]], ["ResourceFlavor"])

    def test_3_workloads(self):
        self.kubectl("create", "-f", "-", input=json.dumps({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "namespace": "default"},
            "spec": {"suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}))
        owner = json.loads(self.kubectl("get", "job", "train", "-o", "json"))
        reference = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": owner["metadata"]["uid"], "controller": True}
        self.kubectl("create", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": [
            workload("bare", "user-queue"), workload("job-train", "user-queue", reference), workload("astray", "lost")]}))
        heading = self.hindsight("list", "workload").splitlines()[0].split("   ")
        self.assertEqual([h.strip() for h in heading if h.strip()],
                         ["NAME", "JOB TYPE", "JOB NAME", "LOCALQUEUE", "CLUSTERQUEUE", "STATUS", "POSITION IN QUEUE", "EXEC TIME", "AGE"])
        self.assertEqual(self.rows("list", "workload"), [["astray", "lost", "nowhere", "PENDING"], ["bare", "user-queue", "team-a", "PENDING"],
                                                         ["job-train", "job.batch", "train", "user-queue", "team-a", "PENDING"]])
        names = lambda *words: self.hindsight("list", "workload", "-o", "name", *words).split()  # noqa: E731
        prefix = "workload.kueue.x-k8s.io/"
        self.assertEqual(names("-q", "lost"), [prefix + "astray"])
        self.assertEqual(names("-c", "team-a"), [prefix + "bare", prefix + "job-train"])
        self.assertEqual(names("--for", "job.batch/train"), [prefix + "job-train"])
        self.assertEqual(names("--status", "admitted", "--status", "finished"), [])
        self.assertEqual(len(names("--status", "pending", "-A")), 3)
        self.assertEqual(self.hindsight("list", "pods", "--for", "job/train"), "No resources found in default namespace.\n")

        self.assertEqual(self.hindsight("stop", "workload", "bare", "--dry-run", "server"), "workload.kueue.x-k8s.io/bare stopped (server dry run)\n")
        self.assertEqual(self.hindsight("stop", "workload", "bare", "--dry-run", "client", "-o", "name"), "workload.kueue.x-k8s.io/bare\n")
        self.assertTrue(self.get("workloads", "bare")["spec"]["active"])
        self.assertEqual(self.hindsight("stop", "workload", "bare"), "workload.kueue.x-k8s.io/bare stopped\n")
        self.assertFalse(self.get("workloads", "bare")["spec"]["active"])
        self.assertEqual(self.hindsight("resume", "workload", "bare"), "workload.kueue.x-k8s.io/bare resumed\n")
        self.assertTrue(self.get("workloads", "bare")["spec"]["active"])
        self.assertIn("the API server says NotFound", self.hindsight("stop", "workload", "nobody", check=False))

        question = ("This operation will also delete:\n  - jobs.batch/train associated with the default/job-train workload\nDo you want to proceed (y/n)? ")
        self.assertEqual(self.hindsight("delete", "workload", "job-train", input="n\n"), question + "Deletion is canceled\n")
        self.assertEqual(self.hindsight("delete", "workload", "job-train", "--dry-run", "client"), "jobs.batch/train deleted (client dry run)\n")
        self.kubectl("get", "job", "train")
        self.assertEqual(self.hindsight("delete", "workload", "job-train", input="y\n"), question + "jobs.batch/train deleted\n")
        self.assertIn("NotFound", self.kubectl("get", "job", "train", check=False))
        self.assertEqual(self.hindsight("delete", "workload", "bare"), "workload.kueue.x-k8s.io/bare deleted\n")
        said = self.hindsight("delete", "workload", "--all", "-y")
        self.assertIn("workload.kueue.x-k8s.io/astray deleted\n", said)

    def test_4_queues_are_stopped_and_resumed(self):
        def policy(kind, name):
            return self.get(kind, name)["spec"].get("stopPolicy")
        for kind, name in (("clusterqueue", "team-a"), ("localqueue", "user-queue")):
            self.assertEqual(self.hindsight("stop", kind, name), f"{kind}.kueue.x-k8s.io/{name} stopped\n")
            self.assertEqual(policy(kind + "s", name), "HoldAndDrain")
            self.hindsight("stop", kind, name, "--keep-already-running")
            self.assertEqual(policy(kind + "s", name), "Hold")
            self.assertEqual(self.hindsight("resume", kind, name), f"{kind}.kueue.x-k8s.io/{name} resumed\n")
            self.assertEqual(policy(kind + "s", name), "None")

    def test_5_kubectl_does_the_rest(self):
        self.assertIn("team-a", self.hindsight("get", "cq", "--kubeconfig", self.kubeconfig))
        self.assertIn("Queueing Strategy:", self.hindsight("describe", "cq", "team-a", "--kubeconfig", self.kubeconfig))
        self.hindsight("patch", "clusterqueue", "team-b", "--type=merge", "-p", '{"spec":{"cohortName":"other"}}')
        self.assertEqual(self.get("clusterqueues", "team-b")["spec"]["cohortName"], "other")
        editor = {**self.environment, "KUBE_EDITOR": "sed -i s/other/all/"}
        run(ARGS.hindsight, "edit", "cq", "team-b", env=editor)
        self.assertEqual(self.get("clusterqueues", "team-b")["spec"]["cohortName"], "all")
        self.assertIn("deleted", self.hindsight("delete", "clusterqueue", "team-b", "--wait=false"))

    def test_6_as_a_plugin(self):
        for plugin in ("kueue", "hindsight"):
            said = run("kubectl", plugin, "list", "localqueue", env=self.environment)
            self.assertIn("user-queue", said)
            self.assertIn(f"kubectl {plugin} create localqueue", run("kubectl", plugin, "create", "localqueue", "--help", env=self.environment))
        self.assertIn("user-queue", run("kubectl", "kueue", "get", "lq", env=self.environment))

    def test_7_what_cannot_be_done_is_told(self):
        said = self.hindsight("list", "workload", "--kubeconfig", os.path.join(self.folder, "none"), check=False)
        self.assertTrue(said.startswith("hindsight: error: "), said)
        wrong = os.path.join(self.folder, "wrong")
        with open(wrong, "w", encoding="utf-8") as out:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
                       "users": [{"name": "u", "user": {"token": "t"}}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}, out)
        self.assertIn("cannot reach the API server http://127.0.0.1:1", self.hindsight("list", "workload", "--kubeconfig", wrong, check=False))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
