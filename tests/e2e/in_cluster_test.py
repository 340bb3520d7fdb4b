#!/usr/bin/env python3
"""Hindsight as deploy/ runs it in a cluster: its webhooks and its visibility API are reached through their Services.

usage: in_cluster_test.py HINDSIGHT [--without RIGHT]

Everything in deploy/ is applied as it is, and the Deployment gets its options as deploy/README.md says. No kubelet runs here, so the test
starts what the Deployment describes: its arguments, the configuration of its ConfigMap, the rights of its service account. In place of the
endpoints that a pod's address would give, EndpointSlices lead to 127.0.0.1. So the API server finds Hindsight by the name of the Service alone,
and trusts the certificate only because it is made out to that name and its authority was filled in.

It logs in with a token of the service account and does everything that it has rights for. Then the audit log of the API server shows that it
was refused nothing and has no right that it did not use. So without any of them this test fails: --without 'patch pods' (or any other, as the
test prints them) shows that.
BA-1, BA-4, BA-23, BA-24, BA-26, BA-148, BA-192
"""
import argparse, base64, glob, json, os, shutil, socket, ssl, sys, tempfile, unittest, urllib.error, urllib.request

import yaml

import rights
from steps import ROOT, WAIT_SECONDS_MAX, Program, eventually, free_port, run
from visibility_test import job, kueue

ARGS = None
NAMESPACE = "hindsight-system"
# Service, its port's name, and the option of `hindsight run` that takes the place of the pod's address.
# An older server, for which stopping a Job takes more rights, and one that asks for rights on owners.
SERVER = ("--endpoint-routing", "--audit", "--emulated-version", "1.34", "--admission-plugins", "OwnerReferencesPermissionEnforcement")
# Kinds of other projects whose jobs are looked after; of their definitions only what the rights are about.
GUESTS = (("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"), ("ray.io", "v1", "RayCluster", "rayclusters"), ("ray.io", "v1", "RayJob", "rayjobs"))
SERVED = (("hindsight-webhook-service", "webhooks", "--webhook-address"), ("hindsight-visibility-server", "visibility", "--visibility-address"))


class InClusterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.dev = os.path.join(ROOT, "dev")
        cls.cluster = os.path.join(cls.folder, "cluster")
        run(cls.dev, "cluster", "up", "--dir", cls.cluster, "--no-kwok", "--no-scheduler", *SERVER)
        cls.addClassCleanup(run, cls.dev, "cluster", "down", "--dir", cls.cluster)
        deploy = os.path.join(ROOT, "deploy")
        cls.kubectl("apply", *[w for f in sorted(glob.glob(os.path.join(deploy, "crds", "*.yaml"))) for w in ("-f", f)])
        cls.objects = list(rights.objects_of(os.path.join(deploy, f + ".yaml") for f in ("rbac", "metrics", "network-policy", "hindsight", "webhooks", "visibility")))
        if ARGS.without:
            cls.objects = rights.without(cls.objects, ARGS.without)
        cls.apply(*cls.objects, *[cls.definition(*guest) for guest in GUESTS])
        for option in ("--webhooks", "--visibility"):
            cls.kubectl("-n", NAMESPACE, "patch", "deployment", "hindsight", "--type=json",
                        "-p", json.dumps([{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": option}]))
        cls.ports = {service: free_port() for service, _, _ in SERVED}
        cls.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": [
            cls.slice(service, name, cls.ports[service]) for service, name, _ in SERVED]}))
        cls.start()
        try:
            eventually(lambda: cls.program.heard("webhooks are registered"))
            eventually(lambda: cls.program.heard("the visibility API is registered"))
        except BaseException:
            print("---- what hindsight said\n" + cls.program.said()[-6000:], flush=True)
            raise

    @staticmethod
    def slice(service, name, port):
        """What a pod behind the Service would give. An address on the loopback is no legal one, unless it is called a name."""
        return {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "FQDN",
                "metadata": {"name": service, "namespace": NAMESPACE, "labels": {"kubernetes.io/service-name": service}},
                "endpoints": [{"addresses": ["127.0.0.1"], "conditions": {"ready": True}}], "ports": [{"name": name, "port": port, "protocol": "TCP"}]}

    @classmethod
    def start(cls):
        """The container of the Deployment, but for its paths and addresses."""
        configuration = os.path.join(cls.folder, "config.yaml")
        settings = yaml.safe_load(cls.get("configmap", "hindsight-config", "-n", NAMESPACE)["data"]["config.yaml"])
        settings["integrations"]["frameworks"] += ["ray.io/raycluster", "ray.io/rayjob"]
        settings["objectRetentionPolicies"] = {"workloads": {"afterFinished": "1s", "afterDeactivatedByKueue": "1s"}}
        settings["featureGates"] = {"ConcurrentAdmission": True}
        with open(configuration, "w", encoding="utf-8") as out:
            yaml.safe_dump(settings, out)
        here = {"--config": configuration, "--log": "sqlite:" + os.path.join(cls.folder, "log.db"), "--http": f"127.0.0.1:{free_port()}"}
        cls.probe_port, cls.metrics_port = free_port(), free_port()
        here["--probe-address"] = f"127.0.0.1:{cls.probe_port}"
        words = []
        for word in cls.get("deployment", "hindsight", "-n", NAMESPACE)["spec"]["template"]["spec"]["containers"][0]["args"]:
            option = word.split("=")[0]
            words.append(f"{option}={here.pop(option)}" if option in here else word)
        assert not here, f"options of the container: {words}"
        for service, _, option in SERVED:
            words += [option, f"127.0.0.1:{cls.ports[service]}"]
        words += ["--metrics-address", f"127.0.0.1:{cls.metrics_port}"]
        cls.words = [*words, "--kubeconfig", cls.account()]
        cls.program = Program("hindsight", os.path.join(cls.folder, "hindsight.out"), ARGS.hindsight, *cls.words)
        cls.addClassCleanup(cls.program.kill)
        cls.program.start()

    @classmethod
    def account(cls):
        """A kubeconfig with what a pod would find: files with a token of the service account and with whom to trust."""
        shutil.copyfile(os.path.join(cls.cluster, "pki", "ca.crt"), os.path.join(cls.folder, "ca.crt"))
        with open(os.path.join(cls.folder, "token"), "w", encoding="utf-8") as out:
            out.write(cls.kubectl("create", "token", "hindsight", "-n", NAMESPACE, "--duration", "2h"))
        with open(os.path.join(cls.cluster, "kubeconfig"), encoding="utf-8") as text:
            kubeconfig = json.load(text)
        kubeconfig["clusters"][0]["cluster"] = {"server": kubeconfig["clusters"][0]["cluster"]["server"], "certificate-authority": "ca.crt"}
        kubeconfig["users"][0]["user"] = {"tokenFile": "token"}
        path = os.path.join(cls.folder, "kubeconfig")
        with open(path, "w", encoding="utf-8") as out:
            json.dump(kubeconfig, out)
        return path

    @staticmethod
    def definition(group, version, kind, plural):
        anything = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"},
                "spec": {"group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
                         "versions": [{"name": version, "served": True, "storage": True, "subresources": {"status": {}}, "schema": anything}]}}

    @classmethod
    def kubectl(cls, *words, **more):
        return run(cls.dev, "cluster", "kubectl", "--dir", cls.cluster, "--", *words, **more)

    @classmethod
    def get(cls, *words):
        said = cls.kubectl("get", *words, "-o", "json")
        return json.loads(said[said.index("{"):])  # after the warning that v1beta1 is deprecated

    def run(self, result=None):
        before = len(result.failures) + len(result.errors) if result else 0
        super().run(result)
        if result and len(result.failures) + len(result.errors) > before:
            sys.stderr.write("---- what hindsight said\n" + self.program.said()[-6000:])

    @classmethod
    def apply(cls, *objects):
        cls.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def create(self, *objects):
        self.kubectl("create", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def gone(self, *words):
        self.assertEqual(self.kubectl("get", *words, "--ignore-not-found", "-o", "name").strip(), "")

    def test_1_everybody_is_told_of_the_service_and_whom_to_trust(self):
        authority = base64.b64encode(base64.b64decode(self.get("secret", "hindsight-webhook-server-cert", "-n", NAMESPACE)["data"]["ca.crt"])).decode()
        service = {"name": "hindsight-webhook-service", "namespace": NAMESPACE, "port": 443}
        told = []
        for kind in ("mutating", "validating"):
            hooks = self.get(f"{kind}webhookconfiguration", f"hindsight-{kind}-webhook-configuration")["webhooks"]
            told += [hook["clientConfig"] for hook in hooks]
        told += [crd["spec"]["conversion"]["webhook"]["clientConfig"] for crd in self.get("crd")["items"] if crd["spec"]["group"] == "kueue.x-k8s.io"]
        for client in told:
            self.assertEqual({k: v for k, v in client["service"].items() if k != "path"}, service)
            self.assertEqual(client["caBundle"], authority)
            self.assertNotIn("url", client)
        self.assertGreater(len(told), 11)

    def test_2_the_certificate_is_made_out_to_the_service(self):
        """As any client would see it that goes by the Service's name."""
        secret = self.get("secret", "hindsight-webhook-server-cert", "-n", NAMESPACE)["data"]
        authority = base64.b64decode(secret["ca.crt"]).decode()
        context = ssl.create_default_context(cadata=authority)
        for name in (f"hindsight-webhook-service.{NAMESPACE}.svc", f"hindsight-webhook-service.{NAMESPACE}.svc.cluster.local"):
            with socket.create_connection(("127.0.0.1", self.ports["hindsight-webhook-service"]), timeout=WAIT_SECONDS_MAX) as plain:
                with context.wrap_socket(plain, server_hostname=name) as connection:
                    self.assertIn(("DNS", name), connection.getpeercert()["subjectAltName"])
        with socket.create_connection(("127.0.0.1", self.ports["hindsight-webhook-service"]), timeout=WAIT_SECONDS_MAX) as plain:
            with self.assertRaises(ssl.SSLCertVerificationError):
                context.wrap_socket(plain, server_hostname="somebody-else.svc")

    def test_3_webhooks_answer_through_the_service(self):  # BA-4, BA-23, BA-26
        # The API server hears of the configurations a moment later.
        eventually(lambda: self.assertIn("resource-in-use", self.kubectl("create", "-f", "-", "-o", "json", "--dry-run=server", input=json.dumps(kueue("ResourceFlavor", "probe", {})))))
        said = self.kubectl("create", "-f", "-", check=False, input=json.dumps(kueue("ResourceFlavor", "bad", {"nodeLabels": {"a b": "c"}})))
        self.assertIn('admission webhook "vresourceflavor.kb.io" denied the request: spec.nodeLabels', said)
        quota = [{"coveredResources": ["cpu"], "flavors": [{"name": "any", "resources": [{"name": "cpu", "nominalQuota": "3"}]}]}]
        self.create(kueue("ResourceFlavor", "any", {}), kueue("ClusterQueue", "cq", {"namespaceSelector": {}, "cohortName": "c", "resourceGroups": quota}),
                    kueue("LocalQueue", "lq", {"clusterQueue": "cq"}, "default"))

    def test_4_both_versions_are_converted_through_the_service(self):  # BA-1
        older = eventually(lambda: self.get("clusterqueues.v1beta1.kueue.x-k8s.io", "cq"))
        self.assertEqual((older["apiVersion"], older["spec"]["cohort"]), ("kueue.x-k8s.io/v1beta1", "c"))

    def test_5_jobs_are_held_back_admitted_and_shown(self):  # BA-24, BA-192
        def unsuspended(name):
            return {**job(name, "lq"), "spec": {**job(name, "lq")["spec"], "suspend": False}}
        def suspended():
            return {j["metadata"]["name"]: j["spec"]["suspend"] for j in self.get("jobs", "-n", "default")["items"]}

        def one_runs():
            self.assertEqual(suspended(), {"first": False, "second": True})
            pending = json.loads(self.kubectl("get", "--raw", "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/cq/pendingworkloads"))["items"]
            self.assertEqual([w["metadata"]["ownerReferences"][0]["name"] for w in pending], ["second"])
        self.create(unsuspended("first"))
        eventually(lambda: self.assertEqual(suspended(), {"first": False}))
        self.create(unsuspended("second"))  # not before: of two of the same second either may go first
        eventually(one_runs)

    # ---- all that it has rights for. What needs a minute begins first and is looked at last.

    @staticmethod
    def labelled(name, queue, pods=1, **more):
        """A Job of its own shape: kept for a second after it has finished, or was deactivated."""
        out = job(name, queue)
        out["metadata"]["labels"].update(more.pop("labels", {}))
        out["metadata"]["annotations"] = more.pop("annotations", {})
        out["spec"].update(parallelism=pods, completions=pods, **more)
        return out

    def test_6_jobs_of_all_kinds_come_and_go(self):  # BA-148
        quota = [{"coveredResources": ["cpu"], "flavors": [{"name": "labelled", "resources": [{"name": "cpu", "nominalQuota": "50"}]}]}]
        # The flavor's label goes into pod templates, and out of them again when a job is stopped.
        self.create(kueue("ResourceFlavor", "labelled", {"nodeLabels": {"pool": "a"}}), kueue("ClusterQueue", "wide", {"namespaceSelector": {}, "resourceGroups": quota}),
                    kueue("LocalQueue", "wide", {"clusterQueue": "wide"}, "default"))
        self.create(self.labelled("again", "wide"))
        self.restart_often("again")
        template = {"spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}
        ray = {"headGroupSpec": {"rayStartParams": {}, "template": template}, "workerGroupSpecs": []}
        once = {"kueue.x-k8s.io/max-exec-time-seconds": "1"}  # then they are deactivated, and a second later they go
        specs = {"JobSet": {"suspend": True, "replicatedJobs": [{"name": "r", "replicas": 1, "template": {"spec": {"template": template}}}]},
                 "RayCluster": {"suspend": True, **ray}, "RayJob": {"suspend": True, "submissionMode": "HTTPMode", "shutdownAfterJobFinishes": True, "entrypoint": "x", "rayClusterSpec": ray}}
        for group, version, kind, _ in GUESTS:
            self.create({"apiVersion": f"{group}/{version}", "kind": kind, "spec": specs[kind],
                         "metadata": {"name": "short", "namespace": "default", "labels": {"kueue.x-k8s.io/queue-name": "wide", **once}}})
        self.create(self.labelled("short", "wide", labels=once), self.labelled("brief", "wide"),
                    self.labelled("elastic", "wide", pods=2, annotations={"kueue.x-k8s.io/elastic-job": "true"}))

        def pods(name):
            return self.get("pods", "-n", "default", "-l", f"batch.kubernetes.io/job-name={name}")["items"]

        def released():
            found = pods("elastic")
            self.assertEqual([len(p["spec"].get("schedulingGates", [])) for p in found], [0, 0])
        eventually(released)

        def done():
            for pod in pods("brief"):
                self.kubectl("patch", "pod", pod["metadata"]["name"], "-n", "default", "--subresource=status", "--type=merge", "-p", '{"status":{"phase":"Succeeded"}}')
            self.assertIn("Complete", [c["type"] for c in self.get("job", "brief", "-n", "default").get("status", {}).get("conditions", [])])
        eventually(done)
        eventually(lambda: self.assertNotIn("job-brief-", self.kubectl("get", "workloads.kueue.x-k8s.io", "-n", "default", "-o", "name")))
        eventually(lambda: self.gone("jobs,jobsets,rayclusters,rayjobs", "short", "-n", "default"))

    def test_6_pods_for_a_node_that_has_gone_fail(self):  # TAS-98, TAS-103
        """Nobody binds pods here: so one waits for the host that it was told, and the node goes."""
        host = "kubernetes.io/hostname"
        for name in ("host-1", "host-2"):
            self.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {host: name, "pool": "hall"}}})
            self.kubectl("patch", "node", name, "--subresource=status", "--type=merge", "-p", json.dumps(
                {"status": {"allocatable": {"cpu": "8", "pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}}))
        quota = [{"coveredResources": ["cpu"], "flavors": [{"name": "hall", "resources": [{"name": "cpu", "nominalQuota": "50"}]}]}]
        self.create(kueue("Topology", "hosts", {"levels": [{"nodeLabel": host}]}), kueue("ResourceFlavor", "hall", {"nodeLabels": {"pool": "hall"}, "topologyName": "hosts"}),
                    kueue("ClusterQueue", "hall", {"namespaceSelector": {}, "resourceGroups": quota}), kueue("LocalQueue", "hall", {"clusterQueue": "hall"}, "default"))
        placed = self.labelled("placed", "hall", backoffLimit=10)
        placed["spec"]["template"]["metadata"] = {"annotations": {"kueue.x-k8s.io/podset-required-topology": host}}
        placed["spec"]["template"]["spec"]["tolerations"] = [{"operator": "Exists"}]  # a new node is tainted until somebody looks after it
        self.create(placed)

        def told(phase, *excluded):
            found = [p for p in self.get("pods", "-n", "default", "-l", "batch.kubernetes.io/job-name=placed")["items"]
                     if p["status"]["phase"] == phase and p["metadata"]["uid"] not in excluded]
            self.assertEqual(len(found), 1)
            self.assertNotIn("schedulingGates", found[0]["spec"])
            return found[0]
        first = eventually(lambda: told("Pending"))
        self.kubectl("delete", "node", first["spec"]["nodeSelector"][host])
        second = eventually(lambda: told("Pending", first["metadata"]["uid"]))
        self.assertNotEqual(second["spec"]["nodeSelector"][host], first["spec"]["nodeSelector"][host])
        failed = [(c["status"], c["reason"], c["message"]) for c in told("Failed")["status"]["conditions"] if c["type"] == "TerminatedByKueue"]
        self.assertEqual(failed, [("True", "UnschedulableOnAssignedNode", "Pod terminated by Kueue NodeController due to node taint")])
        reasons = [e["reason"] for e in self.get("events", "-n", "default", "--field-selector", f"involvedObject.name={first['metadata']['name']}")["items"]]
        self.assertIn("PodTerminatedByKueue", reasons)
        self.kubectl("delete", "job", "placed", "-n", "default")

    def restart_often(self, name):
        """What is said of it twice in a minute becomes a count of the first Event, at the end of that minute."""
        def workload():
            return next(w for w in self.get("workloads.kueue.x-k8s.io", "-n", "default")["items"] if w["metadata"]["ownerReferences"][0]["name"] == name)

        def runs(wanted):
            self.assertEqual(self.get("job", name, "-n", "default")["spec"]["suspend"], not wanted)
        eventually(lambda: runs(True))
        for active in (False, True, False, True):
            self.kubectl("patch", "workloads.kueue.x-k8s.io", workload()["metadata"]["name"], "-n", "default", "--type=merge", "-p", json.dumps({"spec": {"active": active}}))
            eventually(lambda wanted=active: runs(wanted))

    def test_7_what_administrators_delete_is_let_go(self):
        self.create(kueue("AdmissionCheck", "passing", {"controllerName": "example.com/none"}), kueue("ResourceFlavor", "passing", {}),
                    kueue("ClusterQueue", "passing", {"namespaceSelector": {}}), kueue("Topology", "passing", {"levels": [{"nodeLabel": "example.com/passing"}]}))
        for kind in ("admissioncheck", "resourceflavor", "clusterqueue", "topology"):
            eventually(lambda k=kind: self.assertIn("kueue.x-k8s.io/resource-in-use", self.get(k + ".kueue.x-k8s.io", "passing")["metadata"].get("finalizers", [])))
            self.kubectl("delete", kind + ".kueue.x-k8s.io", "passing", "--timeout", f"{WAIT_SECONDS_MAX}s")

    def test_8_a_copy_that_stands_by_answers_webhooks_and_makes_certificates(self):
        # Nothing is left of the certificates but their Secrets.
        for secret in ("hindsight-webhook-server-cert", "hindsight-visibility-server-cert"):
            self.kubectl("patch", "secret", secret, "-n", NAMESPACE, "--type=merge", "-p", json.dumps({"data": dict.fromkeys(self.get("secret", secret, "-n", NAMESPACE)["data"], "")}))
        port = free_port()
        words = list(self.words)
        for i, word in enumerate(self.words):
            if word.startswith("--log="):
                words[i] = f"--log=sqlite:{self.folder}/standby.db"
            elif word.startswith(("--http=", "--probe-address=")):
                words[i] = word.split("=")[0] + f"=127.0.0.1:{free_port()}"
            elif word in ("--webhook-address", "--visibility-address", "--metrics-address"):
                words[i + 1] = f"127.0.0.1:{port if word == '--webhook-address' else free_port()}"
        standby = Program("standby", os.path.join(self.folder, "standby.out"), ARGS.hindsight, *words)
        self.addCleanup(standby.kill)
        standby.start()
        eventually(lambda: standby.heard("webhooks are registered"))
        eventually(lambda: standby.heard("the visibility API is registered"))
        self.assertNotIn("the lease is ours", standby.said())
        trust = ssl.create_default_context()
        trust.check_hostname = False
        trust.verify_mode = ssl.CERT_NONE
        owners = [None] + [{"apiVersion": f"{group}/{version}", "kind": kind, "name": "nobody", "uid": "u", "controller": True}
                           for group, version, kind, _ in (("batch", "v1", "Job", "jobs"), ("v1", "", "Node", "nodes"), *GUESTS)]
        for owner, queue in [(None, None)] + [(owner, "wide") for owner in owners]:  # one without a queue gets that of its namespace, if there is one
            asked = self.labelled("asked", "wide", annotations={"kueue.x-k8s.io/elastic-job": "true"})
            if not queue:
                del asked["metadata"]["labels"]["kueue.x-k8s.io/queue-name"]
            if owner:
                asked["metadata"]["ownerReferences"] = [owner]
            for path in ("/mutate-batch-v1-job", "/validate-batch-v1-job"):
                review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
                    "uid": "1", "kind": {"group": "batch", "version": "v1", "kind": "Job"}, "resource": {"group": "batch", "version": "v1", "resource": "jobs"},
                    "operation": "CREATE", "namespace": "default", "name": "asked", "object": asked, "oldObject": None,
                    # What another account makes is no part of anything, and its owner need not be looked at.
                    "userInfo": {"username": "system:serviceaccount:jobset-system:jobset-controller-manager"}}}
                request = urllib.request.Request(f"https://127.0.0.1:{port}{path}", json.dumps(review).encode(), {"Content-Type": "application/json"})

                def allowed(request=request, owner=owner):  # a stranger may make us ask only so often: 429
                    try:
                        with urllib.request.urlopen(request, timeout=WAIT_SECONDS_MAX, context=trust) as answer:
                            said = json.load(answer)["response"]
                    except urllib.error.HTTPError as refused:
                        self.assertEqual(refused.code, 429)
                        raise AssertionError("refused for now") from refused
                    self.assertTrue(said["allowed"], f"{owner}: {said}")
                eventually(allowed)
        self.assertEqual(standby.stop(), 0, standby.said()[-3000:])

    def test_9_owners_can_be_held_up_only_with_a_right_to_their_finalizers(self):
        """The admission plugin asks for these without a request of ours: so another account, which lacks one of them, shows what would happen."""
        for right in rights.granted(self.objects):
            if not right.resource.endswith("/finalizers"):
                continue
            plural = right.resource.split("/")[0]
            kind, version = next((k, f"{g}/{v}") for g, v, k, p in (("batch", "v1", "Job", "jobs"), *GUESTS) if (g, p) == (right.group, plural))
            for lacks in (True, False):
                name = f"probe-{plural}-{'lacks' if lacks else 'has'}"
                mine = [r for r in rights.granted(self.objects) if not r.namespace and (r != right or not lacks)]
                rules = [{"apiGroups": [r.group], "resources": [r.resource], "verbs": [r.verb], **({"resourceNames": [r.name]} if r.name else {})} for r in mine]
                subject = {"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}
                self.apply({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules},
                           {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name}, "subjects": [subject],
                            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}})
                owner = {"apiVersion": version, "kind": kind, "name": "nobody", "uid": "u", "controller": True, "blockOwnerDeletion": True}
                w = kueue("Workload", name, {"queueName": "lq", "podSets": [{"name": "main", "count": 1, "template": {"spec": {
                    "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}]}, "default")
                w["metadata"]["ownerReferences"] = [owner]

                def tried(w=w, name=name, lacks=lacks):
                    said = self.kubectl("create", "--as", name, "--dry-run=server", "-f", "-", input=json.dumps(w), check=False)
                    self.assertIn("cannot set blockOwnerDeletion" if lacks else "created (server dry run)", said)
                eventually(tried)  # A role takes effect a moment after it was made.

    def test_A_equal_events_become_a_count(self):
        def counted():
            ours = [e for e in self.get("events", "-n", "default")["items"] if e.get("source", {}).get("component") == "hindsight"]
            self.assertGreater(max((e.get("count", 1) for e in ours), default=0), 1)
        eventually(counted)

    def test_B_a_kubelet_is_answered(self):
        def good():
            for path in ("healthz", "readyz"):
                with urllib.request.urlopen(f"http://127.0.0.1:{self.probe_port}/{path}", timeout=WAIT_SECONDS_MAX) as answer:
                    self.assertEqual(answer.status, 200)
        eventually(good)

    def test_C_metrics_are_shown_to_who_may_see_them(self):
        """The rights are those of deploy/metrics.yaml: Hindsight's own to ask, and those of who scrapes to get."""
        self.kubectl("create", "namespace", "monitoring")
        self.kubectl("create", "serviceaccount", "prometheus", "-n", "monitoring")
        token = self.kubectl("create", "token", "prometheus", "-n", "monitoring").split()[-1]
        self.assertEqual(self.metrics(None)[0], 401)
        self.assertEqual(self.metrics("no.such.token")[0], 401)
        self.assertEqual(self.metrics(token)[0], 403)
        self.kubectl("create", "clusterrolebinding", "prometheus-sees-hindsight", "--clusterrole=hindsight-metrics-reader", "--serviceaccount=monitoring:prometheus")

        def seen():  # what was refused is asked again after ten seconds
            status, text = self.metrics(token)
            self.assertEqual(status, 200, text)
            self.assertIn("kueue_cluster_queue_status", text)
        eventually(seen)

    def metrics(self, token):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # made by the process for itself
        request = urllib.request.Request(f"https://127.0.0.1:{self.metrics_port}/metrics", headers={"Authorization": f"Bearer {token}"} if token else {})
        try:
            with urllib.request.urlopen(request, timeout=WAIT_SECONDS_MAX, context=context) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def test_D_it_ends_when_told_to(self):
        self.assertEqual(self.program.stop(), 0, self.program.said()[-3000:])

    def test_E_no_right_was_missing_and_none_is_left_over(self):
        given = rights.granted(self.objects)
        asked = list(rights.requests(os.path.join(self.cluster, "logs", "audit.log")))
        self.assertEqual(sorted({str(r) for r, allowed in asked if not allowed}), [])
        made = {r for r, _ in asked}
        used = {right for right in given if any(right.allows(r) for r in made)}
        # Of these test_9 shows what they are for.
        silent = {right for right in given if right.resource.endswith("/finalizers")}
        print(f"{len(given)} rights, {len(asked)} requests:", *sorted(map(str, given)), sep="\n  ", flush=True)
        self.assertEqual(sorted(map(str, set(given) - used - silent)), [])
        self.assertEqual(sorted(map(str, used & silent)), [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    parser.add_argument("--without", metavar="RIGHT", help="take this right away first; then the test must fail")
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
