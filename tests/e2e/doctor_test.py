#!/usr/bin/env python3
"""`hindsight doctor` on a real API server: each fault is made, found, repaired by the very command that the finding gives, and is gone.

usage: doctor_test.py HINDSIGHT

Issue 21, section 6. No kubelet runs here: what a pod would say stands in its status, where the test writes it, and EndpointSlices are written by
hand. The commands run in a shell, with `hindsight` and `kubectl` in the PATH, as whoever reads them would run them. Logs on Kafka are in
doctor_kafka.py; what no command can repair in a test, a disk that is slow, is judged by tests/doctor/.
"""
import argparse, base64, datetime, glob, json, os, shutil, stat, subprocess, sys, tempfile, time, unittest

import yaml

from steps import COMMAND_SECONDS_MAX, ROOT, Program, eventually, free_port, run

ARGS = None
NAMESPACE = "hindsight-system"


class DoctorTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.dev = os.path.join(ROOT, "dev")
        cls.cluster = os.path.join(cls.folder, "cluster")
        # No controller manager: nobody makes pods of the Deployment, and what is written into statuses stays.
        run(cls.dev, "cluster", "up", "--dir", cls.cluster, "--no-kwok", "--no-controller-manager", "--no-scheduler", timeout=960)
        cls.addClassCleanup(run, cls.dev, "cluster", "down", "--dir", cls.cluster)
        cls.kubeconfig = os.path.join(cls.cluster, "kubeconfig")
        cls.tools = os.path.join(cls.folder, "bin")
        os.mkdir(cls.tools)
        cls.kubectl_program = run(os.path.join(ROOT, "scripts", "tools.sh"), "path", "kubectl").strip()
        os.symlink(cls.kubectl_program, os.path.join(cls.tools, "kubectl"))
        # The command that a finding gives calls the program by its name, where the PATH leads to it.
        os.symlink(os.path.abspath(ARGS.hindsight), os.path.join(cls.tools, "hindsight"))
        cls.environment = {**os.environ, "PATH": cls.tools + ":" + os.environ["PATH"], "KUBECONFIG": cls.kubeconfig}
        for name in ("HINDSIGHT_LOG", "HINDSIGHT_LOG_CONFIG"):
            cls.environment.pop(name, None)
        # A fault of its own: nothing is installed.
        cls.before = cls.examine()[1]
        cls.shell(cls.command(cls.before, "definitions", "not there"))
        cls.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")
        cls.kubectl("apply", *[w for name in ("rbac", "metrics", "hindsight") for w in ("-f", os.path.join(ROOT, "deploy", f"{name}.yaml"))])
        cls.be_well()
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "free", "namespace": "default", "labels": {"kueue.x-k8s.io/queue-name": "lq"}},
               "spec": {"suspend": False, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}
        cls.apply(job)

    @classmethod
    def be_well(cls):
        """As a cluster would have it in which the Deployment runs."""
        cls.patch_status("deployment", "hindsight", {"replicas": 1, "readyReplicas": 1}, NAMESPACE)
        cls.patch_status("pvc", "hindsight-log", {"phase": "Bound"}, NAMESPACE)
        cls.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "hindsight-0", "namespace": NAMESPACE, "labels": {"app.kubernetes.io/name": "hindsight"}},
                   "spec": {"automountServiceAccountToken": False, "containers": [{"name": "hindsight", "image": "hindsight:0.1.0"}]}})
        cls.pod_says({"restartCount": 0, "ready": True, "state": {"running": {"startedAt": cls.now()}}})
        cls.hold_lease(NAMESPACE, "hindsight-0_1_2")

    # ---- steps

    @classmethod
    def shell(cls, line, **more):
        return run("sh", "-c", line, env={**cls.environment, **more.pop("environment", {})}, cwd=cls.folder, **more)

    @classmethod
    def kubectl(cls, *words, **more):
        return run(cls.kubectl_program, "--kubeconfig", cls.kubeconfig, *words, **more)

    @classmethod
    def apply(cls, *objects):
        cls.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    @classmethod
    def patch_status(cls, kind, name, status, namespace):
        cls.kubectl("patch", kind, name, "-n", namespace, "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))

    @classmethod
    def pod_says(cls, container):
        cls.patch_status("pod", "hindsight-0", {"phase": "Running", "conditions": [{"type": "Ready", "status": "True" if container.get("ready") else "False"}],
                                                "containerStatuses": [{"name": "hindsight", "image": "hindsight:0.1.0", "imageID": "", "ready": False, "restartCount": 0, **container}]}, NAMESPACE)

    @classmethod
    def hold_lease(cls, namespace, holder, seconds_ahead=0):
        cls.apply({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "c1f6bfd2.kueue.x-k8s.io", "namespace": namespace},
                   "spec": {"holderIdentity": holder, "leaseDurationSeconds": 3600, "renewTime": cls.now(seconds_ahead, True)}})

    @staticmethod
    def now(ahead=0, fine=False):
        moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=ahead)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ" if fine else "%Y-%m-%dT%H:%M:%SZ")

    @classmethod
    def examine(cls, *words, environment=None):
        """The exit status, and what it says as JSON."""
        done = subprocess.run([os.path.join(cls.tools, "hindsight"), "doctor", "-o", "json", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**cls.environment, **(environment or {})}, cwd=cls.folder, timeout=COMMAND_SECONDS_MAX, check=False)
        assert done.returncode in (0, 1, 2) and not done.stderr, (done.returncode, done.stdout, done.stderr)
        return done.returncode, json.loads(done.stdout)

    @staticmethod
    def findings(document, check, part):
        return [f for f in document["findings"] if f["check"] == check and part in f["object"] + " " + f["found"]]

    @classmethod
    def command(cls, document, check, part):
        found = cls.findings(document, check, part)
        assert len(found) == 1, (check, part, json.dumps(document, indent=1))
        assert all(found[0][key] for key in ("object", "found", "allowed", "advice", "command")), found
        return found[0]["command"]

    def heal(self, check, part, *words, severity="error", change=lambda line: line, environment=None, several=False, **more):
        """The fault is found; its command is run, with what only people know filled in; the fault is gone. Returns the command. `several`: it
        shows in several findings, and the command of the worst is enough."""
        status, document = self.examine("--only", check, *words)
        found = self.findings(document, check, part)
        self.assertEqual([f["severity"] for f in (found[:1] if several else found)], [severity], json.dumps(document, indent=1))
        self.assertEqual(status, 1 if document["errors"] else 0)
        line = change(found[0]["command"])
        self.shell(line, environment=environment or {}, **more)

        def gone():
            after = self.examine("--only", check, *words)[1]
            self.assertEqual(self.findings(after, check, part), [], f"after {line}")
        eventually(gone, 30)
        return line

    # ---- nothing is wrong

    def test_00_an_installation_that_is_well(self):
        status, document = self.examine()
        self.assertEqual((status, document["errors"], document["warnings"]), (0, 0, 0), json.dumps(document, indent=1))
        states = {check["name"]: check["status"] for check in document["checks"]}
        self.assertEqual({name: states[name] for name in ("server", "clocks", "rights", "definitions", "controllers", "pods", "configuration")},
                         dict.fromkeys(("server", "clocks", "rights", "definitions", "controllers", "pods", "configuration"), "ok"))
        self.assertIn("ServiceAccount hindsight-system/hindsight has ", next(c["summary"] for c in document["checks"] if c["name"] == "rights"))

    def test_01_before_anything_was_installed(self):
        self.assertEqual([f["severity"] for f in self.findings(self.before, "definitions", "not there")], ["error"])

    def test_02_a_server_that_is_not_there_or_does_not_know_us(self):
        with open(self.kubeconfig, encoding="utf-8") as text:
            config = json.load(text)
        config["users"][0]["user"] = {"token": "nobody"}
        stranger = os.path.join(self.folder, "stranger")
        with open(stranger, "w", encoding="utf-8") as out:
            json.dump(config, out)
        status, document = self.examine("--kubeconfig", stranger)
        self.assertEqual(status, 2)
        self.assertIn("auth whoami", self.command(document, "server", "Unauthorized"))
        config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{free_port()}"
        with open(stranger, "w", encoding="utf-8") as out:
            json.dump(config, out)
        status, document = self.examine("--kubeconfig", stranger, "--timeout", "3")
        self.assertEqual((status, {c["status"] for c in document["checks"]}), (2, {"error", "skipped"}))

    # ---- rights

    def test_10_a_right_that_is_missing(self):
        role = json.loads(self.kubectl("get", "clusterrole", "hindsight", "-o", "json"))
        role["rules"] = [rule for rule in role["rules"] if "pods" not in rule["resources"]]
        self.kubectl("replace", "-f", "-", input=json.dumps(role))
        self.heal("rights", "may not list pods, patch pods, watch pods")
        self.kubectl("delete", "clusterrolebinding", "hindsight")
        self.heal("rights", "may not", several=True)

    def test_11_rights_of_another_account(self):
        self.heal("rights", "may not", "--as-controller", "default/somebody", several=True)
        self.kubectl("delete", "clusterrole,clusterrolebinding", "hindsight-doctor")

    def test_12_too_many_rights(self):
        self.kubectl("create", "clusterrolebinding", "too-much", "--clusterrole=cluster-admin", f"--serviceaccount={NAMESPACE}:hindsight")
        self.assertIn("too-much", self.shell(self.command(self.examine("--only", "rights")[1], "rights", "may also do everything")))
        self.kubectl("delete", "clusterrolebinding", "too-much")
        self.assertEqual(self.findings(self.examine("--only", "rights")[1], "rights", "may also"), [])

    # ---- definitions

    def test_20_a_definition_of_another_version(self):
        crd = json.loads(self.kubectl("get", "crd", "topologies.kueue.x-k8s.io", "-o", "json"))
        for version in crd["spec"]["versions"]:
            version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["levels"]["maxItems"] = 8
        self.kubectl("replace", "-f", "-", input=json.dumps(crd))
        self.heal("definitions", "spec.levels.maxItems is 8, in ours 16", severity="warning")
        crd = json.loads(self.kubectl("get", "crd", "workloads.kueue.x-k8s.io", "-o", "json"))
        for version in crd["spec"]["versions"]:
            version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"].pop("podSets")
            version["schema"]["openAPIV3Schema"]["properties"]["spec"].pop("x-kubernetes-validations", None)
            version["schema"]["openAPIV3Schema"].pop("x-kubernetes-validations", None)
        self.kubectl("replace", "-f", "-", input=json.dumps(crd))
        self.heal("definitions", "spec.podSets is not there")

    def test_21_a_definition_that_is_missing(self):
        definition = "multikueueconfigs.kueue.x-k8s.io"
        self.kubectl("delete", "crd", definition, "--wait=false")

        def is_gone():
            # The API server may forget for five minutes to look whether it can go; a change makes it look (deploy/helm/hindsight/README.md).
            if self.kubectl("get", "crd", definition, "--ignore-not-found", "-o", "name").strip():
                self.kubectl("patch", "crd", definition, "--type=merge", "-p", json.dumps({"metadata": {"annotations": {"look": str(time.monotonic())}}}), check=False)
                raise AssertionError(f"{definition} is still there")
        eventually(is_gone)
        self.heal("definitions", "not there: multikueueconfigs.kueue.x-k8s.io")

    def test_22_a_converter_that_nobody_is(self):
        service = {"name": "hindsight-webhook-service", "namespace": NAMESPACE, "path": "/convert"}
        patch = {"spec": {"conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"service": service}}}}}
        self.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "any"}, "spec": {}}))
        for crd in ("resourceflavors", "cohorts"):
            self.kubectl("patch", "crd", f"{crd}.kueue.x-k8s.io", "--type=merge", "-p", json.dumps(patch))
        # The first that is given makes the Service; then the Deployment lacks --webhooks: the way back is told beside it.
        self.assertIn("--print webhooks", self.command(self.examine("--only", "definitions")[1], "definitions", "conversion of"))
        self.kubectl("scale", "deployment/hindsight", "-n", NAMESPACE, "--replicas=0")
        self.kubectl("label", "deployment/hindsight", "-n", NAMESPACE, "app.kubernetes.io/name=other", "--overwrite")
        self.heal("definitions", "conversion of")
        self.kubectl("label", "deployment/hindsight", "-n", NAMESPACE, "app.kubernetes.io/name=hindsight", "--overwrite")
        self.kubectl("scale", "deployment/hindsight", "-n", NAMESPACE, "--replicas=1")
        self.kubectl("delete", "resourceflavor", "any")

    def test_23_objects_that_were_stored_before(self):
        self.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "old"}, "spec": {}}))
        self.kubectl("patch", "crd", "resourceflavors.kueue.x-k8s.io", "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"storedVersions": ["v1beta1", "v1beta2"]}}))
        self.heal("definitions", "stored as v1beta1", severity="warning")
        self.kubectl("delete", "resourceflavor", "old")

    # ---- webhooks, certificates, visibility

    def endpoints(self, service):
        self.apply({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"], "conditions": {"ready": True}}],
                    "ports": [{"name": "x", "port": 9443}], "metadata": {"name": service, "namespace": NAMESPACE, "labels": {"kubernetes.io/service-name": service}}})

    def certificate(self, name, days):
        """A certificate and its authority; below 0 days: it has ended."""
        folder = tempfile.mkdtemp(dir=self.folder)
        openssl = ["openssl"]
        run(*openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{folder}/ca.key", "-out", f"{folder}/ca.crt", "-subj", "/CN=authority", "-days", "400")
        run(*openssl, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{folder}/tls.key", "-out", f"{folder}/tls.csr", "-subj", "/CN=server")
        with open(f"{folder}/names", "w", encoding="utf-8") as out:
            out.write(f"subjectAltName=DNS:{name}\n")
        run(*openssl, "x509", "-req", "-in", f"{folder}/tls.csr", "-CA", f"{folder}/ca.crt", "-CAkey", f"{folder}/ca.key", "-set_serial", "1", "-extfile", f"{folder}/names",
            "-days", str(days), "-out", f"{folder}/tls.crt")
        out = {}
        for file in ("ca.crt", "tls.crt", "tls.key"):
            with open(f"{folder}/{file}", "rb") as data:
                out[file] = base64.b64encode(data.read()).decode()
        return out

    def secret(self, data):
        self.kubectl("delete", "secret", "hindsight-webhook-server-cert", "-n", NAMESPACE, "--ignore-not-found")
        self.apply({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": {"name": "hindsight-webhook-server-cert", "namespace": NAMESPACE}, "data": data})

    def test_30_webhooks_that_nobody_answers(self):
        self.kubectl("apply", "-f", os.path.join(ROOT, "deploy", "webhooks.yaml"))
        # 1. the Deployment does not serve them
        line = self.command(self.examine("--only", "webhooks")[1], "webhooks", "has no endpoint that is ready; asked by mresourceflavor")
        self.assertIn("--webhooks", line)
        self.shell(line)
        args = json.loads(self.kubectl("get", "deployment", "hindsight", "-n", NAMESPACE, "-o", "json"))["spec"]["template"]["spec"]["containers"][0]["args"]
        self.assertEqual(args[-1], "--webhooks")
        # 2. it does, and there is no Service any more
        self.kubectl("delete", "service", "hindsight-webhook-service", "-n", NAMESPACE)
        self.endpoints("hindsight-webhook-service")
        self.heal("webhooks", "there is no Service hindsight-system/hindsight-webhook-service; asked by mresourceflavor")
        self.assertEqual(self.findings(self.examine("--only", "webhooks")[1], "webhooks", "no endpoint"), [])
        # 3. nobody is trusted, as long as there is neither Secret nor a process that fills it in
        self.assertTrue(self.findings(self.examine("--only", "webhooks")[1], "webhooks", "caBundle is empty"))
        # 4. another authority than that of the Secret
        good, other = self.certificate("hindsight-webhook-service.hindsight-system.svc", 300), self.certificate("x", 300)
        self.secret(good)
        for kind in ("mutating", "validating"):
            name = f"hindsight-{kind}-webhook-configuration"
            found = json.loads(self.kubectl("get", f"{kind}webhookconfiguration", name, "-o", "json"))
            del found["metadata"]["resourceVersion"]  # else it becomes part of what was applied last
            for hook in found["webhooks"]:
                hook["clientConfig"]["caBundle"] = other["ca.crt"]
            self.kubectl("replace", "-f", "-", input=json.dumps(found))
            self.heal("webhooks", f"{kind.capitalize()}WebhookConfiguration {name} caBundle is not the authority")
        status, document = self.examine("--only", "webhooks,certificates")
        self.assertEqual((status, document["findings"]), (0, []), json.dumps(document, indent=1))
        # 5. settings that were loosened
        self.kubectl("patch", "mutatingwebhookconfiguration", "hindsight-mutating-webhook-configuration", "--type=json",
                     "-p", json.dumps([{"op": "replace", "path": "/webhooks/5/failurePolicy", "value": "Ignore"}, {"op": "replace", "path": "/webhooks/2/timeoutSeconds", "value": 30}]))
        self.heal("webhooks", "may take 30 s", severity="warning")
        self.heal("webhooks", "failurePolicy Ignore", severity="warning")
        # 6. one is missing
        self.kubectl("patch", "mutatingwebhookconfiguration", "hindsight-mutating-webhook-configuration", "--type=json", "-p", json.dumps([{"op": "remove", "path": "/webhooks/5"}]))
        self.heal("webhooks", "not there: mjob.kb.io")

    def test_31_certificates(self):
        self.secret(self.certificate("somebody-else.svc", 300))
        self.heal("certificates", "would refuse tls.crt")
        self.secret(self.certificate("hindsight-webhook-service.hindsight-system.svc", -1))
        self.heal("certificates", "tls.crt: it ended at")

    def test_32_webhooks_are_taken_away(self):
        for kind in ("mutating", "validating"):
            self.kubectl("delete", f"{kind}webhookconfiguration", f"hindsight-{kind}-webhook-configuration")
        self.heal("webhooks", "no configuration has the API server ask them")
        for kind in ("mutating", "validating"):
            self.kubectl("delete", f"{kind}webhookconfiguration", f"hindsight-{kind}-webhook-configuration")
        deployment = json.loads(self.kubectl("get", "deployment", "hindsight", "-n", NAMESPACE, "-o", "json"))
        container = deployment["spec"]["template"]["spec"]["containers"][0]
        container["args"] = [word for word in container["args"] if word != "--webhooks"]
        self.kubectl("replace", "-f", "-", input=json.dumps(deployment))
        self.assertEqual(self.examine("--only", "webhooks")[1]["checks"][0]["status"], "skipped")

    def test_33_webhooks_of_somebody_who_has_gone(self):
        hook = {"name": "mjob.kb.io", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail",
                "rules": [{"apiGroups": ["batch"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["jobs"]}],
                "clientConfig": {"service": {"name": "kueue-webhook-service", "namespace": "kueue-system", "path": "/x"}}}
        self.apply({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration", "metadata": {"name": "kueue-mutating-webhook-configuration"}, "webhooks": [hook]})
        self.heal("webhooks", "there is no Service kueue-system/kueue-webhook-service")

    def test_34_an_api_that_is_not_available(self):
        self.kubectl("apply", "-f", os.path.join(ROOT, "deploy", "visibility.yaml"))
        self.kubectl("label", "deployment/hindsight", "-n", NAMESPACE, "app.kubernetes.io/name=other", "--overwrite")
        eventually(lambda: self.assertTrue(self.findings(self.examine("--only", "visibility")[1], "visibility", "not available")), 30)
        self.heal("visibility", "not available")
        self.kubectl("label", "deployment/hindsight", "-n", NAMESPACE, "app.kubernetes.io/name=hindsight", "--overwrite")

    # ---- who else acts, pods

    def test_40_a_second_controller(self):
        container = {"name": "manager", "image": "kueue"}
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}},
                   {"apiVersion": "apps/v1", "kind": "Deployment",
                    "metadata": {"name": "kueue-controller-manager", "namespace": "kueue-system", "labels": {"app.kubernetes.io/name": "kueue", "control-plane": "controller-manager"}},
                    "spec": {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}}}})
        self.heal("controllers", "Kueue's controller runs")
        self.hold_lease("kueue-system", "kueue-controller-manager-1_abc")
        self.assertIn("kueue-controller-manager", self.shell(self.command(self.examine("--only", "controllers")[1], "controllers", "held at the same time")))
        self.kubectl("delete", "lease", "c1f6bfd2.kueue.x-k8s.io", "-n", "kueue-system")
        self.assertEqual(self.findings(self.examine("--only", "controllers")[1], "controllers", "held at the same time"), [])
        self.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "hindsight", "namespace": "default", "labels": {"app.kubernetes.io/name": "hindsight"}},
                    "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "hindsight", "image": "x"}]}}}})
        self.heal("controllers", "a second Hindsight")
        self.kubectl("delete", "deployment", "hindsight", "-n", "default")

    def test_41_somebody_else_writes_statuses(self):
        pod_set = {"name": "main", "count": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}
        self.apply({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": "wl", "namespace": "default"}, "spec": {"queueName": "lq", "podSets": [pod_set]}})
        self.kubectl("patch", "workloads.kueue.x-k8s.io", "wl", "-n", "default", "--subresource=status", "--field-manager=kueue-admission", "--type=merge",
                     "-p", json.dumps({"status": {"requeueState": {"count": 1}}}))
        found = self.findings(self.examine("--only", "controllers")[1], "controllers", 'written by "kueue-admission"')
        self.assertEqual([f["severity"] for f in found], ["error"])
        self.kubectl("delete", "workloads.kueue.x-k8s.io", "wl", "-n", "default")

    def test_42_clocks(self):
        self.hold_lease(NAMESPACE, "hindsight-0_1_2", 120)
        found = self.findings(self.examine("--only", "clocks")[1], "clocks", "in the future of the API server")
        self.assertEqual([(f["severity"], f["object"]) for f in found], [("error", "clock of hindsight-0_1_2")])
        self.hold_lease(NAMESPACE, "hindsight-0_1_2")
        self.assertEqual(self.examine("--only", "clocks")[0], 0)

    def test_43_a_clock_that_is_wrong(self):
        """The clock of this machine is that of libfaketime, which reads from a file how wrong it is. Nobody sets a machine's clock in a test, and
        timedatectl needs a service manager: a stand-in is called as the finding's command calls it, and sets what the file says."""
        library = next((path for path in glob.glob("/usr/lib/*/faketime/libfaketime.so.1")), None)
        self.assertIsNotNone(library, "libfaketime.so.1 is not there; allowed: the package faketime, which ./dev installs")
        clock, called = os.path.join(self.folder, "clock"), os.path.join(self.folder, "timedatectl.called")
        stand_in = os.path.join(self.tools, "timedatectl")
        with open(stand_in, "w", encoding="utf-8") as out:
            out.write(f'#!/bin/sh\necho "$*" >>{called}\n[ "$1 $2" != "set-ntp true" ] || echo +0s >{clock}\n')
        os.chmod(stand_in, 0o755)
        self.addCleanup(os.unlink, stand_in)
        # A sanitized program wants its own runtime before any other library, and libfaketime waits for ever behind that one.
        sanitizer = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0"]))
        wrong = {"LD_PRELOAD": library, "ASAN_OPTIONS": sanitizer, "FAKETIME_TIMESTAMP_FILE": clock, "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        # To a clock that is behind, a certificate that was made a moment ago is not valid yet.
        time.sleep(max(0, os.path.getmtime(self.environment["KUBECONFIG"]) + 15 - time.time()))
        for off, severity, how in (("+120s", "error", "ahead of the API server's"), ("-10s", "warning", "behind the API server's")):
            with open(clock, "w", encoding="utf-8") as out:
                out.write(off + "\n")
            status, document = self.examine("--only", "clocks", environment=wrong)
            found = [f for f in document["findings"] if f["object"] == "clock of this machine"]
            self.assertEqual([f["severity"] for f in found], [severity], json.dumps(document, indent=1))
            self.assertIn(how, found[0]["found"])
            self.assertEqual(status, 1 if severity == "error" else 0)
            self.shell(found[0]["command"])
            self.assertEqual(self.examine("--only", "clocks", environment=wrong), self.examine("--only", "clocks"), "it is as a clock that is right")
        with open(called, encoding="utf-8") as text:
            self.assertEqual(text.read().split("\n")[:2], ["set-ntp true", "timesync-status"])

    def test_50_pods(self):
        self.pod_says({"state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}})
        line = self.command(self.examine("--only", "pods")[1], "pods", "ImagePullBackOff")
        self.shell(line.replace("IMAGE", "registry.example.org/hindsight:1"))
        self.assertEqual(self.kubectl("get", "deployment", "hindsight", "-n", NAMESPACE, "-o", "jsonpath={.spec.template.spec.containers[0].image}"), "registry.example.org/hindsight:1")
        self.pod_says({"restartCount": 5, "ready": True, "state": {"running": {"startedAt": self.now()}}, "lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}})
        self.shell(self.command(self.examine("--only", "pods")[1], "pods", "more memory than its limit, 2Gi"))
        self.assertEqual(self.kubectl("get", "deployment", "hindsight", "-n", NAMESPACE, "-o", "jsonpath={.spec.template.spec.containers[0].resources.limits.memory}"), "4Gi")
        self.pod_says({"ready": True, "state": {"running": {"startedAt": self.now()}}})
        self.assertEqual(self.examine("--only", "pods")[0], 0)
        self.kubectl("scale", "deployment/hindsight", "-n", NAMESPACE, "--replicas=0")
        self.heal("pods", "scaled to nothing")
        self.kubectl("scale", "deployment/hindsight", "-n", NAMESPACE, "--replicas=3")
        self.heal("pods", "3 replicas with a log in a file")

    def test_51_a_claim_that_is_missing(self):
        self.kubectl("delete", "pvc", "hindsight-log", "-n", NAMESPACE, "--wait=false")
        self.kubectl("patch", "pvc", "hindsight-log", "-n", NAMESPACE, "--type=merge", "-p", '{"metadata":{"finalizers":null}}', check=False)
        self.heal("pods", "the pod waits for it")
        self.assertTrue(self.findings(self.examine("--only", "pods")[1], "pods", "names no storage class"))
        self.patch_status("pvc", "hindsight-log", {"phase": "Bound"}, NAMESPACE)
        self.assertEqual(self.findings(self.examine("--only", "pods")[1], "pods", "PersistentVolumeClaim"), [])

    def test_52_a_configuration_that_is_refused(self):
        def write(text):
            self.kubectl("patch", "configmap", "hindsight-config", "-n", NAMESPACE, "--type=merge", "-p", json.dumps({"data": {"config.yaml": text}}))
        good = json.loads(self.kubectl("get", "configmap", "hindsight-config", "-n", NAMESPACE, "-o", "json"))["data"]["config.yaml"]
        write(good + "leaderElections: {}\n")
        editor = os.path.join(self.folder, "editor")
        with open(editor, "w", encoding="utf-8") as script:
            script.write("#!/bin/sh\nsed -i '/leaderElections/d' \"$1\"\n")
        os.chmod(editor, 0o755)
        self.heal("configuration", "leaderElections", environment={"KUBE_EDITOR": editor})
        file = os.path.join(self.folder, "config.yaml")
        with open(file, "w", encoding="utf-8") as out:
            out.write(good + "leaderElections: {}\n")
        self.heal("configuration", "leaderElections", "--config", file, environment={"EDITOR": editor})

    # ---- objects

    def test_62_a_job_that_runs_unadmitted(self):
        # It was made when the test began: one that is younger than half a minute may be about to be stopped, and is not told of.
        eventually(lambda: self.assertTrue(self.examine("--only", "jobs")[1]["findings"]), 90)
        self.heal("jobs", "has no Workload")
        self.kubectl("delete", "job", "free", "--cascade=background")

    def test_61_nodes_without_their_labels(self):
        levels = [{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]
        self.apply({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "tas"}, "spec": {"topologyName": "t", "nodeLabels": {"pool": "a"}}},
                   *[{"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{i}"}} for i in range(2)])
        self.heal("topologies", "names Topology t, which is not there", change=lambda line: line.replace("LEVEL", "rack"))
        self.assertEqual(json.loads(self.kubectl("get", "topologies.kueue.x-k8s.io", "t", "-o", "json"))["spec"]["levels"], levels)
        self.heal("topologies", "no node has its labels", severity="warning", change=lambda line: line.replace("NODE", "n0 n1"))
        self.heal("topologies", "label rack of Topology t", change=lambda line: line.replace("VALUE", "r1"))
        self.heal("topologies", "label kubernetes.io/hostname of Topology t")
        self.assertEqual(self.examine("--only", "topologies")[1]["findings"], [])
        # TAS-133: nobody but workloads of the flavor and daemons is meant to be there.
        self.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default"}, "spec": {"nodeName": "n0", "containers": [{"name": "c", "image": "i"}]}})
        document = self.examine("--only", "topologies")[1]
        self.assertEqual([f["severity"] for f in self.findings(document, "topologies", "default/web on n0")], ["warning"], document)
        self.assertIn("web", self.shell(self.command(document, "topologies", "default/web on n0")))
        self.kubectl("delete", "pod", "web", "--force")
        self.assertEqual(self.examine("--only", "topologies")[1]["findings"], [])
        self.kubectl("delete", "resourceflavor,topology.kueue.x-k8s.io", "--all")

    # ---- the log and the process, on the machine

    def test_70_the_log(self):
        log = os.path.join(self.folder, "try.db")
        run(ARGS.hindsight, "simulate", os.path.join(ROOT, "examples", "quickstart"), "--log", log)
        os.chmod(log, 0o644)
        self.heal("log", "has the mode 0644", "--log", log, severity="warning")
        self.assertEqual(stat.S_IMODE(os.stat(log).st_mode), 0o600)
        with open(os.path.join(self.folder, "text.db"), "w", encoding="utf-8") as out:
            out.write("no log\n" * 100)
        found = self.findings(self.examine("--only", "log", "--log", os.path.join(self.folder, "text.db"))[1], "log", "not a Hindsight log")
        self.assertEqual([f["severity"] for f in found], ["error"])

    def test_71_a_log_that_is_full(self):
        log = os.path.join(self.folder, "full.db")
        load, more = os.path.join(ROOT, "examples", "load"), os.path.join(self.folder, "generate.yaml")
        with open(os.path.join(load, "generate.yaml"), encoding="utf-8") as text, open(more, "w", encoding="utf-8") as out:
            out.write(text.read().replace("count: 60", "count: 200"))
        run(ARGS.hindsight, "simulate", os.path.join(load, "queues.yaml"), "--generate", more, "--log", log)
        used = os.stat(log).st_size
        limit = f"{max(used * 95 // 100, 1 << 20)}"
        self.heal("log", "it is full", "--log", log, "--log-limit", limit)

    def test_72_a_process(self):
        port = free_port()
        address = f"http://127.0.0.1:{port}"
        status, document = self.examine("--only", "process", "--server", address)
        self.assertEqual(status, 2)
        self.assertIn("curl", self.command(document, "process", "process at " + address))
        program = Program("hindsight", os.path.join(self.folder, "run.out"), ARGS.hindsight, "run", "--kubeconfig", self.kubeconfig, "--no-lease",
                          "--log", "sqlite:" + os.path.join(self.folder, "run.db"), "--http", f"127.0.0.1:{port}")
        self.addCleanup(program.kill)
        program.start()

        def well():
            status, document = self.examine("--only", "process,log", "--server", address, "--log", os.path.join(self.folder, "run.db"), "--log-limit", "8Gi")
            self.assertEqual((status, document["errors"]), (0, 0), json.dumps(document, indent=1))
            self.assertIn(" metrics", document["checks"][-1]["summary"])
        eventually(well)

    def test_73_nothing_was_written(self):
        """All that this test left behind was made by its own steps and commands: doctor itself asks and reviews."""
        before = self.kubectl("get", "deployments,configmaps,secrets,clusterroles,roles,crd,mutatingwebhookconfigurations,apiservices", "-A", "-o", "custom-columns=N:.metadata.name,V:.metadata.resourceVersion")
        self.examine()
        self.assertEqual(before, self.kubectl("get", "deployments,configmaps,secrets,clusterroles,roles,crd,mutatingwebhookconfigurations,apiservices", "-A", "-o", "custom-columns=N:.metadata.name,V:.metadata.resourceVersion"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("hindsight")
    ARGS, rest = parser.parse_known_args()
    ARGS.hindsight = os.path.abspath(ARGS.hindsight)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
