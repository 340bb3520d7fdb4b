#!/usr/bin/python3
"""Runs a real Kubernetes control plane on 127.0.0.1, with KWOK in place of machines.

    cluster.py up [--dir D] [--nodes N] [--no-kwok] [--no-controller-manager] [--no-scheduler] [--feature-gates X] [--runtime-config X]
                  [--endpoint-routing] [--audit] [--audit-writes] [--emulated-version V] [--admission-plugins X] [--no-admission-plugins X]
    cluster.py down [--dir D] [--keep]      stop everything; --keep leaves the data for the next up
    cluster.py status [--dir D] [-o json]   what runs where; status 1 if a part is down
    cluster.py stop|start COMPONENT [--dir D]
    cluster.py compact [--dir D] [--expire-watches]
                                            compact etcd at its current revision. The API server still answers older revisions from its
                                            cache; with --expire-watches it restarts, and watches from before the restart answer 410
    cluster.py kubectl [--dir D] -- ARGS    kubectl as admin

COMPONENT: etcd, apiserver, controller-manager, scheduler, kwok.

All state lies in D (default build/cluster): kubeconfig (admin), hindsight.kubeconfig (user hindsight, cluster-admin), logs/, pids/, etcd/.
Each D is a cluster of its own with its own ports, so tests run theirs side by side. The binaries come from scripts/tools.sh.
Nodes are called node-0..node-(N-1); the first half has the label pool=a, the other pool=b; each has 32 cpu and 128Gi. kwok-stages.yaml
says how pods run and which annotations steer them. Data is not flushed to disk on purpose (tests are fast, a power cut loses it).
"""

import argparse
import base64
import csv
import fcntl
import http.client
import json
import os
import random
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from ports import free_ports

ROOT = Path(__file__).resolve().parent.parent

# In the order of starting. kube-apiserver does not end on SIGTERM once its etcd is gone, so stopping goes backwards.
COMPONENTS = ["etcd", "apiserver", "controller-manager", "scheduler", "kwok"]
BINARY = {
    "etcd": "etcd",
    "apiserver": "kube-apiserver",
    "controller-manager": "kube-controller-manager",
    "scheduler": "kube-scheduler",
    "kwok": "kwok",
}

READY_SECONDS_MAX = 240
STOP_SECONDS_MAX = 30

# What batch work needs. Left out: everything about cloud providers, volumes, certificates and services.
CONTROLLERS = [
    "clusterrole-aggregation-controller",
    "cronjob-controller",
    "deployment-controller",
    "disruption-controller",
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "resourcequota-controller",
    "serviceaccount-controller",
    "statefulset-controller",
    "ttl-after-finished-controller",
]
# Without KWOK nobody renews node leases, and these two would mark hand-made nodes as lost.
NODE_CONTROLLERS = ["node-lifecycle-controller", "taint-eviction-controller"]


class ClusterError(Exception):
    """Something a user can act on; the message says what."""


def say(text):
    print(f"cluster: {text}", file=sys.stderr, flush=True)


# ---------------------------------------------------------------- processes


def start_ticks(pid):
    """Start time of a live process in clock ticks since boot; None for a dead one or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def identity(pid):
    return {"boot": Path("/proc/sys/kernel/random/boot_id").read_text().strip(), "pid": pid, "start_ticks": start_ticks(pid)}


class Process:
    """One component's process, remembered in a file by boot, pid and start time: together no other process has them."""

    def __init__(self, state_dir, name):
        self.dir = state_dir
        self.file = state_dir / "pids" / f"{name}.json"
        self.log = state_dir / "logs" / f"{name}.log"

    def pid(self):
        """The pid if the process lives and is ours, else None."""
        try:
            record = json.loads(self.file.read_text())
        except FileNotFoundError:
            return None
        found = identity(record["pid"])
        return record["pid"] if found["start_ticks"] is not None and found == record else None

    def start(self, command):
        with self.log.open("ab") as log:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=self.dir)
        self.file.write_text(json.dumps(identity(child.pid)))

    def stop(self):
        pid = self.pid()
        if pid is not None:
            os.kill(pid, signal.SIGTERM)
            if not wait_until(lambda: self.pid() is None, STOP_SECONDS_MAX, 0.05):
                say(f"process {pid} did not end in {STOP_SECONDS_MAX} s; killing it")
                os.kill(pid, signal.SIGKILL)
                wait_until(lambda: self.pid() is None, STOP_SECONDS_MAX, 0.05)
        self.file.unlink(missing_ok=True)

    def log_tail(self, lines=12):
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        except FileNotFoundError:
            return "(no log)"


def wait_until(condition, seconds, pause):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
    return True


# ---------------------------------------------------------------- the API server's client


class Api:
    """A connection to the API server as admin. Not connected until the first request."""

    def __init__(self, port, ca_file, token):
        self.port, self.ca_file, self.token = port, ca_file, token
        self.connection = None

    def request(self, method, path, body=None):
        """Status and body; raises OSError when the server cannot be reached."""
        if self.connection is None:
            context = ssl.create_default_context(cafile=self.ca_file)
            self.connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=10, context=context)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        try:
            self.connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            response = self.connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            self.connection = None
            raise OSError(str(error)) from error

    def ok(self, path):
        try:
            return self.request("GET", path)[0] == 200
        except OSError:
            return False

    def create(self, path, body):
        """Creates an object; one that exists already stays as it is."""
        status, answer = self.request("POST", path, body)
        if status not in (200, 201, 409):
            raise ClusterError(f"POST {path} ({body['metadata']['name']}): status {status}: {answer.decode(errors='replace')[:400]}")


def answers(url):
    """Whether an HTTP(S) health address on loopback says 200. Its certificate is self-made and not looked at."""
    try:
        with urllib.request.urlopen(url, timeout=5, context=ssl._create_unverified_context()) as response:
            return response.status == 200
    except OSError:
        return False


# ---------------------------------------------------------------- the cluster


class Cluster:
    def __init__(self, state_dir):
        self.dir = Path(state_dir).resolve()
        self.settings_file = self.dir / "cluster.json"
        self.settings = json.loads(self.settings_file.read_text()) if self.settings_file.exists() else None
        self.audit_log = self.dir / "logs" / "audit.log"
        self.processes = {name: Process(self.dir, name) for name in COMPONENTS}
        self.admin = None

    # ------------------------------------------------------------ files

    def create_files(self, options):
        """Ports, tokens, certificates and kubeconfigs of a new cluster."""
        for folder in ("pids", "logs", "pki"):
            (self.dir / folder).mkdir(parents=True, exist_ok=True)
        self.dir.chmod(0o700)
        names = ["etcd", "etcd-peer", "apiserver", "controller-manager", "scheduler", "kwok"]
        settings = {"options": options, "ports": dict(zip(names, free_ports(len(names), self.dir / "pids")))}

        # user -> groups. The controller manager works with its own rights only, hence the strong group.
        users = {
            "admin": "system:masters",
            "system:kube-controller-manager": "system:masters",
            "system:kube-scheduler": "",
            "kwok": "system:masters",
            "hindsight": "",
        }
        settings["tokens"] = {user: secrets.token_hex(16) for user in users}
        with self.private_file("tokens.csv") as file:
            writer = csv.writer(file)
            for user, groups in users.items():
                writer.writerow([settings["tokens"][user], user, user, groups])

        self.create_certificates()
        self.settings = settings
        for name, user in [
            ("kubeconfig", "admin"),
            ("hindsight.kubeconfig", "hindsight"),
            ("controller-manager.kubeconfig", "system:kube-controller-manager"),
            ("scheduler.kubeconfig", "system:kube-scheduler"),
            ("kwok.kubeconfig", "kwok"),
        ]:
            self.create_kubeconfig(name, user)
        with self.private_file("scheduler.json") as file:
            json.dump(
                {
                    "apiVersion": "kubescheduler.config.k8s.io/v1",
                    "kind": "KubeSchedulerConfiguration",
                    "leaderElection": {"leaderElect": False},
                    "clientConnection": {"kubeconfig": str(self.dir / "scheduler.kubeconfig"), "qps": 1000, "burst": 2000},
                },
                file,
            )
        with self.private_file("audit.json") as file:
            groups = [{"group": "kueue.x-k8s.io"}, {"group": "batch"}]
            bodies = [{"level": "Request", "verbs": ["create", "update", "patch"], "resources": groups}] if options.get("audit_writes") else []
            policy = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [*bodies, {"level": "Metadata"}]}
            json.dump(policy, file)
        # Last: a cluster.json says that all other files are complete.
        with self.private_file("cluster.json") as file:
            json.dump(settings, file, indent=2)

    def private_file(self, name):
        return open(os.open(self.dir / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8")

    def create_certificates(self):
        pki = self.dir / "pki"

        def openssl(*arguments):
            run = subprocess.run(["openssl", *arguments], cwd=pki, capture_output=True, text=True, check=False)
            if run.returncode != 0:
                raise ClusterError(f"openssl {' '.join(arguments)}: {run.stderr.strip()}")

        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.crt", "-days", "3650", "-subj", "/CN=hindsight-local-ca")
        openssl("req", *key, "-keyout", "apiserver.key", "-out", "apiserver.csr", "-subj", "/CN=kube-apiserver")
        (pki / "apiserver.ext").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc\n")
        openssl(
            *["x509", "-req", "-in", "apiserver.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"],
            *["-extfile", "apiserver.ext", "-days", "3650", "-out", "apiserver.crt"],
        )
        # The front proxy, as which the API server shows itself to aggregated API servers, has an authority of its own.
        openssl("req", "-x509", *key, "-keyout", "proxy-ca.key", "-out", "proxy-ca.crt", "-days", "3650", "-subj", "/CN=hindsight-local-proxy-ca")
        openssl("req", *key, "-keyout", "proxy-client.key", "-out", "proxy-client.csr", "-subj", "/CN=front-proxy-client")
        (pki / "proxy-client.ext").write_text("extendedKeyUsage=clientAuth\n")
        openssl(
            *["x509", "-req", "-in", "proxy-client.csr", "-CA", "proxy-ca.crt", "-CAkey", "proxy-ca.key", "-CAcreateserial"],
            *["-extfile", "proxy-client.ext", "-days", "3650", "-out", "proxy-client.crt"],
        )
        openssl("genrsa", "-out", "service-account.key", "2048")

    def create_kubeconfig(self, name, user):
        authority = base64.b64encode((self.dir / "pki" / "ca.crt").read_bytes()).decode()
        server = f"https://127.0.0.1:{self.settings['ports']['apiserver']}"
        with self.private_file(name) as file:
            # JSON is YAML; kubeconfig readers take either.
            json.dump(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "clusters": [{"name": "local", "cluster": {"server": server, "certificate-authority-data": authority}}],
                    "users": [{"name": user, "user": {"token": self.settings["tokens"][user]}}],
                    "contexts": [{"name": "local", "context": {"cluster": "local", "user": user}}],
                    "current-context": "local",
                },
                file,
                indent=2,
            )

    # ------------------------------------------------------------ components

    def wanted(self):
        options = self.settings["options"]
        return [name for name in COMPONENTS if options.get(name, True)]

    def command(self, name):
        ports, options = self.settings["ports"], self.settings["options"]
        pki = self.dir / "pki"
        gates = [f"--feature-gates={options['feature_gates']}"] if options["feature_gates"] else []
        emulated = [f"--emulated-version={options['emulated_version']}"] if options.get("emulated_version") else []
        peer = f"http://127.0.0.1:{ports['etcd-peer']}"
        client = f"http://127.0.0.1:{ports['etcd']}"
        arguments = {
            "etcd": [
                f"--data-dir={self.dir / 'etcd'}",
                f"--listen-client-urls={client}",
                f"--advertise-client-urls={client}",
                f"--listen-peer-urls={peer}",
                f"--initial-advertise-peer-urls={peer}",
                f"--initial-cluster=default={peer}",
                "--unsafe-no-fsync",
                "--quota-backend-bytes=8589934592",
                "--log-level=warn",
            ],
            "apiserver": [
                f"--etcd-servers={client}",
                "--bind-address=127.0.0.1",
                # Nobody reaches the service network, so no endpoint is kept; the address only has to be a legal one.
                "--advertise-address=192.0.2.1",
                "--endpoint-reconciler-type=none",
                "--shutdown-watch-termination-grace-period=2s",
                f"--secure-port={ports['apiserver']}",
                f"--cert-dir={pki}",
                f"--tls-cert-file={pki / 'apiserver.crt'}",
                f"--tls-private-key-file={pki / 'apiserver.key'}",
                "--service-account-issuer=https://kubernetes.default.svc",
                f"--service-account-key-file={pki / 'service-account.key'}",
                f"--service-account-signing-key-file={pki / 'service-account.key'}",
                f"--token-auth-file={self.dir / 'tokens.csv'}",
                f"--requestheader-client-ca-file={pki / 'proxy-ca.crt'}",
                "--requestheader-allowed-names=front-proxy-client",
                "--requestheader-username-headers=X-Remote-User",
                "--requestheader-group-headers=X-Remote-Group",
                "--requestheader-extra-headers-prefix=X-Remote-Extra-",
                f"--proxy-client-cert-file={pki / 'proxy-client.crt'}",
                f"--proxy-client-key-file={pki / 'proxy-client.key'}",
                "--authorization-mode=RBAC",
                # Pods need no token here; nothing of them runs.
                "--disable-admission-plugins=" + ",".join(["ServiceAccount", *filter(None, [options.get("no_admission_plugins")])]),
                "--service-cluster-ip-range=10.0.0.0/16",
                "--max-requests-inflight=2000",
                "--max-mutating-requests-inflight=1000",
                *([f"--runtime-config={options['runtime_config']}"] if options["runtime_config"] else []),
                *(["--enable-aggregator-routing=true"] if options.get("endpoint_routing") else []),
                # Written before the answer goes out, so that who has the answer finds it there.
                *([f"--audit-policy-file={self.dir / 'audit.json'}", f"--audit-log-path={self.audit_log}", "--audit-log-mode=blocking-strict"]
                  if options.get("audit") or options.get("audit_writes") else []),
                *([f"--enable-admission-plugins={options['admission_plugins']}"] if options.get("admission_plugins") else []),
                *emulated,
                *gates,
            ],
            "controller-manager": [
                f"--kubeconfig={self.dir / 'controller-manager.kubeconfig'}",
                "--bind-address=127.0.0.1",
                f"--secure-port={ports['controller-manager']}",
                "--leader-elect=false",
                f"--controllers={','.join(CONTROLLERS + (NODE_CONTROLLERS if options['kwok'] else []))}",
                "--kube-api-qps=1000",
                "--kube-api-burst=2000",
                "--concurrent-job-syncs=20",
                "--concurrent-gc-syncs=20",
                *([f"--node-monitor-grace-period={options['node_lease_seconds'] + 10}s"] if options.get("node_lease_seconds") else []),
                *emulated,
                *gates,
            ],
            "scheduler": [
                f"--config={self.dir / 'scheduler.json'}",
                "--bind-address=127.0.0.1",
                f"--secure-port={ports['scheduler']}",
                *emulated,
                *gates,
            ],
            "kwok": [
                f"--kubeconfig={self.dir / 'kwok.kubeconfig'}",
                f"--config={ROOT / 'scripts' / 'kwok-stages.yaml'}",
                "--manage-all-nodes=true",
                f"--node-lease-duration-seconds={options.get('node_lease_seconds') or 40}",
                "--node-ip=127.0.0.1",
                "--cidr=10.128.0.0/9",
                f"--server-address=127.0.0.1:{ports['kwok']}",
            ],
        }
        return [tool(BINARY[name]), *arguments[name]]

    def api(self):
        if self.admin is None:
            self.admin = Api(self.settings["ports"]["apiserver"], self.dir / "pki" / "ca.crt", self.settings["tokens"]["admin"])
        return self.admin

    def is_ready(self, name):
        port = self.settings["ports"][name]
        if name == "etcd":
            return answers(f"http://127.0.0.1:{port}/readyz")
        if name == "apiserver":
            return self.api().ok("/readyz") and self.api().ok("/api/v1/namespaces/default")
        if name == "kwok":
            return answers(f"http://127.0.0.1:{port}/healthz")
        return answers(f"https://127.0.0.1:{port}/healthz")

    def start(self, names):
        """Starts those of the named components that do not run, each when the one before it is ready."""
        for name in names:
            process = self.processes[name]
            if process.pid() is not None:
                continue
            begin = time.monotonic()
            process.start(self.command(name))
            # The last three do not depend on each other: wait for them together.
            if name in ("etcd", "apiserver"):
                self.wait_ready(name)
                say(f"{name} is ready after {time.monotonic() - begin:.1f} s")
        for name in names:
            self.wait_ready(name)

    def wait_ready(self, name):
        process = self.processes[name]
        if not wait_until(lambda: process.pid() is None or self.is_ready(name), READY_SECONDS_MAX, 0.1) or process.pid() is None:
            found = "ended" if process.pid() is None else f"was not ready within {READY_SECONDS_MAX} s"
            raise ClusterError(f"{name} {found}; the end of {process.log}:\n{process.log_tail()}")

    def stop(self, names):
        for name in reversed(names):
            self.processes[name].stop()

    # ------------------------------------------------------------ objects

    def create_objects(self):
        self.api().create(
            "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
            {
                "metadata": {"name": "hindsight-local-admin"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "hindsight"}],
            },
        )
        if not self.settings["options"]["kwok"]:
            return
        count = self.settings["options"]["nodes"]
        for index in range(count):
            self.api().create("/api/v1/nodes", node(index, count))

        def all_ready():
            status, body = self.api().request("GET", "/api/v1/nodes")
            nodes = json.loads(body)["items"] if status == 200 else []
            return sum(is_usable(item) for item in nodes) >= count

        if not wait_until(all_ready, READY_SECONDS_MAX, 0.2):
            raise ClusterError(f"not all of {count} nodes became ready; see {self.processes['kwok'].log}")

    def compact(self):
        """Compacts etcd at its current revision and returns that revision."""

        def call(method, body):
            url = f"http://127.0.0.1:{self.settings['ports']['etcd']}/v3/kv/{method}"
            try:
                with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode()), timeout=60) as response:
                    return json.load(response)
            except OSError as error:
                raise ClusterError(f"etcd at {url}: {error}; allowed: a running cluster") from error

        key = base64.b64encode(b"\0").decode()
        revision = int(call("range", {"key": key, "count_only": True})["header"]["revision"])
        call("compaction", {"revision": revision, "physical": True})
        return revision


def node(index, count):
    """One of `count` nodes: two pools, and a topology of blocks and racks with at most four nodes a rack and two racks a block."""
    name = f"node-{index}"
    resources = {"cpu": "32", "memory": "128Gi", "ephemeral-storage": "1Ti", "pods": "110"}
    return {
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "type": "kwok",
                "pool": "a" if index * 2 < count else "b",
                "topology.hindsight.dev/block": f"block-{index // 8}",
                "topology.hindsight.dev/rack": f"rack-{index // 4}",
            },
        },
        "status": {"capacity": resources, "allocatable": resources},
    }


def is_usable(item):
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in item["status"].get("conditions", []))
    return ready and not item["spec"].get("taints")


def tool(binary):
    run = subprocess.run([ROOT / "scripts" / "tools.sh", "path", binary], stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        raise ClusterError(f"{binary} is not built; run ./dev cluster up, or scripts/tools.sh build")
    return run.stdout.strip()


# ---------------------------------------------------------------- commands


def require_settings(cluster):
    if cluster.settings is None:
        raise ClusterError(f"there is no cluster in {cluster.dir}; run ./dev cluster up --dir {cluster.dir}")


def command_up(cluster, arguments):
    defaults = {"nodes": 4, "node_lease_seconds": None, "kwok": True, "controller-manager": True, "scheduler": True, "feature_gates": "", "runtime_config": "",
                "endpoint_routing": False, "audit": False, "audit_writes": False, "emulated_version": "", "admission_plugins": "", "no_admission_plugins": ""}
    given = {key: getattr(arguments, key.replace("-", "_")) for key in defaults if getattr(arguments, key.replace("-", "_")) is not None}
    if cluster.settings is not None:
        for key, value in given.items():
            present = cluster.settings["options"].get(key, defaults[key])
            if present != value:
                raise ClusterError(
                    f"the cluster in {cluster.dir} has {key}={present}, asked for is {value};"
                    " allowed: the same, or './dev cluster down' first"
                )
    if subprocess.run([ROOT / "scripts" / "tools.sh", "build"], check=False).returncode != 0:
        raise ClusterError("the tools could not be built; see the messages above")
    begin = time.monotonic()
    if cluster.settings is None:
        cluster.create_files({**defaults, **given})
    running_before = [name for name in COMPONENTS if cluster.processes[name].pid() is not None]
    try:
        cluster.start(cluster.wanted())
        cluster.create_objects()
    except BaseException:
        cluster.stop([name for name in COMPONENTS if name not in running_before])
        raise
    say(f"ready in {time.monotonic() - begin:.1f} s; export KUBECONFIG={cluster.dir / 'kubeconfig'}")
    print(cluster.dir / "kubeconfig")


def command_down(cluster, arguments):
    cluster.stop(COMPONENTS)
    if cluster.settings is None:
        say(f"there is no cluster in {cluster.dir}")
        return
    if arguments.keep:
        say(f"stopped; the data is kept in {cluster.dir}")
        return
    # By name: --dir may be a folder that holds more than the cluster.
    for name in ("etcd", "pids", "logs", "pki"):
        shutil.rmtree(cluster.dir / name, ignore_errors=True)
    for file in [*cluster.dir.glob("*kubeconfig"), cluster.dir / "tokens.csv", cluster.dir / "scheduler.json", cluster.dir / "audit.json", cluster.settings_file]:
        file.unlink(missing_ok=True)
    say(f"stopped, data removed from {cluster.dir}")


def command_status(cluster, arguments):
    require_settings(cluster)
    rows = []
    for name in cluster.wanted():
        pid = cluster.processes[name].pid()
        state = "down" if pid is None else "ready" if cluster.is_ready(name) else "not ready"
        rows.append({"component": name, "state": state, "pid": pid, "port": cluster.settings["ports"][name]})
    if arguments.output == "json":
        where = {"dir": str(cluster.dir), "kubeconfig": str(cluster.dir / "kubeconfig"), "ca": str(cluster.dir / "pki" / "ca.crt")}
        print(json.dumps({**where, "options": cluster.settings["options"], "components": rows}, indent=2))
    else:
        print(f"{'COMPONENT':<20} {'STATE':<10} {'PID':<8} PORT")
        for row in rows:
            print(f"{row['component']:<20} {row['state']:<10} {row['pid'] or '-':<8} {row['port']}")
        print(f"kubeconfig: {cluster.dir / 'kubeconfig'}")
    if any(row["state"] != "ready" for row in rows):
        sys.exit(1)


def command_start_stop(cluster, arguments):
    require_settings(cluster)
    if arguments.component not in cluster.wanted():
        raise ClusterError(f"component '{arguments.component}' is not part of this cluster; allowed: {', '.join(cluster.wanted())}")
    if arguments.command == "stop":
        cluster.stop([arguments.component])
    else:
        cluster.start([arguments.component])
    say(f"{arguments.component}: {'stopped' if arguments.command == 'stop' else 'ready'}")


def command_compact(cluster, arguments):
    require_settings(cluster)
    if arguments.expire_watches:
        cluster.stop(["apiserver"])
    revision = cluster.compact()
    say(f"compacted at revision {revision}")
    if arguments.expire_watches:
        cluster.start(["apiserver"])
    print(revision)


def command_kubectl(cluster, arguments):
    require_settings(cluster)
    words = arguments.words[1:] if arguments.words[:1] == ["--"] else arguments.words
    binary = tool("kubectl")
    os.execv(binary, [binary, f"--kubeconfig={cluster.dir / 'kubeconfig'}", *words])


def parse():
    parser = argparse.ArgumentParser(prog="./dev cluster", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name, function, **options):
        sub = commands.add_parser(name, **options)
        sub.add_argument("--dir", default=str(ROOT / "build" / "cluster"), help="where the cluster's state lies")
        sub.set_defaults(function=function)
        return sub

    up = command("up", command_up)
    up.add_argument("--nodes", type=int, default=None, help="number of KWOK nodes (default 4)")
    up.add_argument("--node-lease-seconds", type=int, default=None, help="how long a KWOK node may be silent (default 40); thousands of them keep a server busy")
    up.add_argument("--no-kwok", dest="kwok", action="store_false", default=None)
    up.add_argument("--no-controller-manager", dest="controller_manager", action="store_false", default=None)
    up.add_argument("--no-scheduler", dest="scheduler", action="store_false", default=None)
    up.add_argument("--feature-gates", default=None, help="for all Kubernetes components, as A=true,B=false")
    up.add_argument("--runtime-config", default=None, help="for the API server, as api/all=true")
    routing = "the API server reaches Services (webhooks, aggregated APIs) by their EndpointSlices; nobody here stands behind the service network"
    up.add_argument("--endpoint-routing", action="store_true", default=None, help=routing)
    up.add_argument("--audit", action="store_true", default=None, help="the API server writes who asked for what, and why it was allowed, to logs/audit.log")
    up.add_argument("--audit-writes", action="store_true", default=None, help="as --audit, with what was written of Jobs and of objects of the Kueue API")
    up.add_argument("--admission-plugins", default=None, help="for the API server, beside those that are on by default: A,B")
    up.add_argument("--no-admission-plugins", default=None, help="of the API server, some that are on by default: A,B")
    up.add_argument("--emulated-version", default=None, help="all Kubernetes components behave as an older version, as 1.34")
    command("down", command_down).add_argument("--keep", action="store_true", help="keep the data for the next up")
    command("status", command_status).add_argument("-o", "--output", choices=["table", "json"], default="table")
    for name in ("start", "stop"):
        command(name, command_start_stop).add_argument("component", choices=COMPONENTS)
    command("compact", command_compact).add_argument("--expire-watches", action="store_true", help="restart the API server as well")
    command("kubectl", command_kubectl).add_argument("words", nargs=argparse.REMAINDER)
    return parser.parse_args()


def main():
    arguments = parse()
    state_dir = Path(arguments.dir).resolve()
    if arguments.command in ("up", "down", "start", "stop", "compact"):
        if arguments.command == "up":
            state_dir.mkdir(parents=True, exist_ok=True)
        if state_dir.exists():
            # Two commands on one cluster take turns. The children do not inherit the lock (Python opens files so).
            lock = os.open(state_dir / "lock", os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        arguments.function(Cluster(state_dir), arguments)
    except ClusterError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
