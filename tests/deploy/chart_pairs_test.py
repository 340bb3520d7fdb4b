#!/usr/bin/env python3
"""Values of the chart, combined in pairs, on a real API server; and a release that is installed, upgraded, rolled back and removed by the real
helm. Issue 21, section 2: "rendered with the real helm in the suite, values combined in pairs and applied on the real API server"."""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

import chart
from api_server import Cluster, Refused
from chart import CHART, NAMESPACE, ROOT, Helm, by_key, key, merged, profile

# Kinds of the Prometheus operator. Of their definitions only what the API server needs to take objects of them, with the fields that ours have.
OPERATOR = {
    "ServiceMonitor": {"selector": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}, "endpoints": {"type": "array", "items": {
        "type": "object", "required": ["port"], "properties": {
            "port": {"type": "string"}, "scheme": {"type": "string", "enum": ["http", "https"]}, "path": {"type": "string"}, "interval": {"type": "string", "pattern": "^[0-9]+[smh]$"},
            "bearerTokenFile": {"type": "string"}, "tlsConfig": {"type": "object", "properties": {
                "insecureSkipVerify": {"type": "boolean"}, "serverName": {"type": "string"},
                "ca": {"type": "object", "properties": {"secret": {"type": "object", "required": ["key"], "properties": {"name": {"type": "string"}, "key": {"type": "string"}}}}}}}}}}},
    "PrometheusRule": {"groups": {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "interval": {"type": "string"}, "rules": {"type": "array", "items": {"type": "object", "required": ["expr"], "properties": {
            "alert": {"type": "string"}, "record": {"type": "string"}, "expr": {"x-kubernetes-int-or-string": True}, "for": {"type": "string"}, "keep_firing_for": {"type": "string"},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}}, "annotations": {"type": "object", "additionalProperties": {"type": "string"}}}}}}}}},
}


def same(found, expected, what="value"):
    assert found == expected, f"{what}: found {found!r}, expected {expected!r}"


def definition(kind, properties):
    plural = kind.lower() + "s"
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.monitoring.coreos.com"},
            "spec": {"group": "monitoring.coreos.com", "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}


class Server(Cluster):
    """With the addresses of all kinds, as discovery has them. No controller runs here that would let go of a claim that nobody uses."""
    kinds = {}

    def dev(self, command, *arguments):
        super().dev(command, *arguments, *(["--no-admission-plugins", "StorageObjectInUseProtection"] if command == "up" else []))

    def address(self, one):
        version = one["apiVersion"]
        if version not in self.kinds:
            found = self.call("GET", f"/apis/{version}" if "/" in version else f"/api/{version}")
            self.kinds[version] = {r["kind"]: r for r in found["resources"] if "/" not in r["name"]}
        kind = self.kinds[version][one["kind"]]
        where = f"namespaces/{one['metadata']['namespace']}/" if kind["namespaced"] else ""
        return f"/{'apis' if '/' in version else 'api'}/{version}/{where}{kind['name']}/{one['metadata']['name']}"

    def apply(self, one, dry=False):
        """By the API server itself; fields that the kind does not have are refused."""
        query = "?fieldManager=test&force=true&fieldValidation=Strict" + ("&dryRun=All" if dry else "")
        return self.call("PATCH", self.address(one) + query, one, "application/apply-patch+yaml")

    def get(self, one):
        try:
            return self.call("GET", self.address(one))
        except Refused as error:
            if error.code == 404:
                return None
            raise


# ---- what the objects of one combination say to each other -----------------------------------------------------------

def options():
    """Names of all options of `hindsight run` and of `hindsight log init`, as docs/commands.md has them."""
    text = (ROOT / "docs" / "commands.md").read_text()
    section = text.split("<!-- options: run -->", 1)[1].split("\n### ", 1)[0]
    found = set(re.findall(r"^\| `(--[a-z-]+)", section, re.MULTILINE))
    assert "--role" in found and len(found) > 30, found
    return found


def workloads(objects):
    return [one for one in objects if one["kind"] in ("Deployment", "StatefulSet")]


def fits_together(objects, known):
    there = by_key(objects)
    labels = {one["metadata"]["name"]: one["spec"]["template"]["metadata"]["labels"] for one in workloads(objects)}

    def chosen(selector):
        return [name for name, has in labels.items() if selector.items() <= has.items()]

    for one in workloads(objects):
        name = one["metadata"]["name"]
        same(chosen(one["spec"]["selector"]["matchLabels"]), [name], f"pods that {name} selects")
        pod = one["spec"]["template"]["spec"]
        volumes = {v["name"]: v for v in pod["volumes"]}
        same(len(volumes), len(pod["volumes"]), f"names of volumes of {name}")
        mounted = set()
        for container in pod.get("initContainers", []) + pod["containers"]:
            mounts = container.get("volumeMounts", [])
            mounted |= {m["name"] for m in mounts}
            same(len({m["mountPath"] for m in mounts}), len(mounts), f"paths of {name}")
            # A file that an option names is in one of the volumes, and a volume that is mounted inside of one that cannot be written would not start.
            for argument in container["args"]:
                for path in re.findall(r"(?:^|[=:])(/[^,?]*)", argument):
                    if argument.startswith("--") and not argument.startswith("--log=kafka"):
                        assert any(path.startswith(m["mountPath"]) for m in mounts), f"{name}: {argument} is in no volume"
            for outer in mounts:
                for inner in mounts:
                    assert not inner["mountPath"].startswith(outer["mountPath"] + "/"), f"{name}: {inner} lies in {outer}"
            if container["args"][0] == "run":
                given = [a.split("=")[0] for a in container["args"][1:]]
                same(sorted(set(given) - known), [], "options that the program does not have")
                repeated = {a for a in given if given.count(a) > 1} - {"--ui-host-name"}
                same(sorted(repeated), [], f"options that {name} has twice")
        same(sorted(set(volumes)), sorted(mounted), f"volumes and mounts of {name}")
        for volume in pod["volumes"]:
            source = next(k for k in volume if k != "name")
            what, field = {"configMap": ("ConfigMap", "name"), "secret": ("Secret", "secretName"), "persistentVolumeClaim": ("PersistentVolumeClaim", "claimName"), "emptyDir": (None, None)}[source]
            if what and not volume[source][field].startswith("given"):
                assert f"{what}/{NAMESPACE}/{volume[source][field]}" in there, f"{name}: {volume} is not there"
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            same(pod["containers"][0][probe]["httpGet"]["port"], "probes", f"{probe} of {name}")
    ports = {one["metadata"]["name"]: {p["name"]: p["containerPort"] for p in one["spec"]["template"]["spec"]["containers"][0]["ports"]} for one in workloads(objects)}
    for one in objects:
        spec = one.get("spec", {})
        if one["kind"] == "Service":
            found = chosen(spec["selector"])
            same(len(found), 1, f"pods behind {key(one)}")
            for port in spec["ports"]:
                assert port["targetPort"] in ports[found[0]] or port["targetPort"] in ports[found[0]].values(), f"{key(one)}: nobody has {port}"
        if one["kind"] == "NetworkPolicy":
            found = chosen(spec["podSelector"]["matchLabels"])
            same(len(found), 1, f"pods of {key(one)}")
            for rule in spec.get("ingress", []):
                for port in rule["ports"]:
                    assert port["port"] in ports[found[0]].values(), f"{key(one)}: nobody has {port}"
        if one["kind"] == "PodDisruptionBudget":
            same(len(chosen(spec["selector"]["matchLabels"])), 1, f"pods of {key(one)}")
        if one["kind"].endswith("RoleBinding") and one["metadata"].get("namespace") != "kube-system":
            role = one["roleRef"]
            where = "" if role["kind"] == "ClusterRole" else NAMESPACE
            assert f"{role['kind']}/{where}/{role['name']}" in there, f"{key(one)}: there is no {role}"
    arguments = there[f"Deployment/{NAMESPACE}/hindsight"]["spec"]["template"]["spec"]["containers"][0]["args"]
    # Who serves something has what leads to it, and nothing leads to what is not served.
    for option, object_ in (("--webhooks", "ValidatingWebhookConfiguration//hindsight-validating-webhook-configuration"), ("--visibility", "APIService//v1beta2.visibility.kueue.x-k8s.io"),
                            ("--metrics", "ClusterRole//hindsight-metrics-reader"), ("--role=connector", f"StatefulSet/{NAMESPACE}/hindsight-node")):
        same(option in arguments, object_ in there, f"{option} and {object_}")
    asks = "--metrics" in arguments or "--ui=:8444" in arguments
    same("ClusterRole//hindsight-metrics-auth" in there, asks, "rights to ask who calls")


def test_pairs(cluster, helm):
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    known, rendered, taken = options(), 0, set()
    for name, values in chart.cases():
        try:
            objects = helm.render(values)
            fits_together(objects, known)
            for one in objects:
                text = json.dumps(one, sort_keys=True)
                if text not in taken:  # what is equal to the letter is judged once
                    cluster.apply(one, dry=True)
                    taken.add(text)
        except (AssertionError, Refused, KeyError) as error:
            raise AssertionError(f"{name}: {error!r}") from error
        rendered += 1
    assert rendered > 20, rendered
    print(f"{rendered} combinations, {len(taken)} objects", flush=True)


def test_every_pair_that_may_be_is_there(cluster, helm):
    """What the list above is good for, counted in another way than it was made."""
    del cluster, helm
    found, impossible = chart.pairs.all_pairs({name: list(values) for name, values in chart.PARAMETERS.items()}, chart.RULES)
    have = set().union(*map(chart.pairs.pairs_of, found))
    names = sorted(chart.PARAMETERS)
    wanted = {((a, x), (b, y)) for i, a in enumerate(names) for b in names[i + 1:] for x in chart.PARAMETERS[a] for y in chart.PARAMETERS[b]}
    same(have | set(impossible), wanted)
    same(have & set(impossible), set())
    assert len(impossible) < len(wanted) // 20, impossible
    for case in found:
        assert chart.pairs.allowed(case, chart.RULES), case


# ---- a release -------------------------------------------------------------------------------------------------------

KEPT = ("CustomResourceDefinition", "PersistentVolumeClaim")


def uids(cluster, objects):
    return {key(one): (cluster.get(one) or {"metadata": {"uid": None}})["metadata"]["uid"] for one in objects}


def left(cluster, objects):
    """What is still there, and what the API server says of its removal."""
    found = {key(one): cluster.get(one) for one in objects}
    return {name: {"metadata": {part: one["metadata"].get(part) for part in ("creationTimestamp", "deletionTimestamp", "finalizers")}, "status": one.get("status")}
            for name, one in found.items() if one}


def of_kinds(objects, *kinds):
    return [one for one in objects if one["kind"] in kinds]


def blocks(path):
    return [line[4:] for line in (ROOT / path).read_text().splitlines() if line.startswith("    ")]


def test_the_commands_of_the_readmes(cluster, helm):
    """Each command of both pages, in its order, on a cluster that has nothing of it yet."""
    kept = of_kinds(helm.render(), *KEPT)
    same({uid for uid in uids(cluster, kept).values()}, {None}, "what is there before")
    tools = pathlib.Path(helm.home.name) / "bin"
    tools.mkdir()
    for name in ("helm", "kubectl"):
        (tools / name).symlink_to(chart.tool(name))

    def run(command):
        return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], cwd=ROOT, env={**helm.environment, "PATH": f"{tools}:{os.environ['PATH']}"},
                              capture_output=True, text=True, timeout=chart.SECONDS_MAX, check=False)

    def taken_away():
        """With the page's remedy for a definition of which the API server has forgotten to look whether it can go (its finalizer meets a storage that is still being made, and its next try a conflict)."""
        if not left(cluster, kept):
            return True
        run(remedy)
        return not left(cluster, kept)

    remedy = re.search(r"This makes it look: `(.*)`", (ROOT / "deploy/helm/hindsight/README.md").read_text()).group(1)
    ran = 0
    for page in ("deploy/helm/hindsight/README.md", "deploy/kustomize/README.md"):
        for command in blocks(page):
            done = run(command)
            assert done.returncode == 0, f"{page}: {command}: {done.stdout[-1000:]}{done.stderr[-2000:]}"
            ran += 1
        if page.startswith("deploy/helm"):
            assert eventually(taken_away), f"the page has not taken everything away: {json.dumps(left(cluster, kept))}"
    assert ran > 10, ran
    # The other way to install brings the same objects.
    assert all(uids(cluster, helm.render()).values())


def test_what_is_there_is_not_taken_by_surprise(cluster, helm):
    """After `kubectl apply`, as the test before did: the chart says so, and takes the objects over when it is told to."""
    objects = helm.render()
    before = uids(cluster, objects)
    said = helm("install", "hindsight", CHART, "--namespace", NAMESPACE, values={}, refused=True)
    assert "invalid ownership metadata" in said, said
    with tempfile.TemporaryDirectory() as folder:
        older = pathlib.Path(folder) / "hindsight"
        shutil.copytree(CHART, older)
        file = older / "files" / "crds" / "kueue.x-k8s.io_clusterqueues.yaml"
        text = file.read_text()
        assert "shortNames:" in text
        file.write_text(re.sub(r"shortNames:.*?(?=\n +[a-z]+:)", "shortNames: [old]", text, count=1, flags=re.DOTALL))
        helm("install", "hindsight", older, "--namespace", NAMESPACE, "--take-ownership", "--force-conflicts", values={})
    same(uids(cluster, objects), before, "objects that were taken over")


def test_upgrade_roll_back_and_remove(cluster, helm):
    """The release of the test before goes on."""
    def release(command, *words, values=None):
        return helm(command, "hindsight", *words, "--namespace", NAMESPACE, values=values)

    default, full = helm.render(), helm.render(profile("full"))
    first = uids(cluster, default)
    assert all(first.values()), [k for k, uid in first.items() if not uid]
    # kubectl owns the fields that no upgrade has changed yet; tests/e2e/chart_test.py upgrades a release that Helm made.
    release("upgrade", CHART, "--force-conflicts", values=profile("full"))
    second = uids(cluster, full)
    assert all(second.values()), [k for k, uid in second.items() if not uid]
    # Nothing is made anew: neither selectors nor claims change.
    same({k: uid for k, uid in second.items() if k in first}, first, "objects after an upgrade")

    # As Hindsight does when it serves webhooks: the definitions get a converter, and the configurations whom to trust.
    converter = {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"service": {"namespace": NAMESPACE, "name": "hindsight-webhook-service", "path": "/convert", "port": 443}}}}
    # The definition of an older release is replaced.
    queues = next(one for one in of_kinds(full, "CustomResourceDefinition") if one["spec"]["names"]["kind"] == "ClusterQueue")
    same(cluster.get(queues)["spec"]["names"].get("shortNames"), queues["spec"]["names"].get("shortNames"), "an older definition after an upgrade")
    hooks = of_kinds(full, "ValidatingWebhookConfiguration")[0]
    cluster.call("PATCH", cluster.address(queues) + "?fieldManager=hindsight", {"spec": {"conversion": converter}}, "application/merge-patch+json")
    cluster.call("PATCH", cluster.address(hooks) + "?fieldManager=hindsight", {"webhooks": [{"name": h["name"], "clientConfig": {"caBundle": "Y2VydA=="}} for h in hooks["webhooks"]]},
                 "application/strategic-merge-patch+json")
    other = merged(profile("full"), {"logLevel": "debug", "resources": {"limits": {"memory": "4Gi"}}, "page": {"enabled": False}})
    release("upgrade", CHART, "--force-conflicts", values=other)
    live = cluster.get(queues)
    same(live["spec"]["conversion"]["strategy"], "Webhook", "the converter after an upgrade")
    same({h["clientConfig"].get("caBundle") for h in cluster.get(hooks)["webhooks"]}, {"Y2VydA=="}, "whom to trust after an upgrade")
    arguments = cluster.get(of_kinds(full, "Deployment")[0])["spec"]["template"]["spec"]["containers"][0]["args"]
    assert "--log-level=debug" in arguments and not any(a.startswith("--ui") for a in arguments), arguments

    release("rollback", "1", "--force-conflicts")
    arguments = cluster.get(of_kinds(full, "Deployment")[0])["spec"]["template"]["spec"]["containers"][0]["args"]
    same(arguments, of_kinds(default, "Deployment")[0]["spec"]["template"]["spec"]["containers"][0]["args"], "options after a rollback")
    same(uids(cluster, default), first, "objects after a rollback")
    gone = [one for one in full if key(one) not in by_key(default)]
    same({k for k, uid in uids(cluster, gone).items() if uid}, set(), "objects that only the other values have")

    # A release fits into the Secret that helm keeps it in.
    sizes = [len(json.dumps(one)) for one in cluster.call("GET", f"/api/v1/namespaces/{NAMESPACE}/secrets?labelSelector=owner%3Dhelm")["items"]]
    assert sizes and max(sizes) < 900_000, sizes

    said = release("uninstall")
    left = {k for k, uid in uids(cluster, default).items() if uid}
    same(left, {key(one) for one in of_kinds(default, *KEPT)}, "what is left after the release was removed")
    assert "were kept due to the resource policy" in said and "hindsight-log" in said, said
    # And back: the same log, the same queues.
    release("install", CHART, values={})
    third = uids(cluster, default)
    same({k: third[k] for k in left}, {k: first[k] for k in left}, "what a new release has found")


def eventually(look, seconds=60):
    end = time.monotonic() + seconds
    while not look():
        if time.monotonic() > end:
            return False
        time.sleep(0.25)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    build = os.environ.get("HINDSIGHT_BUILD_DIR", ROOT / "build")
    parser.add_argument("--dir", type=pathlib.Path, default=pathlib.Path(build) / "test-clusters" / "chart-pairs")
    arguments = parser.parse_args()
    failed = 0
    tests = {name: function for name, function in globals().items() if name.startswith("test_")}
    with Server(arguments.dir) as cluster:
        helm = Helm(arguments.dir / "kubeconfig")
        for kind, properties in OPERATOR.items():
            cluster.apply(definition(kind, properties))
        assert eventually(lambda: operator_serves(cluster)), "the kinds of the operator are not served"
        for name, function in tests.items():
            try:
                function(cluster, helm)
            except (AssertionError, Refused):
                failed += 1
                print(f"FAILED {name}\n{traceback.format_exc()[-4000:]}", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


def operator_serves(cluster):
    try:
        names = [r["name"] for r in cluster.call("GET", "/apis/monitoring.coreos.com/v1")["resources"]]
    except Refused:
        return False
    return {"servicemonitors", "prometheusrules"} <= set(names)


if __name__ == "__main__":
    sys.exit(main())
