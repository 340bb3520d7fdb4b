#!/usr/bin/env python3
"""The definitions that leave rules to webhooks (deploy/crds/with-webhooks) on a real API server, with `hindsight run --webhooks` beside it.

usage: light_definitions_test.py HINDSIGHT

Every write of tests/deploy/rules/workload.yaml is tried twice: under the whole definitions and under the light ones. What is refused and what
is taken must be the same. For each rule that the light ones lack there is a write that the whole one refuses by this rule, and that the
webhook refuses in its place. Then the webhooks go away, and `hindsight doctor` says what is missing and puts it right.
BA-13 to BA-19
"""
import argparse, datetime, itertools, json, os, shutil, sys, tempfile, time, unittest

import yaml

from steps import ROOT, Program, eventually, free_port, run

sys.path.insert(0, os.path.join(ROOT, "tests", "deploy"))
import api_server  # noqa: E402
import crd_rules_test as tables  # noqa: E402

ARGS = None
DEPLOY = os.path.join(ROOT, "deploy")
WHOLE = os.path.join(DEPLOY, "crds")
LIGHT = os.path.join(DEPLOY, "crds", "with-webhooks")
NAME = "kueue.x-k8s.io_workloads.yaml"
VALIDATING = "hindsight-validating-webhook-configuration"

CONFIGURATION = """apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: hindsight-system
internalCertManagement: {webhookServiceName: hindsight-webhook-service, webhookSecretName: hindsight-webhook-server-cert}
"""


def lease():
    """Somebody else leads, so that ours answers the API server and writes no status into what is tried."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "c1f6bfd2.kueue.x-k8s.io", "namespace": "hindsight-system"},
            "spec": {"holderIdentity": "another", "leaseDurationSeconds": 86400, "acquireTime": now, "renewTime": now}}


class Patient(api_server.Cluster):
    """Where a definition changes, the server begins anew with its objects and says so (429); clients try again."""

    def call(self, *words, **more):
        while True:
            try:
                return super().call(*words, **more)
            except api_server.Refused as refused:
                if refused.code != 429:
                    raise
            time.sleep(0.1)


class Recorder(tables.Table):
    """Plays a table and notes what became of each write: None, or (status, words)."""

    def __init__(self, *words):
        super().__init__(*words)
        self.outcomes = []

    def attempt(self, version, refused, action):
        try:
            action()
            self.outcomes.append(None)
        except api_server.Refused as refusal:
            self.outcomes.append((refusal.code, str(refusal)))
        return None

    def played(self):
        """(title, outcomes) of each row."""
        out = []
        for title, unprepared in self.run():
            out.append((title, self.outcomes + ([(0, unprepared)] if unprepared else [])))
            self.outcomes = []
        return out


def rules(file):
    """(place, words) of each rule of v1beta2, as often as it is there."""
    with open(file, encoding="utf-8") as text:
        definition = yaml.safe_load(text)
    schema = next(v for v in definition["spec"]["versions"] if v["name"] == "v1beta2")["schema"]["openAPIV3Schema"]
    for path, rule in tables.rules_of(schema, ""):
        words = rule["messageExpression"].split("'")[1].split("%d")[0] if "messageExpression" in rule else rule["message"]
        yield path, words


def is_of_webhook(outcome):
    return outcome is not None and outcome[0] == 403 and 'admission webhook "vworkload.kb.io" denied the request' in outcome[1]


class LightDefinitionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.cluster = cls.enterClassContext(Patient(os.path.join(cls.folder, "cluster")))
        cls.cluster.kubectl("apply", "-f", WHOLE, "-f", os.path.join(DEPLOY, "rbac.yaml"), "-f", os.path.join(DEPLOY, "webhooks.yaml"))
        cls.cluster.call("POST", "/apis/coordination.k8s.io/v1/namespaces/hindsight-system/leases", lease())
        configuration = os.path.join(cls.folder, "config.yaml")
        with open(configuration, "w", encoding="utf-8") as out:
            out.write(CONFIGURATION)
        port = free_port()
        cls.kubeconfig = os.path.join(cls.folder, "cluster", "kubeconfig")
        cls.program = Program("hindsight", os.path.join(cls.folder, "hindsight.out"), ARGS.hindsight, "run", "--kubeconfig", cls.kubeconfig,
                              "--log", "sqlite:" + os.path.join(cls.folder, "log.db"), "--config", configuration, "--webhooks",
                              "--webhook-address", f"127.0.0.1:{port}", "--webhook-url", f"https://127.0.0.1:{port}")
        cls.addClassCleanup(cls.program.kill)
        cls.program.start()
        eventually(lambda: cls.program.heard("webhooks are registered"))
        eventually(lambda: cls.cluster.kubectl("get", "workloads.v1beta1.kueue.x-k8s.io"))
        cls.serial = itertools.count()

    def table(self):
        return Recorder(tables.TABLES / "workload.yaml", self.cluster, self.serial)

    def probe(self):
        """What becomes of a write that a rule refuses which the light definition lacks."""
        table = self.table()
        table.attempt("v1beta2", None, lambda: table.create("v1beta2", table.fresh("v1beta2", {"spec.podSets.0.minCount": 4}), dry=True))
        return table.outcomes[0]

    def becomes(self, code):
        """Until the API server goes by the definition that was applied: `code` is what the probe gets then; 0: it is taken."""
        def look():
            outcome = self.probe()
            self.assertEqual(outcome[0] if outcome else 0, code, outcome)
        eventually(look)

    def annotations(self):
        return self.cluster.call("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/workloads.kueue.x-k8s.io")["metadata"].get("annotations", {})

    def doctor(self):
        said = run(ARGS.hindsight, "doctor", "--kubeconfig", self.kubeconfig, "--only", "definitions", "-o", "json", check=False)
        return [one for one in json.loads(said[said.index("{"):])["findings"] if "leaves checks" in one["found"] or "differs" in one["found"]]

    def test_1_both_refuse_the_same(self):
        self.becomes(422)
        whole = self.table().played()
        self.cluster.kubectl("apply", "-f", LIGHT)
        self.becomes(403)
        light = self.table().played()
        self.assertEqual([title for title, _ in whole], [title for title, _ in light])
        taken = refused = 0
        for (title, before), (_, now) in zip(whole, light):
            with self.subTest(title):
                self.assertEqual([one is None for one in before], [one is None for one in now], f"whole: {before}; light: {now}")
            taken, refused = taken + before.count(None), refused + len(before) - before.count(None)
        print(f"{taken} writes taken, {refused} refused, the same under both", flush=True)
        self.assertGreater(min(taken, refused), 80)

        # Each rule that is left out refuses something under the whole definition, and the webhook refuses it under the light one.
        kept = list(rules(os.path.join(LIGHT, NAME)))
        left = [rule for rule in rules(os.path.join(WHOLE, NAME)) if rule not in kept or kept.remove(rule)]
        self.assertGreater(len(left), 35)
        pairs = [(a, b) for (title, before), (_, now) in zip(whole, light) if " v1beta2 " in title for a, b in zip(before, now)]
        for path, words in left:
            with self.subTest(f"{path}: {words}"):
                by_rule = [b for a, b in pairs if a is not None and a[0] == 422 and words in a[1]]
                self.assertTrue(by_rule, "no write shows it")
                self.assertTrue(all(is_of_webhook(b) for b in by_rule), by_rule)

    def test_2_doctor_takes_them_where_webhooks_are(self):
        self.cluster.kubectl("apply", "-f", LIGHT)
        self.becomes(403)
        self.assertEqual(self.annotations().get("hindsight.dev/checks"), "webhooks")
        self.assertEqual(self.doctor(), [])
        # The converter is where it was.
        self.assertIn("kueue.x-k8s.io/v1beta1", self.cluster.kubectl("get", "workloads.v1beta1.kueue.x-k8s.io", "-o", "json"))

    def test_3_doctor_says_that_nobody_checks(self):
        self.cluster.kubectl("delete", "validatingwebhookconfiguration", VALIDATING)
        self.becomes(0)
        (finding,) = self.doctor()
        self.assertEqual((finding["severity"], finding["object"]), ("error", "CustomResourceDefinition workloads.kueue.x-k8s.io"))
        self.assertIn(f"which are not served: there is no ValidatingWebhookConfiguration {VALIDATING}, so nobody checks", finding["found"])
        kubectl = self.cluster.kubectl
        self.assertIn("doctor --print crds/workloads.kueue.x-k8s.io | kubectl", finding["command"])
        # What the command does, with this kubectl.
        text = run(ARGS.hindsight, "doctor", "--print", "crds/workloads.kueue.x-k8s.io")
        file = os.path.join(self.folder, "printed.yaml")
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        kubectl("replace", "-f", file)
        self.becomes(422)
        self.assertNotIn("hindsight.dev/checks", self.annotations())
        self.assertEqual(self.doctor(), [])

    def test_4_the_whole_ones_come_back_by_applying_them(self):
        self.cluster.kubectl("apply", "-f", LIGHT)
        self.becomes(0)
        self.cluster.kubectl("apply", "-f", WHOLE)
        self.becomes(422)
        self.assertNotIn("hindsight.dev/checks", self.annotations())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
