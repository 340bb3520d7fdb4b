#!/usr/bin/env python3
"""Hindsight as deploy/ runs it in a cluster: its webhooks and its visibility API are reached through their Services.

usage: in_cluster_test.py HINDSIGHT

Everything in deploy/ is applied as it is, and the Deployment gets its options as deploy/README.md says. No kubelet runs here, so the test
starts what the Deployment describes: its arguments, the configuration of its ConfigMap, the rights of its service account. In place of the
endpoints that a pod's address would give, EndpointSlices lead to 127.0.0.1. So the API server finds Hindsight by the name of the Service alone,
and trusts the certificate only because it is made out to that name and its authority was filled in.
BA-1, BA-4, BA-23, BA-24, BA-26, BA-192
"""
import argparse, base64, glob, json, os, shutil, socket, ssl, sys, tempfile, unittest

from steps import ROOT, WAIT_SECONDS_MAX, Program, eventually, free_port, run
from visibility_test import job, kueue

ARGS = None
NAMESPACE = "hindsight-system"
# Service, its port's name, and the option of `hindsight run` that takes the place of the pod's address.
SERVED = (("hindsight-webhook-service", "webhooks", "--webhook-address"), ("hindsight-visibility-server", "visibility", "--visibility-address"))


class InClusterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.dev = os.path.join(ROOT, "dev")
        cls.cluster = os.path.join(cls.folder, "cluster")
        run(cls.dev, "cluster", "up", "--dir", cls.cluster, "--no-kwok", "--no-controller-manager", "--no-scheduler", "--endpoint-routing")
        cls.addClassCleanup(run, cls.dev, "cluster", "down", "--dir", cls.cluster)
        deploy = os.path.join(ROOT, "deploy")
        cls.kubectl("apply", *[w for f in sorted(glob.glob(os.path.join(deploy, "crds", "*.yaml"))) for w in ("-f", f)])
        cls.kubectl("apply", *[w for f in ("rbac", "hindsight", "webhooks", "visibility") for w in ("-f", os.path.join(deploy, f + ".yaml"))])
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
        with open(configuration, "w", encoding="utf-8") as out:
            out.write(cls.get("configmap", "hindsight-config", "-n", NAMESPACE)["data"]["config.yaml"])
        here = {"--config": configuration, "--log": "sqlite:" + os.path.join(cls.folder, "log.db"), "--http": f"127.0.0.1:{free_port()}"}
        words = []
        for word in cls.get("deployment", "hindsight", "-n", NAMESPACE)["spec"]["template"]["spec"]["containers"][0]["args"]:
            option = word.split("=")[0]
            words.append(f"{option}={here.pop(option)}" if option in here else word)
        assert not here, f"options of the container: {words}"
        for service, _, option in SERVED:
            words += [option, f"127.0.0.1:{cls.ports[service]}"]
        with open(os.path.join(cls.cluster, "kubeconfig"), encoding="utf-8") as text:
            kubeconfig = json.load(text)
        for user in kubeconfig["users"]:
            user["user"]["as"] = f"system:serviceaccount:{NAMESPACE}:hindsight"
        account = os.path.join(cls.folder, "kubeconfig")
        with open(account, "w", encoding="utf-8") as out:
            json.dump(kubeconfig, out)
        cls.program = Program("hindsight", os.path.join(cls.folder, "hindsight.out"), ARGS.hindsight, *words, "--kubeconfig", account)
        cls.addClassCleanup(cls.program.kill)
        cls.program.start()

    @classmethod
    def kubectl(cls, *words, **more):
        return run(cls.dev, "cluster", "kubectl", "--dir", cls.cluster, "--", *words, **more)

    @classmethod
    def get(cls, *words):
        said = cls.kubectl("get", *words, "-o", "json")
        return json.loads(said[said.index("{"):])  # after the warning that v1beta1 is deprecated

    def create(self, *objects):
        self.kubectl("create", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

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

    def test_6_it_ends_when_told_to(self):
        self.assertEqual(self.program.stop(), 0, self.program.said()[-3000:])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
