"""The controller of a release of Kueue, as its Deployment runs it: with its service account, its webhooks behind their Service, its lease.

No kubelet runs here, so the process is started by the test. In place of the pod's address an EndpointSlice leads to 127.0.0.1, so the cluster
needs --endpoint-routing; the Secret with the certificate of the webhooks, which Kueue fills, is put into files as a kubelet would mount it.
"""
import base64, json, os, re, sys, threading, time, urllib.request

import yaml

from steps import ROOT, Program, eventually, free_port, run

sys.path.insert(0, os.path.join(ROOT, "tests", "conformance", "tools"))
import drive  # noqa: E402

NAMESPACE = "kueue-system"
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:kueue-controller-manager"
SECRET = f"/api/v1/namespaces/{NAMESPACE}/secrets/kueue-webhook-server-cert"
BUILD_SECONDS_MAX = 3600
MOUNT_SECONDS = 0.2
READY_SECONDS_MAX = 120


def tool(name, folder):
    """Built when it is asked for: of the controller that takes minutes."""
    script = os.path.join(ROOT, "scripts", "tools.sh")
    run(script, "build", folder, timeout=BUILD_SECONDS_MAX)
    return run(script, "path", name).strip()


def version(folder):
    """Of Kueue, as this folder of tools/ has it."""
    with open(os.path.join(ROOT, "tools", folder, "go.mod"), encoding="utf-8") as file:
        return re.search(r"sigs\.k8s\.io/kueue (v\S+)", file.read()).group(1)


def manifests():
    """What `kubectl apply` gets of the release, as a list of objects."""
    if version("kueue") != version("kueue-manager"):
        raise ValueError(f"tools/kueue has {version('kueue')}, tools/kueue-manager {version('kueue-manager')}; allowed: the same")
    with open(tool("kueue-manifests.yaml", "kueue"), encoding="utf-8") as file:
        return [o for o in yaml.load_all(file, yaml.CSafeLoader) if o]


def account_kubeconfig(cluster, namespace, name, path):
    """A kubeconfig of a service account, with a token of it as a pod has one."""
    with open(cluster.kubeconfig, encoding="utf-8") as file:
        config = json.load(file)
    config["users"][0]["user"] = {"token": cluster.kubectl("create", "token", name, "-n", namespace, "--duration=6h").strip()}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file)
    return path


class Mount:
    """A Secret in a folder, kept as it is in the cluster."""

    def __init__(self, kubeconfig, path, folder):
        self.kubeconfig, self.path, self.folder = kubeconfig, path, folder
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        os.makedirs(folder, exist_ok=True)
        self.thread.start()

    def work(self):
        api = drive.Api(self.kubeconfig)
        while not self.over.wait(MOUNT_SECONDS):
            try:
                data = api.call("GET", self.path).get("data") or {}
            except (drive.ApiError, OSError):
                continue  # not there yet, or the server is not
            # The key goes first: who sees the certificate finds the key that belongs to it.
            for name in sorted(data, key=lambda n: n.endswith(".crt")):
                self.put(os.path.join(self.folder, name), base64.b64decode(data[name]))

    @staticmethod
    def put(path, content):
        if os.path.exists(path):
            with open(path, "rb") as file:
                if file.read() == content:
                    return
        with open(path + ".new", "wb") as file:
            file.write(content)
        os.replace(path + ".new", path)

    def close(self):
        self.over.set()
        self.thread.join()


class Kueue:
    """One Kueue; it may be stopped and started again, each time as a new pod of the Deployment."""

    def __init__(self, cluster, folder):
        self.cluster, self.folder = cluster, folder
        self.binary = tool("kueue-manager", "kueue-manager")
        self.starts = 0
        self.program = self.mount = None

    def output(self):
        return os.path.join(self.folder, f"kueue-{self.starts}.out")

    def start(self):
        """Returns after how many seconds it decides."""
        self.stop()
        self.starts += 1
        ports = {name: free_port() for name in ("health", "metrics", "webhook")}
        certificates = os.path.join(self.folder, f"kueue-{self.starts}-certificates")
        config = self.configuration(ports, certificates)
        kubeconfig = account_kubeconfig(self.cluster, NAMESPACE, "kueue-controller-manager", os.path.join(self.folder, f"kueue-{self.starts}.kubeconfig"))
        self.cluster.kubectl("apply", "-f", "-", input=json.dumps({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "FQDN",
            "metadata": {"name": "kueue-webhook-service", "namespace": NAMESPACE, "labels": {"kubernetes.io/service-name": "kueue-webhook-service"}},
            "endpoints": [{"addresses": ["127.0.0.1"], "conditions": {"ready": True}}], "ports": [{"name": "", "port": ports["webhook"], "protocol": "TCP"}]}))
        self.mount = Mount(self.cluster.kubeconfig, SECRET, certificates)
        self.program = Program("kueue", self.output(), self.binary, f"--config={config}", f"--kubeconfig={kubeconfig}", "--zap-log-level=2")
        self.program.start()
        begin = time.monotonic()
        eventually(lambda: self.ready(ports["health"]), READY_SECONDS_MAX)
        return time.monotonic() - begin

    def configuration(self, ports, certificates):
        """That of the ConfigMap in the cluster; its addresses are those of this process, which is no pod of its own."""
        live = json.loads(self.cluster.kubectl("get", "configmap", "kueue-manager-config", "-n", NAMESPACE, "-o", "json"))
        config = yaml.safe_load(live["data"]["controller_manager_config.yaml"])
        config["health"] = {"healthProbeBindAddress": f"127.0.0.1:{ports['health']}"}
        config["metrics"] = {"bindAddress": f"127.0.0.1:{ports['metrics']}"}
        config["webhook"] = {"host": "127.0.0.1", "port": ports["webhook"], "certDir": certificates}
        config["leaderElection"] = {**config["leaderElection"], "resourceNamespace": NAMESPACE}
        # Its server writes into a folder /visibility.
        config["featureGates"] = {**config.get("featureGates", {}), "VisibilityOnDemand": False}
        path = os.path.join(self.folder, f"kueue-{self.starts}.yaml")
        with open(path, "w", encoding="utf-8") as file:
            yaml.safe_dump(config, file)
        return path

    def ready(self, port):
        """Its webhooks answer, and it holds the lease, so it decides."""
        if not self.program.runs():
            raise RuntimeError(f"Kueue has ended: {self.program.said()[-4000:]}")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10):
                pass
        except OSError as error:  # among them every status but 200
            raise AssertionError(f"/readyz: {error}; {self.program.said()[-3000:]}") from error
        self.program.heard('"replica-role":"leader"')

    def stop(self):
        """SIGTERM. Returns the exit code, None if it did not run."""
        if self.mount is not None:
            self.mount.close()
            self.mount = None
        return self.program.stop() if self.program is not None else None
