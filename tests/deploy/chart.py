"""The chart and the kustomizations of deploy/, as the real helm and kubectl render them; and the values that are combined in pairs."""
import copy
import json
import os
import pathlib
import subprocess
import tempfile

import yaml

import pairs

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy" / "helm" / "hindsight"
PROFILES = ROOT / "deploy" / "helm" / "profiles"
OVERLAYS = ROOT / "deploy" / "kustomize" / "overlays"
NAMESPACE = "hindsight-system"
# Also where helm's client libraries are newer than the server.
SECONDS_MAX = 120


def tool(name, build=None):
    if build:
        subprocess.run([ROOT / "scripts" / "tools.sh", "build", build], check=True, timeout=1800)
    return subprocess.run([ROOT / "scripts" / "tools.sh", "path", name], check=True, capture_output=True, text=True).stdout.strip()


class Helm:
    """The real helm, with nothing of the user's: no repositories, no plugins."""

    def __init__(self, kubeconfig=None):
        self.program = tool("helm", "helm")
        self.home = tempfile.TemporaryDirectory(prefix="hindsight-helm-")
        self.environment = {"PATH": os.environ["PATH"], "HOME": self.home.name}
        if kubeconfig:
            self.environment["KUBECONFIG"] = str(kubeconfig)

    def __call__(self, *words, values=None, refused=False):
        """What it prints; with `refused` what it says against that, where it must not succeed."""
        with tempfile.NamedTemporaryFile("w", suffix=".json", dir=self.home.name) as file:
            if values is not None:
                json.dump(values, file)
                file.flush()
                words += ("--values", file.name)
            done = subprocess.run([self.program, *map(str, words)], env=self.environment, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        if refused:
            assert done.returncode != 0, f"helm {' '.join(map(str, words))} with {json.dumps(values)}: accepted, although it should be refused"
            return done.stderr
        assert done.returncode == 0, f"helm {' '.join(map(str, words))} with {json.dumps(values)}: {done.stdout[-1000:]}{done.stderr[-2000:]}"
        return done.stdout

    def render(self, values=None, namespace=NAMESPACE, chart=CHART):
        return documents(self("template", "hindsight", chart, "--namespace", namespace, values=values or {}))


def documents(text):
    return [one for one in yaml.load_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if one]


def profile(name):
    return yaml.safe_load((PROFILES / f"{name}.yaml").read_text()) or {}


def kustomized(name):
    done = subprocess.run([tool("kubectl"), "kustomize", OVERLAYS / name], capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    assert done.returncode == 0, f"kubectl kustomize {name}: {done.stderr}"
    return documents(done.stdout)


def key(one):
    return f"{one['kind']}/{one['metadata'].get('namespace', '')}/{one['metadata']['name']}"


def by_key(objects):
    out = {}
    for one in objects:
        assert key(one) not in out, f"{key(one)} is there twice"
        out[key(one)] = one
    return out


def merged(values, more):
    out = copy.deepcopy(values)
    for name, value in more.items():
        out[name] = merged(out[name], value) if isinstance(value, dict) and isinstance(out.get(name), dict) else value
    return out


# ---- values in pairs -------------------------------------------------------------------------------------------------

# Each value of a parameter is a name and what it says in values.yaml.
KAFKA = {"kind": "kafka", "kafka": {"brokers": ["broker-1.kafka:9092", "[2001:db8::1]:9093"]}}
PARAMETERS = {
    "mode": {"control": {}, "observe": {"mode": "observe"}},
    "layout": {"single": {}, "split": {"layout": "split"}},
    "replicas": {"one": {}, "three": {"replicas": 3}},
    "log": {"file": {}, "kafka": {"log": KAFKA}, "kafka-sasl": {"log": merged(KAFKA, {"kafka": {"settings": {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "u", "sasl.password": "p=q",
                                                                                               "patience.ms": 60000, "socket.keepalive.enable": True}}})},
            "kafka-secrets": {"log": merged(KAFKA, {"kafka": {"settingsSecret": "given", "tlsSecret": "given-tls", "prefix": "team.a", "init": False, "snapshotSpace": ""}})},
            "file-claim": {"log": {"sqlite": {"limit": "", "durability": "normal", "storage": {"existingClaim": "given"}}}},
            "file-class": {"log": {"sqlite": {"limit": "80Gi", "storage": {"size": "100Gi", "className": "fast", "accessModes": ["ReadWriteOncePod"]}}}}},
    "history": {"month": {}, "ever": {"log": {"keepHistory": ""}}, "signed": {"log": {"keepHistory": "2160h", "checkpointKeySecret": "given-key"}}},
    "domains": {"one": {}, "trees": {"domain": "cluster-a", "domains": "trees"}},
    "webhooks": {"off": {}, "on": {"webhooks": {"enabled": True}}, "secret": {"webhooks": {"enabled": True, "certSecret": "given-webhooks"}}},
    "visibility": {"off": {}, "on": {"visibility": {"enabled": True}}, "secret": {"visibility": {"enabled": True, "certSecret": "given-visibility"}}},
    "page": {"off": {}, "inside": {"page": {"enabled": True, "states": 8}}, "exposed": {"page": {"enabled": True, "expose": True}},
             "secret": {"page": {"enabled": True, "expose": True, "certSecret": "given-page", "hostNames": ["page.example.org"]}}},
    "metrics": {"on": {}, "off": {"metrics": {"enabled": False}}, "secret": {"metrics": {"certSecret": "given-metrics", "readers": [{"name": "prometheus", "namespace": "monitoring"}]}}},
    "monitor": {"off": {}, "on": {"metrics": {"serviceMonitor": {"enabled": True, "interval": "15s", "labels": {"release": "prometheus"}}}}},
    "rules": {"off": {}, "on": {"metrics": {"rules": {"enabled": True, "labels": {"role": "alerts"}}}}},
    "dashboards": {"off": {}, "on": {"metrics": {"dashboards": {"enabled": True}}}},
    "network": {"on": {}, "off": {"networkPolicy": {"enabled": False}},
                "narrow": {"networkPolicy": {"apiServerCIDRs": ["192.0.2.10/32", "2001:db8::/64"], "metricsNamespaceLabels": {"a": "b"}, "pageNamespaceLabels": {"c": "d"}}}},
    "budget": {"off": {}, "on": {"podDisruptionBudget": {"enabled": True, "maxUnavailable": 2}}},
    "spread": {"off": {}, "on": {"topologySpread": {"enabled": True, "topologyKey": "kubernetes.io/hostname", "maxSkew": 2, "whenUnsatisfiable": "DoNotSchedule"}}},
    "nodes": {"usual": {}, "other": {"nodes": {"replicas": 5, "standby": False, "group": "deciders", "sessionTimeout": 30, "plainMetrics": True}}},
    "image": {"usual": {}, "tag": {"image": {"repository": "registry.example.org:5000/batch/hindsight", "tag": "1.2.3", "pullPolicy": "Always"}, "imagePullSecrets": [{"name": "given-pull"}]},
              "digest": {"image": {"digest": "sha256:" + "0f" * 32}}},
    "definitions": {"install": {}, "there": {"crds": {"install": False}}, "whole": {"crds": {"checks": "definitions"}}, "light": {"crds": {"checks": "webhooks"}}},
    "pod": {"usual": {}, "other": {
        "user": None, "nodeSelector": {"pool": "system"}, "tolerations": [{"key": "system", "operator": "Exists", "effect": "NoSchedule"}], "priorityClassName": "system-cluster-critical",
        "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}}]}},
        "podAnnotations": {"example.org/a": "b"}, "podLabels": {"team": "batch"}, "serviceAccount": {"annotations": {"example.org/role": "r"}},
        "resources": {"requests": {"cpu": 2, "memory": "1Gi"}, "limits": {"memory": "4Gi", "cpu": "4"}}}},
    "options": {"usual": {}, "other": {"logLevel": "debug", "extraArgs": ["--max-in-flight=64", "--feature-gates=ConcurrentAdmission=true"],
                                       "configuration": {"waitForPodsReady": {"timeout": "10m"}, "hindsight": {"maxOptions": 4}}}},
}
# What the chart refuses (REFUSED in chart_test.py shows that it does).
RULES = [
    (("log", "replicas"), lambda log, replicas: replicas == "one" or log.startswith("kafka")),
    (("log", "layout"), lambda log, layout: layout == "single" or log.startswith("kafka")),
    (("domains", "layout"), lambda domains, layout: domains == "one" or layout == "split"),
    (("domains", "page"), lambda domains, page: domains == "one" or page == "off"),
    (("mode", "webhooks"), lambda mode, webhooks: mode == "control" or webhooks == "off"),
    (("mode", "visibility"), lambda mode, visibility: mode == "control" or visibility == "off"),
    (("mode", "log"), lambda mode, log: mode == "control" or log.startswith("file")),
    (("metrics", "monitor"), lambda metrics, monitor: metrics != "off" or monitor == "off"),
    (("mode", "definitions"), lambda mode, definitions: mode == "control" or definitions in ("install", "there")),
    (("definitions", "webhooks"), lambda definitions, webhooks: definitions != "light" or webhooks != "off"),
    (("webhooks", "visibility"), lambda webhooks, visibility: {webhooks, visibility} != {"on", "secret"}),
]


def cases():
    """(name, values) of each combination."""
    found, _ = pairs.all_pairs({name: list(values) for name, values in PARAMETERS.items()}, RULES)
    for case in found:
        values = {}
        for name in PARAMETERS:
            values = merged(values, PARAMETERS[name][case[name]])
        yield ", ".join(f"{name} {case[name]}" for name in PARAMETERS if PARAMETERS[name][case[name]]), values
