#!/usr/bin/env python3
"""The visibility API behind a real API server: `hindsight run --visibility` beside it, asked for through kubectl and the aggregation layer.

usage: visibility_test.py HINDSIGHT

What deploy/crds, deploy/rbac.yaml and deploy/visibility.yaml say is applied, but that the Service leads to a process outside of the cluster.
Hindsight runs as its service account, with the rights that those files give, makes its certificate, registers itself, and answers nobody but the
API server.
BA-192
"""
import argparse, glob, json, os, shutil, ssl, sys, tempfile, unittest, urllib.error, urllib.request

from steps import ROOT, WAIT_SECONDS_MAX, Program, eventually, free_port, run

ARGS = None

GROUP = "/apis/visibility.kueue.x-k8s.io"
CONFIGURATION = """apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: hindsight-system
"""


def kueue(kind, name, spec, namespace=None):
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": metadata, "spec": spec}


def job(name, queue, namespace="default"):
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": namespace, "labels": {"kueue.x-k8s.io/queue-name": queue}},
            "spec": {"suspend": True, "parallelism": 3, "completions": 3,
                     "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}}}


class VisibilityTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.dev = os.path.join(ROOT, "dev")
        cls.cluster = os.path.join(cls.folder, "cluster")
        run(cls.dev, "cluster", "up", "--dir", cls.cluster, "--no-kwok", "--no-controller-manager", "--no-scheduler")
        cls.addClassCleanup(run, cls.dev, "cluster", "down", "--dir", cls.cluster)
        cls.kubectl("apply", *[w for f in sorted(glob.glob(os.path.join(ROOT, "deploy", "crds", "*.yaml"))) for w in ("-f", f)],
                    "-f", os.path.join(ROOT, "deploy", "rbac.yaml"))
        cls.port = free_port()
        cls.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": cls.manifests()}))
        cls.start()

    @classmethod
    def manifests(cls):
        """deploy/visibility.yaml, reached at 127.0.0.1, and rights on JobSets, which are looked for where nobody knows them as well."""
        said = cls.kubectl("create", "--dry-run=client", "-o", "json", "-f", os.path.join(ROOT, "deploy", "visibility.yaml"))
        objects, at, decoder = [], 0, json.JSONDecoder()
        while at < len(said.rstrip()):
            one, at = decoder.raw_decode(said, at)
            objects += one["items"] if one["kind"] == "List" else [one]
            while at < len(said) and said[at].isspace():
                at += 1
        for one in objects:
            if one["kind"] == "Service":
                one["spec"] = {"type": "ExternalName", "externalName": "localhost"}
            elif one["kind"] == "APIService":
                one["spec"]["service"]["port"] = cls.port
        return objects

    @classmethod
    def service_account(cls):
        """A kubeconfig that acts as the service account of deploy/rbac.yaml."""
        with open(os.path.join(cls.cluster, "kubeconfig"), encoding="utf-8") as text:
            config = json.load(text)
        for user in config["users"]:
            user["user"]["as"] = "system:serviceaccount:hindsight-system:hindsight"
        path = os.path.join(cls.folder, "kubeconfig")
        with open(path, "w", encoding="utf-8") as out:
            json.dump(config, out)
        return path

    @classmethod
    def start(cls):
        configuration = os.path.join(cls.folder, "config.yaml")
        with open(configuration, "w", encoding="utf-8") as out:
            out.write(CONFIGURATION)
        cls.program = Program("hindsight", os.path.join(cls.folder, "hindsight.out"), ARGS.hindsight, "run", "--kubeconfig", cls.service_account(),
                              "--log", "sqlite:" + os.path.join(cls.folder, "log.db"), "--no-lease", "--config", configuration,
                              "--visibility", "--visibility-address", f"127.0.0.1:{cls.port}")
        cls.addClassCleanup(cls.program.kill)
        cls.program.start()

    @classmethod
    def kubectl(cls, *words, **more):
        return run(cls.dev, "cluster", "kubectl", "--dir", cls.cluster, "--", *words, **more)

    def raw(self, path, *words, version="v1beta2"):
        return json.loads(self.kubectl("get", "--raw", f"{GROUP}/{version}/{path}", *words))

    def test_1_it_registers_itself(self):
        eventually(lambda: self.program.heard("the visibility API is registered"))
        for version in ("v1beta2", "v1beta1"):
            self.kubectl("wait", "--for=condition=Available", f"apiservice/{version}.visibility.kueue.x-k8s.io", f"--timeout={WAIT_SECONDS_MAX}s")
        self.assertIn("visibility.kueue.x-k8s.io/v1beta2", self.kubectl("api-versions"))
        said = self.kubectl("auth", "can-i", "get", "clusterqueues.visibility.kueue.x-k8s.io", "--subresource=pendingworkloads")
        self.assertEqual(said.split()[-1], "yes")  # behind a warning that the kind has no namespace

        def discovered():  # the API server gathers these documents now and then
            every = json.loads(self.kubectl("get", "--raw", "/apis"))
            self.assertIn("visibility.kueue.x-k8s.io", [g["name"] for g in every["groups"]])
            self.assertIn("/openapi/v3/apis/visibility.kueue.x-k8s.io/v1beta2", self.kubectl("get", "--raw", "/openapi/v3"))
        eventually(discovered)
        self.assertNotIn("error", self.kubectl("api-resources", "-o", "name").lower())

    def test_2_pending_workloads(self):  # BA-192: the example of the Kueue documents
        self.kubectl("create", "namespace", "team")
        self.kubectl("create", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": [
            kueue("ResourceFlavor", "default-flavor", {}),
            kueue("ClusterQueue", "cluster-queue", {"namespaceSelector": {}, "resourceGroups": [
                {"coveredResources": ["cpu"], "flavors": [{"name": "default-flavor", "resources": [{"name": "cpu", "nominalQuota": "9"}]}]}]}),
            kueue("LocalQueue", "user-queue", {"clusterQueue": "cluster-queue"}, "default"),
            kueue("LocalQueue", "user-queue", {"clusterQueue": "cluster-queue"}, "team")]}))
        for i in range(6):
            self.kubectl("create", "-f", "-", input=json.dumps(job(f"sample-job-{i}", "user-queue")))

        def three_wait():
            self.assertEqual(len(self.raw("clusterqueues/cluster-queue/pendingworkloads")["items"]), 3)
        eventually(three_wait)
        summary = self.raw("clusterqueues/cluster-queue/pendingworkloads")
        self.assertEqual((summary["kind"], summary["apiVersion"]), ("PendingWorkloadsSummary", "visibility.kueue.x-k8s.io/v1beta2"))
        pending = {w["metadata"]["name"]: w for w in json.loads(self.kubectl("get", "workloads.kueue.x-k8s.io", "-o", "json"))["items"]
                   if not any(c["type"] == "QuotaReserved" and c["status"] == "True" for c in w.get("status", {}).get("conditions", []))}
        for i, item in enumerate(summary["items"]):
            workload = pending[item["metadata"]["name"]]
            owner = workload["metadata"]["ownerReferences"][0]
            self.assertEqual(item, {
                "metadata": {"name": workload["metadata"]["name"], "namespace": "default", "creationTimestamp": workload["metadata"]["creationTimestamp"],
                             "ownerReferences": [{k: owner[k] for k in ("apiVersion", "kind", "name", "uid")}]},
                "priority": 0, "localQueueName": "user-queue", "positionInClusterQueue": i, "positionInLocalQueue": i})
        self.assertEqual(self.raw("namespaces/default/localqueues/user-queue/pendingworkloads")["items"], summary["items"])
        self.assertEqual(self.raw("namespaces/team/localqueues/user-queue/pendingworkloads")["items"], [])
        self.assertEqual(self.raw("clusterqueues/cluster-queue/pendingworkloads?limit=1&offset=1")["items"], summary["items"][1:2])
        self.assertEqual(self.raw("clusterqueues/cluster-queue/pendingworkloads", version="v1beta1")["items"], summary["items"])
        said = self.kubectl("get", "--raw", f"{GROUP}/v1beta2/clusterqueues/nowhere/pendingworkloads", check=False)
        self.assertIn('clusterqueue.visibility.kueue.x-k8s.io "nowhere" not found', said)

    def test_3_rights_decide_who_may_look(self):
        def as_user(path, user):
            return self.kubectl("get", "--raw", f"{GROUP}/v1beta2/{path}", "--as", user, check=False)
        self.kubectl("create", "rolebinding", "viewer", "--clusterrole=hindsight-localqueue-pending-workloads-viewer", "--user=anna", "-n", "default")
        self.kubectl("create", "clusterrolebinding", "watcher", "--clusterrole=hindsight-clusterqueue-pending-workloads-viewer", "--user=bert")
        eventually(lambda: self.assertIn('"items"', as_user("namespaces/default/localqueues/user-queue/pendingworkloads", "anna")))
        eventually(lambda: self.assertIn('"items"', as_user("clusterqueues/cluster-queue/pendingworkloads", "bert")))
        self.assertIn("Forbidden", as_user("clusterqueues/cluster-queue/pendingworkloads", "anna"))
        self.assertIn("Forbidden", as_user("namespaces/team/localqueues/user-queue/pendingworkloads", "anna"))
        self.assertIn("Forbidden", as_user("namespaces/default/localqueues/user-queue/pendingworkloads", "bert"))

    def test_4_nobody_else_is_answered(self):
        path = f"https://127.0.0.1:{self.port}{GROUP}/v1beta2/clusterqueues/cluster-queue/pendingworkloads"

        def ask(certificate=None, **headers):
            context = ssl._create_unverified_context()
            if certificate:
                context.load_cert_chain(os.path.join(self.cluster, "pki", certificate + ".crt"), os.path.join(self.cluster, "pki", certificate + ".key"))
            try:
                with urllib.request.urlopen(urllib.request.Request(path, headers=headers), timeout=60, context=context) as answer:
                    return answer.status
            except urllib.error.HTTPError as refused:
                self.assertEqual(json.load(refused)["kind"], "Status")
                return refused.code
            except OSError:
                return "no connection"
        self.assertEqual(ask(**{"X-Remote-User": "system:admin", "X-Remote-Group": "system:masters"}), 401)
        self.assertEqual(ask("proxy-client"), 401)  # names no user
        self.assertEqual(ask("apiserver", **{"X-Remote-User": "system:admin"}), "no connection")  # signed by another authority
        self.assertEqual(ask("proxy-client", **{"X-Remote-User": "system:admin"}), 200)

    def test_5_it_ends_when_told_to(self):
        self.assertEqual(self.program.stop(), 0, self.program.said()[-3000:])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
