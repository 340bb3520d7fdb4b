#!/usr/bin/env python3
"""Hindsight runs with exactly what the chart gives it: options, files, environment, and the rights of its service account.

usage: chart_test.py HINDSIGHT

The real helm installs the chart on a real API server, upgrades it and removes it. No kubelet runs here, so the test does what one would do with
the workloads as they stand in the API server then: it makes the files of their volumes from ConfigMaps and Secrets, runs the init containers,
then the container with its arguments and its environment, and EndpointSlices lead from the Services to its ports. Only paths and ports are
others. It logs in with a token of the service account, if the pod would have one. The audit log of the API server shows that nothing was
refused. Issue 21, section 2: "Hindsight run with exactly the flags, rights and files that the chart gives it".
"""
import argparse, base64, concurrent.futures, json, os, re, shutil, socket, ssl, sys, tempfile, unittest, urllib.error, urllib.request

import rights
from steps import ROOT, WAIT_SECONDS_MAX, Program, eventually, free_port, run
from visibility_test import job, kueue

sys.path.insert(0, os.path.join(ROOT, "tests", "deploy"))

import chart  # noqa: E402
from chart import CHART, NAMESPACE, merged, profile  # noqa: E402
from chart_pairs_test import OPERATOR, definition  # noqa: E402

ARGS = None
READERS = {"metrics": {"readers": [{"name": "prometheus", "namespace": "monitoring"}]}}
# Where the program listens that is not told by an option of the container: which port it is, and the option that says so.
LISTENS = {"--metrics": (8443, "--metrics-address"), "--webhooks": (9443, "--webhook-address"), "--visibility": (8082, "--visibility-address")}
SAYS_PORT = ("--http", "--probe-address", "--ui")


class Pod:
    """A pod of a workload as the API server has it, without a kubelet."""

    def __init__(self, test, kind, name, ordinal=0):
        self.test = test
        self.workload = test.get(kind, name, "-n", NAMESPACE)
        self.name = f"{name}-{ordinal}"
        self.folder = tempfile.mkdtemp(prefix=self.name + "-", dir=test.folder)
        self.spec = self.workload["spec"]["template"]["spec"]
        self.volumes = {volume["name"]: self.made(volume) for volume in self.spec["volumes"]}
        self.ports = {}  # of the container: where it listens here
        for container in self.spec.get("initContainers", []):
            words, environment = self.command(container)
            run(ARGS.hindsight, *words, env=environment, cwd=self.folder)
        words, environment = self.command(self.spec["containers"][0])
        self.program = Program(self.name, os.path.join(self.folder, "output"), "env", "-i", *[f"{k}={v}" for k, v in environment.items()], ARGS.hindsight, *words)
        test.addCleanup(self.program.kill)

    def made(self, volume):
        where = os.path.join(self.folder, "volumes", volume["name"])
        if "persistentVolumeClaim" in volume:
            claim = volume["persistentVolumeClaim"]["claimName"]
            self.test.get("persistentvolumeclaim", claim, "-n", NAMESPACE)
            where = os.path.join(self.test.folder, "claims", claim)
        os.makedirs(where, exist_ok=True)
        files = {}
        if "configMap" in volume:
            files = {name: text.encode() for name, text in self.test.get("configmap", volume["configMap"]["name"], "-n", NAMESPACE)["data"].items()}
        if "secret" in volume:
            files = {name: base64.b64decode(text) for name, text in self.test.get("secret", volume["secret"]["secretName"], "-n", NAMESPACE)["data"].items()}
        for name, content in files.items():
            with open(os.path.join(where, name), "wb") as out:
                out.write(content)
        return where

    def command(self, container):
        environment = {"PATH": os.environ["PATH"], "HOME": self.folder}
        given = {}
        for one in container.get("env", []):
            assert one["valueFrom"] == {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}, one
            given[one["name"]] = self.name
        mounts = {m["mountPath"]: self.volumes[m["name"]] for m in container.get("volumeMounts", [])}
        words = []
        for argument in container["args"]:
            argument = re.sub(r"\$\(([A-Z_]+)\)", lambda m: given[m.group(1)], argument)
            argument = moved(argument, mounts)
            option, _, value = argument.partition("=")
            if option in SAYS_PORT:
                host, _, port = value.rpartition(":")
                argument = f"{option}={host}:{self.port(int(port))}"
            words.append(argument)
            if option in LISTENS:
                port, says = LISTENS[option]
                words.append(f"{says}=:{self.port(port)}")
        if container["args"][0] == "run" and self.spec.get("automountServiceAccountToken", True):
            words += ["--kubeconfig", self.test.account(self.spec["serviceAccountName"])]
        return words, {**environment, **given}

    def port(self, number):
        return self.ports.setdefault(number, free_port())

    def start(self):
        self.program.start()
        return self

    def lead_services_here(self):
        """What the controller of endpoints would do with the address of a pod. One on the loopback is no legal one, unless it is called a name."""
        names = {p["name"]: p["containerPort"] for p in self.spec["containers"][0]["ports"]}
        slices = []
        for service in self.test.get("services", "-n", NAMESPACE)["items"]:
            if not service["spec"]["selector"].items() <= self.workload["spec"]["template"]["metadata"]["labels"].items():
                continue
            ports = [(p["name"], names.get(p["targetPort"], p["targetPort"])) for p in service["spec"]["ports"]]
            slices.append({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "FQDN",
                           "metadata": {"name": service["metadata"]["name"], "namespace": NAMESPACE, "labels": {"kubernetes.io/service-name": service["metadata"]["name"]}},
                           "endpoints": [{"addresses": ["127.0.0.1"], "conditions": {"ready": True}}],
                           "ports": [{"name": name, "port": self.port(number), "protocol": "TCP"} for name, number in ports]})
        self.test.apply(*slices)

    def ready(self):
        """As the kubelet asks: by the path and the port of the probe."""
        probe = self.spec["containers"][0]["readinessProbe"]["httpGet"]
        number = {p["name"]: p["containerPort"] for p in self.spec["containers"][0]["ports"]}[probe["port"]]

        def look():
            if not self.program.runs():
                raise RuntimeError(f"{self.name} has ended: {self.program.said()[-3000:]}")
            status, text = asked(f"http://127.0.0.1:{self.port(number)}{probe['path']}")
            self.test.assertEqual(status, 200, text)
        eventually(look)
        return self

    def stop(self):
        self.test.assertEqual(self.program.stop(), 0, self.program.said()[-3000:])


def moved(argument, mounts):
    """With the paths of volumes as they are here."""
    paths = "|".join(re.escape(path) for path in sorted(mounts, key=len, reverse=True))
    return re.sub(rf"(?<=[=:])({paths})(?=/|$)", lambda found: mounts[found.group(1)], argument) if paths else argument


def asked(url, token=None, trust=None):
    """Status and body; 0 where nobody answers. Without `trust` any certificate will do."""
    context = trust or ssl._create_unverified_context()
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        with urllib.request.urlopen(request, timeout=WAIT_SECONDS_MAX, context=context if url.startswith("https") else None) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()
    except (urllib.error.URLError, ConnectionError) as error:
        return 0, str(error)


class ChartTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.dev = os.path.join(ROOT, "dev")
        cls.cluster = os.path.join(cls.folder, "cluster")
        run(cls.dev, "cluster", "up", "--dir", cls.cluster, "--no-kwok", "--no-scheduler", "--endpoint-routing", "--audit")
        cls.addClassCleanup(run, cls.dev, "cluster", "down", "--dir", cls.cluster)
        cls.helm = chart.Helm(os.path.join(cls.cluster, "kubeconfig"))
        cls.heard = 0  # requests of the audit log that were looked at
        people = (("prometheus", "monitoring"), ("ann", "people"), ("admin", "people"))
        cls.apply(*[{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("monitoring", "people")],
                  *[{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}} for name, namespace in people],
                  *[definition(kind, properties) for kind, properties in OPERATOR.items()])
        cls.kubectl("create", "clusterrolebinding", "admin", "--clusterrole=cluster-admin", "--serviceaccount=people:admin")

    @classmethod
    def kubectl(cls, *words, **more):
        return run(cls.dev, "cluster", "kubectl", "--dir", cls.cluster, "--", *words, **more)

    @classmethod
    def get(cls, *words):
        said = cls.kubectl("get", *words, "-o", "json")
        return json.loads(said[said.index("{"):])

    @classmethod
    def apply(cls, *objects):
        cls.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def token(self, account, namespace):
        return self.kubectl("create", "token", account, "-n", namespace).split()[-1]

    def account(self, name):
        """A kubeconfig with what a pod would find: files with a token of the service account and with whom to trust."""
        folder = tempfile.mkdtemp(prefix="account-", dir=self.folder)
        shutil.copyfile(os.path.join(self.cluster, "pki", "ca.crt"), os.path.join(folder, "ca.crt"))
        with open(os.path.join(folder, "token"), "w", encoding="utf-8") as out:
            out.write(self.kubectl("create", "token", name, "-n", NAMESPACE, "--duration", "2h"))
        with open(os.path.join(self.cluster, "kubeconfig"), encoding="utf-8") as text:
            kubeconfig = json.load(text)
        kubeconfig["clusters"][0]["cluster"] = {"server": kubeconfig["clusters"][0]["cluster"]["server"], "certificate-authority": "ca.crt"}
        kubeconfig["users"][0]["user"] = {"tokenFile": "token"}
        path = os.path.join(folder, "kubeconfig")
        with open(path, "w", encoding="utf-8") as out:
            json.dump(kubeconfig, out)
        return path

    def release(self, command, values=None, *words):
        return self.helm(command, "hindsight", *([CHART] if values is not None else []), "--namespace", NAMESPACE, *words, values=values)

    def requests(self):
        """What the service account asked for since the last time."""
        found = list(rights.requests(os.path.join(self.cluster, "logs", "audit.log")))
        new, self.__class__.heard = found[self.heard:], len(found)
        self.assertGreater(len(new), 10)
        self.assertEqual(sorted({str(r) for r, allowed in new if not allowed}), [])
        return [r for r, _ in new]

    def suspended(self):
        return {j["metadata"]["name"]: j["spec"]["suspend"] for j in self.get("jobs", "-n", "default")["items"]}

    def metrics_are_shown(self, pod, trust=None):
        url = f"https://{'localhost' if trust else '127.0.0.1'}:{pod.port(8443)}/metrics"
        self.assertEqual(asked(url)[0], 401)
        self.assertEqual(asked(url, self.token("ann", "people"))[0], 403)

        def seen():
            status, text = asked(url, self.token("prometheus", "monitoring"))
            self.assertEqual(status, 200, text)
            self.assertIn("kueue_cluster_queue_status", text)
        eventually(seen)

    def test_0_the_program_takes_the_options_of_every_combination(self):
        """Of values in pairs, as far as a process gets without a cluster: to the API server that does not answer."""
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            server = f"https://127.0.0.1:{nobody.getsockname()[1]}"
            kubeconfig = os.path.join(self.folder, "nobody")
            with open(kubeconfig, "w", encoding="utf-8") as out:
                json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "n", "contexts": [{"name": "n", "context": {"cluster": "n", "user": "n"}}],
                           "clusters": [{"name": "n", "cluster": {"server": server}}], "users": [{"name": "n", "user": {"token": "t"}}]}, out)
            with concurrent.futures.ThreadPoolExecutor(4) as several:
                said = list(several.map(lambda case: self.tried(*case, kubeconfig), chart.cases()))
        self.assertGreater(len(said), 20)
        self.assertEqual([(name, text[-600:]) for name, text in said if f"cannot reach the API server {server} for 1 s" not in text], [])

    def tried(self, name, values, kubeconfig):
        folder = tempfile.mkdtemp(prefix="tried-", dir=self.folder)
        objects = self.helm.render(values)
        pod = next(o for o in objects if o["kind"] == "Deployment")["spec"]["template"]["spec"]
        files = {"config.yaml": next(o["data"]["config.yaml"] for o in objects if o["kind"] == "ConfigMap" and o["metadata"]["name"] == "hindsight-config"),
                 "kafka.properties": next((o["stringData"]["kafka.properties"] for o in objects if o["kind"] == "Secret"), "client.id=h\n")}
        for file, text in files.items():
            with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                out.write(text)
        run(ARGS.hindsight, "log", "key", os.path.join(folder, "key.pem"))
        words = []
        for argument in pod["containers"][0]["args"]:
            argument = moved(argument, {mount["mountPath"]: folder for mount in pod["containers"][0]["volumeMounts"]})
            option, _, value = argument.partition("=")
            words.append(f"{option}={value.rpartition(':')[0]}:0" if option in SAYS_PORT else argument)
            if option in LISTENS:
                words += [LISTENS[option][1], "127.0.0.1:0"]
        return name, run(ARGS.hindsight, *words, "--kubeconfig", kubeconfig, "--connect-timeout", "1", check=False, timeout=WAIT_SECONDS_MAX)

    # ---- one release in its life: each step goes on from the one before

    def test_1_default(self):
        self.release("install", merged(profile("default"), READERS), "--create-namespace")
        self.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd", "clusterqueues.kueue.x-k8s.io", "localqueues.kueue.x-k8s.io", "resourceflavors.kueue.x-k8s.io")
        quota = [{"coveredResources": ["cpu"], "flavors": [{"name": "any", "resources": [{"name": "cpu", "nominalQuota": "3"}]}]}]
        self.apply(kueue("ResourceFlavor", "any", {}), kueue("ClusterQueue", "cq", {"namespaceSelector": {}, "resourceGroups": quota}),
                   kueue("LocalQueue", "lq", {"clusterQueue": "cq"}, "default"), job("first", "lq"))
        pod = Pod(self, "deployment", "hindsight").start().ready()
        eventually(lambda: self.assertEqual(self.suspended(), {"first": False}))
        self.metrics_are_shown(pod)
        pod.stop()
        self.requests()

    def test_2_full_by_an_upgrade(self):
        self.release("upgrade", merged(profile("full"), READERS))
        pod = Pod(self, "deployment", "hindsight")
        pod.lead_services_here()
        pod.start().ready()
        eventually(lambda: pod.program.heard("webhooks are registered"))
        eventually(lambda: pod.program.heard("the visibility API is registered"))
        # Its log is the one from before: nothing that runs was stopped.
        self.assertEqual(self.suspended(), {"first": False})

        def judged():
            said = self.kubectl("create", "-f", "-", check=False, input=json.dumps(kueue("ResourceFlavor", "bad", {"nodeLabels": {"a b": "c"}})))
            self.assertIn('admission webhook "vresourceflavor.kb.io" denied the request: spec.nodeLabels', said)
        eventually(judged)
        second = job("second", "lq")
        second["spec"]["suspend"] = False  # the webhook suspends it before it starts
        self.kubectl("create", "-f", "-", input=json.dumps(second))

        def pending():
            said = json.loads(self.kubectl("get", "--raw", "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/cq/pendingworkloads"))["items"]
            self.assertEqual([w["metadata"]["ownerReferences"][0]["name"] for w in said], ["second"])
        eventually(pending)
        self.assertEqual(self.suspended(), {"first": False, "second": True})
        self.metrics_are_shown(pod)
        self.page_is_shown(pod)
        pod.stop()
        self.requests()

    def page_is_shown(self, pod):
        url = f"https://127.0.0.1:{pod.port(8444)}/api/v1/"
        self.assertEqual(asked(url + "log")[0], 401)

        def seen():
            status, text = asked(url + "log", self.token("admin", "people"))
            self.assertEqual(status, 200, text)
        eventually(seen)

    def test_3_certificates_of_somebody_else(self):
        """Each certificate comes from a Secret, the checkpoints are signed, and settings of the configuration and of the log are others."""
        authority = self.authority()
        hosts = {"metrics": "hindsight", "page": "hindsight", "webhooks": "hindsight-webhook-service", "visibility": "hindsight-visibility-server"}
        for name, host in hosts.items():
            self.secret(f"given-{name}", self.certificate(authority, f"{host}.{NAMESPACE}.svc"))
        key_file = os.path.join(self.folder, "key.pem")
        run(ARGS.hindsight, "log", "key", key_file)
        with open(key_file, encoding="utf-8") as text:
            self.secret("given-key", {"key.pem": text.read()})
        certificates = {name: {"certSecret": f"given-{name}"} for name in hosts}
        self.release("upgrade", merged(merged(profile("full"), READERS), {
            **certificates, "log": {"checkpointKeySecret": "given-key", "keepHistory": "", "sqlite": {"durability": "normal", "limit": "1Gi"}},
            "page": {"certSecret": "given-page", "hostNames": ["localhost"], "states": 2}, "logLevel": "debug", "extraArgs": ["--max-in-flight=16"],
            "metrics": merged(READERS["metrics"], {"certSecret": "given-metrics"}), "configuration": {"hindsight": {"maxOptions": 4}, "featureGates": {"ConcurrentAdmission": True}}}))
        pod = Pod(self, "deployment", "hindsight")
        pod.lead_services_here()
        pod.start().ready()

        def trusted():
            told = []
            for kind in ("mutating", "validating"):
                told += [hook["clientConfig"]["caBundle"] for hook in self.get(f"{kind}webhookconfiguration", f"hindsight-{kind}-webhook-configuration")["webhooks"]]
            told.append(self.get("apiservice", "v1beta2.visibility.kueue.x-k8s.io")["spec"]["caBundle"])
            self.assertEqual({base64.b64decode(text).decode().strip() for text in told}, {authority[1].strip()})
        eventually(trusted)
        eventually(lambda: self.assertIn("resource-in-use", self.kubectl(
            "create", "-f", "-", "-o", "json", "--dry-run=server", input=json.dumps(kueue("ResourceFlavor", "probe", {})), check=False)))
        eventually(lambda: self.assertIn("second", self.kubectl("get", "--raw", "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/cq/pendingworkloads", check=False)))
        trust = ssl.create_default_context(cadata=authority[1])
        self.assertEqual(asked(f"https://localhost:{pod.port(8443)}/metrics", trust=trust)[0], 401)
        self.assertEqual(asked(f"https://localhost:{pod.port(8444)}/api/v1/log", trust=trust)[0], 401)
        pod.stop()
        self.requests()

    def authority(self):
        path = os.path.join(self.folder, "authority")
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=somebody", "-days", "2", "-keyout", path + ".key", "-out", path + ".crt")
        with open(path + ".crt", encoding="utf-8") as text:
            return path, text.read()

    def certificate(self, authority, host):
        path = os.path.join(self.folder, "leaf")
        run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host},DNS:localhost", "-keyout", path + ".key", "-out", path + ".csr")
        run("openssl", "x509", "-req", "-in", path + ".csr", "-CA", authority[0] + ".crt", "-CAkey", authority[0] + ".key", "-days", "2", "-copy_extensions", "copy", "-out", path + ".crt")
        out = {"ca.crt": authority[1]}
        for name, file in (("tls.crt", ".crt"), ("tls.key", ".key")):
            with open(path + file, encoding="utf-8") as text:
                out[name] = text.read()
        return out

    def secret(self, name, files):
        self.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": NAMESPACE}, "stringData": files})

    def test_4_removed_as_the_readme_says(self):
        self.release("upgrade", merged(profile("default"), READERS))
        self.assertEqual(self.kubectl("get", "validatingwebhookconfiguration", "-o", "name").strip(), "")
        self.kubectl("patch", *self.kubectl("get", "crd", "-o", "name").split(), "--type=json", "-p", '[{"op": "add", "path": "/spec/conversion", "value": {"strategy": "None"}}]')
        self.assertIn("hindsight-log", self.release("uninstall"))
        # Who needs no answer from Hindsight gets on without it.
        self.kubectl("annotate", "clusterqueue", "cq", "example.org/touched=yes")
        self.get("clusterqueues.v1beta1.kueue.x-k8s.io", "cq")
        self.assertEqual(self.suspended(), {"first": False, "second": True})

    def test_5_kafka(self):
        kafka_folder = os.path.join(self.folder, "kafka")

        def kafka(command):
            return run(os.path.join(ROOT, "scripts", "kafka.py"), command, "--dir", kafka_folder).strip().splitlines()[-1]
        brokers = kafka("up")
        self.addClassCleanup(kafka, "down")
        self.secret("hindsight-kafka", {"kafka.properties": "patience.ms=20000\nbroker.address.family=v4\nreplication.factor=1\n"})
        self.release("install", merged(merged(profile("kafka"), READERS), {"log": {"kafka": {"brokers": brokers.split(",")}}}))
        nodes = [Pod(self, "statefulset", "hindsight-node", n).start() for n in range(2)]
        leader = Pod(self, "deployment", "hindsight", 0).start()
        eventually(lambda: leader.program.heard("the lease is ours"))
        standby = Pod(self, "deployment", "hindsight", 1).start()
        for pod in (*nodes, leader):
            pod.ready()
        self.kubectl("delete", "job", "first", "-n", "default", "--wait=false")
        eventually(lambda: self.assertEqual(self.suspended().get("second"), False))
        self.metrics_are_shown(leader)
        # Else no update of the Deployment would come to its end, and no node of the leader could be drained.
        standby.ready()
        for pod in (standby, leader, *nodes):
            pod.stop()
        self.requests()
        self.release("uninstall")

    def test_6_observe(self):
        self.kubectl("delete", "jobs", "--all", "-n", "default")
        self.release("install", merged(profile("observe"), READERS))
        self.kubectl("create", "-f", "-", input=json.dumps(job("third", "lq")))
        pod = Pod(self, "deployment", "hindsight").start().ready()
        self.metrics_are_shown(pod)
        log = os.path.join(self.folder, "claims", "hindsight-observe-log", "log.db")
        eventually(lambda: self.assertIn("third", run(ARGS.hindsight, "log", "cat", "--log", log)))
        pod.stop()
        self.assertEqual(self.suspended(), {"third": True})
        asks = {"tokenreviews", "subjectaccessreviews"}
        self.assertEqual(sorted({str(r) for r in self.requests() if r.verb not in ("get", "list", "watch") and r.resource not in asks}), [])
        self.release("uninstall")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    ARGS, rest = parser.parse_known_args()
    ARGS.hindsight = os.path.abspath(ARGS.hindsight)
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
