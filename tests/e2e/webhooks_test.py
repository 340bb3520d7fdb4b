#!/usr/bin/env python3
"""Webhooks on a real API server: `hindsight run --webhooks` beside it, asked for through kubectl.

usage: webhooks_test.py HINDSIGHT

What deploy/crds and deploy/webhooks.yaml say is applied; Hindsight makes its certificates, registers itself, and answers. Then objects are
defaulted and refused as specified, read and written in both versions, and all of it goes on while certificates are renewed.
BA-1, BA-4, BA-8, BA-18, BA-23, BA-24, BA-25, BA-26
"""
import argparse, glob, json, os, shutil, sys, tempfile, time, unittest

from steps import ROOT, WAIT_SECONDS_MAX, Program, eventually, free_port, run

sys.path.insert(0, os.path.join(ROOT, "tests", "deploy"))
import api_server  # noqa: E402

ARGS = None

CERTIFICATE_SECONDS = 15

CONFIGURATION = """apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: hindsight-system
internalCertManagement: {webhookServiceName: hindsight-webhook-service, webhookSecretName: hindsight-webhook-server-cert}
"""


def group(**limits):
    return [{"coveredResources": ["cpu"], "flavors": [{"name": "any", "resources": [{"name": "cpu", "nominalQuota": "1", **limits}]}]}]


def kueue(kind, name, spec=None, version="v1beta2", **more):
    return {"apiVersion": f"kueue.x-k8s.io/{version}", "kind": kind, "metadata": {"name": name}, **({} if spec is None else {"spec": spec}), **more}


def job(name, namespace="default", labels=None, suspend=False):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": namespace, "labels": labels or {}},
            "spec": {"suspend": suspend, "parallelism": 2, "completions": 2,
                     "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}


class WebhooksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.dev = os.path.join(ROOT, "dev")
        cls.cluster = os.path.join(cls.folder, "cluster")
        run(cls.dev, "cluster", "up", "--dir", cls.cluster, "--no-kwok", "--no-controller-manager", "--no-scheduler", timeout=960)
        cls.addClassCleanup(run, cls.dev, "cluster", "down", "--dir", cls.cluster)
        run(cls.dev, "cluster", "kubectl", "--dir", cls.cluster, "--", "apply", *[w for f in sorted(glob.glob(os.path.join(ROOT, "deploy", "crds", "*.yaml"))) for w in ("-f", f)],
            "-f", os.path.join(ROOT, "deploy", "rbac.yaml"), "-f", os.path.join(ROOT, "deploy", "webhooks.yaml"))
        cls.start(CONFIGURATION, "--webhook-cert-lifetime", f"{CERTIFICATE_SECONDS}s")
        try:
            eventually(lambda: cls.program.heard("webhooks are registered"))
            # The API server hears of it a moment later.
            eventually(lambda: cls.expect("resource-in-use", cls.kubectl("create", "-f", "-", "-o", "json", "--dry-run=server", input=json.dumps(kueue("ResourceFlavor", "probe")))))
            eventually(lambda: cls.kubectl("get", "clusterqueues.v1beta1.kueue.x-k8s.io"))
        except BaseException:
            print("---- what hindsight said\n" + cls.program.said()[-6000:], flush=True)
            raise

    @classmethod
    def start(cls, text, *words):
        """`hindsight run --webhooks` with that configuration, at a port of its own."""
        configuration = os.path.join(cls.folder, "config.yaml")
        with open(configuration, "w", encoding="utf-8") as out:
            out.write(text)
        cls.port = free_port()
        cls.program = Program("hindsight", os.path.join(cls.folder, f"hindsight-{cls.port}.out"), ARGS.hindsight, "run", "--kubeconfig", os.path.join(cls.cluster, "kubeconfig"),
                              "--log", "sqlite:" + os.path.join(cls.folder, "log.db"), "--no-lease", "--config", configuration, "--webhooks",
                              "--webhook-address", f"127.0.0.1:{cls.port}", "--webhook-url", f"https://127.0.0.1:{cls.port}", *words)
        cls.addClassCleanup(cls.program.kill)
        cls.program.start()

    @staticmethod
    def expect(part, whole):
        assert part in whole, f"{part!r} in {whole}"

    @classmethod
    def kubectl(cls, *words, **more):
        return run(cls.dev, "cluster", "kubectl", "--dir", cls.cluster, "--", *words, **more)

    def create(self, *objects):
        self.kubectl("create", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def get(self, *words):
        said = self.kubectl("get", *words, "-o", "json")
        return json.loads(said[said.index("{"):])  # after the warning that v1beta1 is deprecated

    def refused(self, webhook, message, *words, **more):
        said = self.kubectl(*words, check=False, **more)
        self.assertIn(f'admission webhook "{webhook}" denied the request: {message}', said)

    # ---- defaults and refusals ----------------------------------------------------------------------------------------

    def test_objects_are_defaulted(self):  # BA-4, BA-23, BA-24
        self.create(kueue("ResourceFlavor", "held", {}), kueue("ClusterQueue", "held", {}), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
        for kind in ("resourceflavors", "clusterqueues"):
            self.assertEqual(self.get(f"{kind}.kueue.x-k8s.io", "held")["metadata"]["finalizers"], ["kueue.x-k8s.io/resource-in-use"])
        self.create(job("free", "team"))
        self.assertFalse(self.get("job", "free", "-n", "team")["spec"]["suspend"])
        self.create({**kueue("LocalQueue", "default", {"clusterQueue": "held"}), "metadata": {"name": "default", "namespace": "team"}},
                    {**kueue("WorkloadPriorityClass", "default"), "value": 7})

        def defaulted():  # once the mirror has seen the queue and the class
            self.kubectl("delete", "job", "mine", "-n", "team", "--ignore-not-found", "--cascade=background")
            self.create(job("mine", "team"))
            found = self.get("job", "mine", "-n", "team")
            self.assertEqual(found["metadata"]["labels"].get("kueue.x-k8s.io/queue-name"), "default")
            self.assertEqual(found["metadata"]["labels"].get("kueue.x-k8s.io/priority-class"), "default")
            self.assertTrue(found["spec"]["suspend"])
        eventually(defaulted)
        self.refused("vjob.kb.io", 'metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: "": queue-name must not be empty in namespace with default queue',
                     "label", "job", "mine", "-n", "team", "kueue.x-k8s.io/queue-name-")
        self.refused("vjob.kb.io", 'metadata.labels[kueue.x-k8s.io/priority-class]: Invalid value: "default": WorkloadPriorityClass cannot be removed from a workload',
                     "label", "job", "mine", "-n", "team", "kueue.x-k8s.io/priority-class-")
        self.kubectl("label", "job", "mine", "-n", "team", "kueue.x-k8s.io/priority-class=other", "--overwrite")
        # kube-system is left alone.
        self.create({**kueue("LocalQueue", "default", {"clusterQueue": "held"}), "metadata": {"name": "default", "namespace": "kube-system"}}, job("its", "kube-system"))
        self.assertFalse(self.get("job", "its", "-n", "kube-system")["spec"]["suspend"])

    def test_objects_are_refused(self):  # BA-8, BA-26
        def create(what):
            return {"input": json.dumps(what)}
        words = ("create", "-f", "-")
        self.refused("vclusterqueue.kb.io", 'spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: Invalid value: "1001m": must be less than or equal to the nominalQuota',
                     *words, **create(kueue("ClusterQueue", "bad", {"cohortName": "c", "resourceGroups": group(lendingLimit="1001m")})))
        self.refused("vresourceflavor.kb.io", 'spec.nodeLabels.matchLabels: Invalid value: {"a b":"c"}', *words, **create(kueue("ResourceFlavor", "bad", {"nodeLabels": {"a b": "c"}})))
        self.refused("vjob.kb.io", 'metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: "0": should be greater than 0',
                     *words, **create(job("bad", labels={"kueue.x-k8s.io/max-exec-time-seconds": "0"})))
        # Beyond a limit of ours (docs/limits.md): what would be set aside cannot be written.
        many = {f"l{i}": "v" for i in range(600)}
        for webhook, bad in (("vjob.kb.io", job("many", labels={**dict(list(many.items())[:598]), "kueue.x-k8s.io/queue-name": "q", "kueue.x-k8s.io/priority-class": "default"})),
                             ("vlocalqueue.kb.io", {**kueue("LocalQueue", "many", {"clusterQueue": "held"}), "metadata": {"name": "many", "namespace": "default", "labels": many}}),
                             ("vcohort.kb.io", {**kueue("Cohort", "many", {}), "metadata": {"name": "many", "labels": many}})):
            self.refused(webhook, "metadata.labels: Forbidden: found 600 elements, allowed: at most 512 elements", *words, **create(bad))
        said = self.kubectl(*words, check=False, **create(job("bad", labels={"kueue.x-k8s.io/max-exec-time-seconds": "0"})))
        self.assertTrue(said.startswith("Error from server (Forbidden)"), said)
        self.create(job("runs", labels={"note": "x"}))
        self.refused("vjob.kb.io", 'metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: "q": field is immutable', "label", "job", "runs", "kueue.x-k8s.io/queue-name=q")

    def test_workloads_are_judged_with_their_status(self):  # BA-18
        self.create({**kueue("Workload", "judged", {"queueName": "nowhere", "podSets": [{"name": "main", "count": 3, "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}]}),
                     "metadata": {"name": "judged", "namespace": "default"}})

        def patch(status):
            return ("patch", "workloads.kueue.x-k8s.io", "judged", "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))
        self.refused("vworkload.kb.io", 'status.clusterName: Invalid value: "a": when setting clusterName it must be one of the nominatedClusterNames', *patch({"clusterName": "a"}))
        self.kubectl(*patch({"nominatedClusterNames": ["a", "b"]}))
        self.kubectl(*patch({"nominatedClusterNames": None, "clusterName": "a"}))
        self.refused("vworkload.kb.io", 'status.clusterName: Invalid value: "": clusterName is immutable once set', *patch({"clusterName": None}))
        self.kubectl(*patch({"reclaimablePods": [{"name": "main", "count": 1}]}))

    # ---- two versions -------------------------------------------------------------------------------------------------

    def test_both_versions_are_read_and_written(self):  # BA-1
        self.create(kueue("ClusterQueue", "newer", {"cohortName": "c", "concurrentAdmissionPolicy": {"migration": {"mode": "RetainFirstAdmission"}}, "resourceGroups": group()}))
        older = self.get("clusterqueues.v1beta1.kueue.x-k8s.io", "newer")
        self.assertEqual(older["apiVersion"], "kueue.x-k8s.io/v1beta1")
        self.assertEqual(older["spec"]["cohort"], "c")
        self.assertNotIn("cohortName", older["spec"])
        self.assertNotIn("concurrentAdmissionPolicy", older["spec"])
        # A change in the older version keeps what only the newer one can say, also when the whole is replaced.
        older["spec"]["stopPolicy"] = "Hold"
        del older["metadata"]["annotations"], older["metadata"]["resourceVersion"]
        # kubectl looks up the version that it replaces; the status may be written in between, which is a conflict and passes.
        eventually(lambda: self.kubectl("replace", "-f", "-", input=json.dumps(older)))
        newer = self.get("clusterqueues.kueue.x-k8s.io", "newer")
        self.assertEqual((newer["spec"]["cohortName"], newer["spec"]["stopPolicy"]), ("c", "Hold"))
        self.assertEqual(newer["spec"]["concurrentAdmissionPolicy"], {"migration": {"mode": "RetainFirstAdmission"}})

        written = kueue("ClusterQueue", "older", {"cohort": "d", "admissionChecks": ["x"], "flavorFungibility": {"whenCanBorrow": "Borrow"}, "resourceGroups": group()}, "v1beta1")
        self.kubectl("apply", "-f", "-", input=json.dumps(written))
        stored = self.get("clusterqueues.kueue.x-k8s.io", "older")["spec"]
        self.assertEqual((stored["cohortName"], stored["admissionChecksStrategy"], stored["flavorFungibility"]["whenCanBorrow"]),
                         ("d", {"admissionChecks": [{"name": "x"}]}, "MayStopSearch"))
        self.assertFalse({"cohort", "admissionChecks"} & set(stored))
        again = self.get("clusterqueues.v1beta1.kueue.x-k8s.io", "older")["spec"]
        self.assertEqual({k: again.get(k) for k in ("cohort", "admissionChecks")}, {"cohort": "d", "admissionChecks": ["x"]})
        self.assertEqual(again["flavorFungibility"]["whenCanBorrow"], "Borrow")
        # Applying the same again changes nothing, and something else that only.
        self.assertIn("unchanged", self.kubectl("apply", "-f", "-", input=json.dumps(written)))
        written["spec"]["cohort"] = "e"
        self.kubectl("apply", "-f", "-", input=json.dumps(written))
        self.assertEqual(self.get("clusterqueues.kueue.x-k8s.io", "older")["spec"]["cohortName"], "e")
        # Rules hold in both, and are told in the words of the webhook.
        self.refused("vclusterqueue.kb.io", "spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: Invalid value: \"1001m\"",
                     "create", "-f", "-", input=json.dumps(kueue("ClusterQueue", "bad", {"cohort": "c", "resourceGroups": group(lendingLimit="1001m")}, "v1beta1")))

        self.create(kueue("AdmissionCheck", "check", {"controllerName": "example.com/c", "retryDelayMinutes": 3}, "v1beta1"),
                    kueue("MultiKueueCluster", "worker", {"kubeConfig": {"location": "l", "locationType": "Secret"}}, "v1beta1"))
        self.assertNotIn("retryDelayMinutes", self.get("admissionchecks.kueue.x-k8s.io", "check")["spec"])
        self.assertEqual(self.get("admissionchecks.v1beta1.kueue.x-k8s.io", "check")["spec"]["retryDelayMinutes"], 3)
        self.assertEqual(self.get("multikueueclusters.kueue.x-k8s.io", "worker")["spec"], {"clusterSource": {"kubeConfig": {"location": "l", "locationType": "Secret"}}})
        self.assertEqual({o["apiVersion"] for o in self.get("clusterqueues.v1beta1.kueue.x-k8s.io")["items"]}, {"kueue.x-k8s.io/v1beta1"})

    def test_definitions_can_be_applied_again(self):  # the converter stays
        self.kubectl("apply", "-f", os.path.join(ROOT, "deploy", "crds", "kueue.x-k8s.io_clusterqueues.yaml"))
        conversion = self.get("crd", "clusterqueues.kueue.x-k8s.io")["spec"]["conversion"]
        self.assertEqual(conversion["strategy"], "Webhook")
        self.assertTrue(conversion["webhook"]["clientConfig"]["caBundle"])

    def test_the_service_account_may_do_what_is_done(self):
        def may(*words):
            return self.kubectl("auth", "can-i", *words, "--as=system:serviceaccount:hindsight-system:hindsight", check=False).strip().splitlines()[-1]
        hooks = "validatingwebhookconfigurations.admissionregistration.k8s.io/"
        self.assertEqual(may("patch", hooks + "hindsight-validating-webhook-configuration"), "yes")
        self.assertEqual(may("patch", hooks + "other"), "no")
        self.assertEqual(may("patch", "customresourcedefinitions.apiextensions.k8s.io/workloads.kueue.x-k8s.io"), "yes")
        self.assertEqual(may("get", "secrets/hindsight-webhook-server-cert", "-n", "hindsight-system"), "yes")
        self.assertEqual(may("get", "secrets/other", "-n", "hindsight-system"), "no")

    # ---- certificates -------------------------------------------------------------------------------------------------

    def test_renewal_is_not_noticed(self):
        server = api_server.Cluster(self.cluster)
        server.connect()
        self.addCleanup(lambda: server.connection.close())

        def call(*words):
            """Where a definition changes, the server begins anew with its objects and says so (429); clients try again."""
            while True:
                try:
                    return server.call(*words)
                except api_server.Refused as refused:
                    if refused.code != 429:
                        raise
                time.sleep(0.1)

        def secret():
            return call("GET", "/api/v1/namespaces/hindsight-system/secrets/hindsight-webhook-server-cert")["data"]

        def bundle():
            hooks = call("GET", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/hindsight-validating-webhook-configuration")["webhooks"]
            return hooks[0]["clientConfig"]["caBundle"]

        def ask():
            """Two requests that webhooks must answer, whichever certificate they show."""
            with self.assertRaises(api_server.Refused) as refused:
                call("POST", "/apis/kueue.x-k8s.io/v1beta2/resourceflavors?dryRun=All", kueue("ResourceFlavor", "probe", {"nodeLabels": {"a b": "c"}}))
            self.assertIn('admission webhook "vresourceflavor.kb.io" denied the request: spec.nodeLabels', str(refused.exception))
            self.assertEqual(call("GET", "/apis/kueue.x-k8s.io/v1beta1/clusterqueues")["apiVersion"], "kueue.x-k8s.io/v1beta1")

        first, first_bundle = secret(), bundle()
        self.assertEqual(set(first), {"ca.crt", "ca.key", "tls.crt", "tls.key"})
        asked = 0

        def ask_until(done, seconds=WAIT_SECONDS_MAX):
            nonlocal asked
            deadline = time.monotonic() + seconds
            while not done():
                self.assertLess(time.monotonic(), deadline)
                ask()
                asked += 1
                time.sleep(0.02)

        # Renewed by time: another certificate of the same authority.
        ask_until(lambda: secret()["tls.crt"] != first["tls.crt"])
        self.assertEqual((secret()["ca.crt"], bundle()), (first["ca.crt"], first_bundle))
        # Thrown away: a new authority, which is made known before its work is shown.
        call("DELETE", "/api/v1/namespaces/hindsight-system/secrets/hindsight-webhook-server-cert")
        ask_until(lambda: bundle() != first_bundle)
        self.assertNotEqual(secret()["ca.key"], first["ca.key"])
        after = time.monotonic() + 5
        ask_until(lambda: time.monotonic() > after)
        print(f"{2 * asked} requests while certificates changed", flush=True)
        self.assertGreater(asked, 10)

    # ---- the last ones ------------------------------------------------------------------------------------------------

    def stop(self):
        self.assertEqual(self.program.stop(), 0)

    def test_zz_certificates_may_be_files(self):
        self.stop()
        folder = os.path.join(self.folder, "certificates")
        by_files = CONFIGURATION.replace("internalCertManagement: {", f"webhook: {{certDir: {folder}}}\ninternalCertManagement: {{enable: false, ")
        self.start(by_files)
        eventually(lambda: self.program.heard("found no tls.crt and tls.key"))
        self.stop()
        self.start(CONFIGURATION, "--webhook-cert-dir", folder)  # makes them
        eventually(lambda: self.program.heard("webhooks are registered"))
        self.stop()
        self.assertEqual({f: oct(os.stat(os.path.join(folder, f)).st_mode)[-3:] for f in sorted(os.listdir(folder))},
                         {f: "600" for f in ("ca.crt", "ca.key", "tls.crt", "tls.key")})
        os.remove(os.path.join(folder, "ca.key"))
        self.start(by_files)  # takes them
        eventually(lambda: self.program.heard("webhooks are registered"))
        eventually(lambda: self.expect('admission webhook "vresourceflavor.kb.io" denied',
                                       self.kubectl("create", "-f", "-", check=False, input=json.dumps(kueue("ResourceFlavor", "bad", {"nodeLabels": {"a b": "c"}})))))
        self.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
