#!/usr/bin/env python3
"""The chart and the kustomizations of deploy/ without a cluster, rendered by the real helm and kubectl: bad values are refused by name, and
both ways to install give equal objects. Issue 21, section 2: "Helm chart and kustomize bases, with equal results"."""
import re
import subprocess
import sys
import tempfile
import traceback

import yaml

from chart import CHART, NAMESPACE, OVERLAYS, PROFILES, ROOT, Helm, by_key, documents, key, kustomized, merged, profile

# What the chart adds on purpose; all else is equal.
CHART_LABELS = {"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart"}
CHART_ANNOTATIONS = {"helm.sh/resource-policy", "checksum/configuration", "checksum/kafka"}

KAFKA = {"log": {"kind": "kafka", "kafka": {"brokers": ["b:9092"]}}}
# Values, the path of the value that is named, and a part of what is said of it.
REFUSED = [
    # What the schema says of one value.
    ({"replicas": 0}, "replicas", "minimum: got 0, want 1"),
    ({"replicas": "2"}, "replicas", "got string, want integer"),
    ({"replica": 2}, "", "additional properties 'replica' not allowed"),
    ({"mode": "watch"}, "mode", "'control', 'observe'"),
    ({"layout": "many"}, "layout", "'single', 'split'"),
    ({"log": {"kind": "postgres"}}, "log/kind", "'sqlite', 'kafka'"),
    ({"log": {"keepHistory": "30 days"}}, "log/keepHistory", "does not match pattern"),
    ({"log": {"sqlite": {"limit": "8GB"}}}, "log/sqlite/limit", "does not match pattern"),
    ({"log": {"sqlite": {"storage": {"accessModes": ["ReadOnlyMany"]}}}}, "log/sqlite/storage/accessModes/0", "'ReadWriteOnce'"),
    ({"log": {"sqlite": {"storage": {"sise": "1Gi"}}}}, "log/sqlite/storage", "'sise' not allowed"),
    (merged(KAFKA, {"log": {"kafka": {"brokers": ["broker"]}}}), "log/kafka/brokers/0", "does not match pattern"),
    (merged(KAFKA, {"log": {"kafka": {"settings": {"sasl.password": "a\nb"}}}}), "log/kafka/settings/sasl.password", "does not match pattern"),
    ({"nodes": {"sessionTimeout": 301}}, "nodes/sessionTimeout", "maximum: got 301, want 300"),
    ({"image": {"repository": "Hindsight"}}, "image/repository", "does not match pattern"),
    ({"image": {"digest": "sha256:12"}}, "image/digest", "does not match pattern"),
    ({"image": {"pullPolicy": "always"}}, "image/pullPolicy", "'Always'"),
    ({"page": {"states": 65}}, "page/states", "maximum: got 65, want 64"),
    ({"page": {"hostNames": ["https://page.example.org"]}}, "page/hostNames/0", "does not match pattern"),
    ({"metrics": {"readers": [{"name": "prometheus"}]}}, "metrics/readers/0", "missing property 'namespace'"),
    ({"metrics": {"serviceMonitor": {"interval": "often"}}}, "metrics/serviceMonitor/interval", "does not match pattern"),
    ({"metrics": {"rules": {"documents": "docs.example.org"}}}, "metrics/rules/documents", "does not match pattern"),
    ({"networkPolicy": {"apiServerCIDRs": ["192.0.2.10"]}}, "networkPolicy/apiServerCIDRs/0", "does not match pattern"),
    ({"topologySpread": {"whenUnsatisfiable": "Never"}}, "topologySpread/whenUnsatisfiable", "'DoNotSchedule'"),
    ({"logLevel": "verbose"}, "logLevel", "'debug'"),
    ({"extraArgs": ["max-in-flight=3"]}, "extraArgs/0", "does not match pattern"),
    ({"resources": {"requests": {"memory": "lots"}}}, "resources/requests/memory", "does not match pattern"),
    ({"user": 0}, "user", "minimum: got 0, want 1"),
    ({"podLabels": {"a": "b c"}}, "podLabels/a", "does not match pattern"),
    ({"webhooks": {"enabled": "yes"}}, "webhooks/enabled", "got string, want boolean"),
    # What one says about another.
    ({"replicas": 2}, "replicas", "found 2 with log.kind sqlite; allowed: 1"),
    ({"layout": "split"}, "layout", "found split with log.kind sqlite; allowed: single"),
    ({"log": {"kind": "kafka"}}, "log.kafka.brokers", "found none with log.kind kafka; allowed: a list of HOST:PORT"),
    (merged(KAFKA, {"log": {"kafka": {"settings": {"patience.ms": 1}, "settingsSecret": "s"}}}), "log.kafka.settingsSecret", "allowed: one of both"),
    (merged(KAFKA, {"layout": "split", "domains": "trees", "log": {"kafka": {"partition": 3}}}), "log.kafka.partition", "found 3 with domains trees; allowed: 0"),
    (merged(KAFKA, {"domains": "trees"}), "domains", "found trees with layout single; allowed: one"),
    (merged(KAFKA, {"layout": "split", "domains": "trees", "page": {"enabled": True}}), "page.enabled", "found true with domains trees"),
    (merged(KAFKA, {"replicas": 2, "configuration": {"leaderElection": {"leaderElect": False}}}), "replicas", "leaderElect false; allowed: 1"),
    ({"mode": "observe", "webhooks": {"enabled": True}}, "webhooks.enabled", "found true with mode observe; allowed: false"),
    ({"mode": "observe", "visibility": {"enabled": True}}, "visibility.enabled", "found true with mode observe; allowed: false"),
    (merged(KAFKA, {"mode": "observe"}), "log.kind", "found kafka with mode observe; allowed: sqlite"),
    ({"crds": {"checks": "both"}}, "crds/checks", "'definitions', 'webhooks'"),
    ({"crds": {"checks": "webhooks"}}, "crds.checks", "found webhooks with webhooks.enabled false; allowed: empty or definitions"),
    ({"crds": {"checks": "webhooks", "install": False}, "webhooks": {"enabled": True}}, "crds.checks", "found webhooks with crds.install false; allowed: empty"),
    ({"crds": {"checks": "definitions"}, "mode": "observe"}, "crds.checks", "found definitions with mode observe; allowed: empty"),
    ({"webhooks": {"enabled": True, "certSecret": "c"}, "visibility": {"enabled": True}}, "visibility.certSecret", "allowed: both or none"),
    ({"metrics": {"enabled": False, "serviceMonitor": {"enabled": True}}}, "metrics.serviceMonitor.enabled", "found true with metrics.enabled false"),
    ({"metrics": {"enabled": False, "readers": [{"name": "a", "namespace": "b"}]}}, "metrics.readers", "allowed: none"),
    ({"configuration": {"namespace": "other"}}, "configuration.namespace", "which the chart writes"),
    ({"configuration": {"internalCertManagement": {"enable": False}}}, "configuration.internalCertManagement", "which the chart writes"),
    ({"podLabels": {"app.kubernetes.io/name": "other"}}, "podLabels", "Services find pods by this one"),
]


def same(found, expected, what="value"):
    """The first place where they differ is told, not the whole of both."""
    if isinstance(found, dict) and isinstance(expected, dict):
        same(sorted(found), sorted(expected), f"fields of {what}")
        for name in found:
            same(found[name], expected[name], f"{what}.{name}")
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for at, pair in enumerate(zip(found, expected)):
            same(*pair, f"{what}[{at}]")
    else:
        assert found == expected and type(found) is type(expected), f"{what}: found {repr(found)[:300]}, expected {repr(expected)[:300]}"


def test_helm_finds_nothing_to_say_against_the_chart(helm):
    for values in [{}] + [profile(name) for name in ("kafka", "full", "observe")]:
        said = helm("lint", "--strict", CHART, values=values)
        assert "1 chart(s) linted, 0 chart(s) failed" in said and "[WARNING]" not in said and "[ERROR]" not in said, said


def test_bad_values_are_refused_by_name(helm):
    for values, path, words in REFUSED:
        said = helm("template", "hindsight", CHART, "--namespace", NAMESPACE, values=values, refused=True)
        assert f"at '{'/' + path if path else ''}'" in said or f"{path}: " in said, f"{values}: {path} is not named: {said}"
        assert words in said, f"{values}: {words!r} is not said: {said}"


def test_every_value_is_known_to_the_schema(helm):
    """Each value of values.yaml stands in the schema, and the other way round."""
    schema = yaml.safe_load((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())

    def compared(here, described, path):
        properties = described.get("properties")
        if properties is None or described.get("additionalProperties") is not False:
            return
        same(sorted(set(properties) - {"global", "claims"} - set(here)), [], f"{path}: in the schema alone")
        same(sorted(set(here) - set(properties)), [], f"{path}: in values.yaml alone")
        for name, value in here.items():
            if isinstance(value, dict):
                compared(value, properties[name], f"{path}.{name}")
    compared(values, schema, "values")
    assert len(schema["properties"]) > 25


# Values whose name stands in no template as it is written in values.yaml, because a template goes into what is around them: each is given another
# value here, which has to come out.
SCOPED = {
    "image.repository": "registry.example.org/sought", "image.tag": "sought-tag", "image.digest": "sha256:" + "5" * 64, "log.kafka.prefix": "sought-prefix",
    "metrics.serviceMonitor.interval": "37s", "metrics.serviceMonitor.labels": {"sought": "sought-monitor"}, "metrics.rules.enabled": True,
    "metrics.rules.labels": {"sought": "sought-rules"}, "metrics.rules.documents": "https://sought.example.org", "metrics.dashboards.enabled": True,
    "metrics.dashboards.labels": {"sought": "sought-dashboards"}, "networkPolicy.apiServerCIDRs": ["192.0.2.77/32"],
    "networkPolicy.metricsNamespaceLabels": {"sought": "sought-metrics"}, "networkPolicy.pageNamespaceLabels": {"sought": "sought-page"},
}
# Maps of which the chart knows no keys.
OPEN = ("configuration", "annotations", "labels", "Labels", "resources", "nodeSelector", "affinity", "settings")


def leaves(values, path=()):
    """Paths of what values.yaml sets, as tuples."""
    if isinstance(values, dict) and values and not (path and path[-1].endswith(OPEN)):
        for name, value in values.items():
            yield from leaves(value, path + (name,))
    else:
        yield path


def unexplained(lines):
    """Names in values.yaml with no comment over them. A name that only holds others needs none; what is in an open map has that of the map."""
    out, open_at = [], None
    for before, line in zip(["", *lines], lines):
        found = re.match(r"( *)([A-Za-z]\w*):(.*)", line)
        if found is None:
            continue
        depth, name, rest = len(found[1]), found[2], found[3].strip()
        if open_at is not None and depth > open_at:
            continue
        open_at = depth if name.endswith(OPEN) else None
        if (rest or open_at is not None) and not before.strip().startswith("#"):
            out.append(name)
    return out


def test_every_value_is_explained_and_used(helm):
    """What somebody sets does something, and values.yaml says what."""
    lines = (CHART / "values.yaml").read_text().splitlines()
    same(unexplained(lines), [], "values without a comment over them")
    same(unexplained(["a: 1", "# what", "b: {}", "labels:", "  c: 1"]), ["a", "labels"], "what the search finds")
    templates = "".join(file.read_text() for file in sorted((CHART / "templates").iterdir()) if file.name != "NOTES.txt")
    paths = [".".join(path) for path in leaves(yaml.safe_load("\n".join(lines)))]
    assert len(paths) > 70, paths
    unused = [path for path in paths if not re.search(r"(\$v|\.Values)\." + re.escape(path) + r"\b", templates)]
    same(sorted(unused), sorted(SCOPED), "values that no template names in full")

    def changes(paths):
        out = {}
        for path in paths:
            change = SCOPED[path]
            for name in reversed(path.split(".")):
                change = {name: change}
            out = merged(out, change)
        return out
    kafka, tag = "log.kafka.prefix", "image.tag"
    in_full = [path for path in SCOPED if path not in (kafka, tag)]
    for base, paths in ((profile("full"), in_full), (profile("kafka"), [kafka, tag])):
        said = yaml.safe_dump(helm.render(merged(base, changes(paths))))
        for path in paths:
            value = SCOPED[path]
            if value is True:
                sought = "kind: PrometheusRule" if "rules" in path else "hindsight-dashboard"
            elif isinstance(value, dict):
                sought = next(iter(value.values()))
            else:
                sought = value[0] if isinstance(value, list) else value
            assert sought in said, f"{path}: {sought} comes out nowhere"
    without = yaml.safe_dump(helm.render(merged(profile("full"), {"metrics": {"rules": {"enabled": False}, "dashboards": {"enabled": False}}})))
    assert "kind: PrometheusRule" not in without and "hindsight-dashboard" not in without


def test_the_chart_is_of_the_release_that_is_built(helm):
    del helm
    version = re.search(r'release = "([0-9.]+)"', (ROOT / "runtime" / "release.hpp").read_text()).group(1)
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    same((chart["version"], chart["appVersion"]), (version, version))


def test_what_the_chart_has_of_deploy_is_deploy(helm):
    """files/ are links, so that rights and webhooks stand in one place; a package of the chart has all of them, and gives the same."""
    files = {file.name for file in (CHART / "files").iterdir()}
    for file in (CHART / "files").iterdir():
        assert file.is_symlink() and file.exists(), f"{file} is no link to what deploy/ has"
    assert {"crds", "monitoring", "rbac.yaml", "metrics.yaml", "webhooks.yaml", "visibility.yaml"} <= files, files
    with tempfile.TemporaryDirectory() as folder:
        said = helm("package", CHART, "--destination", folder)
        package = said.strip().split(" saved it to: ")[-1]
        for name in ("full", "kafka"):
            same(helm.render(profile(name), chart=package) == helm.render(profile(name)), True, f"profile {name} of the package")


def test_what_is_written_for_kustomize_is_fresh(helm):
    del helm
    done = subprocess.run([sys.executable, ROOT / "deploy" / "kustomize" / "generate.py", "--check"], capture_output=True, text=True, check=False)
    same((done.returncode, done.stderr), (0, ""))


def test_alerts_link_their_runbooks_where_the_documents_are(helm):
    """Without the value each names its section as a place in the repository, which tests/monitoring finds."""
    def links(values):
        objects = helm.render(merged({"metrics": {"rules": {"enabled": True}}}, values))
        groups = next(o for o in objects if o["kind"] == "PrometheusRule")["spec"]["groups"]
        return {r["alert"]: {k: v for k, v in r["annotations"].items() if k.startswith("runbook")} for g in groups for r in g["rules"]}

    named = links({})
    assert len(named) > 10, named
    same(named, {alert: {"runbook": f"docs/runbooks.md#{alert.lower()}"} for alert in named})
    for address in ("https://docs.example.org/hindsight", "https://docs.example.org/hindsight/"):
        same(links({"metrics": {"rules": {"documents": address}}}),
             {alert: {"runbook_url": f"https://docs.example.org/hindsight/runbooks/#{alert.lower()}"} for alert in named})


def test_another_namespace_is_used_everywhere(helm):
    for name in ("full", "kafka", "observe"):
        text = helm("template", "other", CHART, "--namespace", "batch", values=profile(name))
        assert NAMESPACE not in text, [line for line in text.splitlines() if NAMESPACE in line][:5]
        for one in documents(text):
            assert one["metadata"].get("namespace", "batch") in ("batch", "kube-system"), key(one)


# ---- helm and kustomize ----------------------------------------------------------------------------------------------

def normalized(one):
    """Without what only one of the two can have."""
    metadata = one["metadata"]
    for field, names in (("labels", CHART_LABELS), ("annotations", CHART_ANNOTATIONS)):
        metadata[field] = {n: v for n, v in metadata.get(field, {}).items() if n not in names}
        if not metadata[field]:
            del metadata[field]
    template = one.get("spec", {}).get("template", {}).get("metadata", {}) if one["kind"] in ("Deployment", "StatefulSet") else {}
    for name in CHART_ANNOTATIONS:
        template.get("annotations", {}).pop(name, None)
    if one["kind"] == "ConfigMap" and "config.yaml" in one["data"]:
        one["data"]["config.yaml"] = yaml.safe_load(one["data"]["config.yaml"])
    return one


def test_helm_and_kustomize_give_the_same(helm):
    names = sorted(file.stem for file in PROFILES.glob("*.yaml"))
    same(names, sorted(folder.name for folder in OVERLAYS.iterdir()), "profiles and overlays")
    assert {"default", "kafka", "full", "observe"} <= set(names), names
    for name in names:
        ours = by_key(map(normalized, helm.render(profile(name))))
        theirs = by_key(map(normalized, kustomized(name)))
        # Helm makes the namespace (--create-namespace).
        theirs.pop(f"Namespace//{NAMESPACE}")
        same(sorted(ours), sorted(theirs), f"objects of {name}")
        for one, object_ in ours.items():
            same(object_, theirs[one], f"{name}: {one}")


def test_the_default_is_what_deploy_has(helm):
    """The files that deploy/README.md applies one by one, and the definitions."""
    files = [ROOT / "deploy" / f"{name}.yaml" for name in ("rbac", "metrics", "network-policy", "hindsight")] + sorted((ROOT / "deploy" / "crds").glob("*.yaml"))
    theirs = {key(one): normalized(one) for file in files for one in documents(file.read_text()) if one["kind"] != "Namespace"}
    same(by_key(map(normalized, helm.render())), theirs)


def test_definitions_leave_rules_to_webhooks_where_these_are(helm):
    """Without webhooks nobody else would check, so there the definitions are whole whatever is said."""
    folder = ROOT / "deploy" / "crds"
    light = {name.name for name in (folder / "with-webhooks").glob("*.yaml")}
    assert light, "no definition leaves anything to webhooks"

    def definitions(checks, webhooks):
        made = helm.render({"crds": {"checks": checks}, "webhooks": {"enabled": webhooks}})
        return {key(one): normalized(one) for one in made if one["kind"] == "CustomResourceDefinition"}

    for checks, webhooks, lighter in (("", False, False), ("", True, True), ("definitions", True, False), ("definitions", False, False), ("webhooks", True, True)):
        files = [folder / ("with-webhooks" if lighter and file.name in light else "") / file.name for file in sorted(folder.glob("*.yaml"))]
        same(definitions(checks, webhooks), {key(one): normalized(one) for file in files for one in documents(file.read_text())}, f"checks {checks!r}, webhooks {webhooks}")


def test_mode_observe_can_only_read(helm):
    """The one thing beside that is to ask who somebody is."""
    for one in helm.render(profile("observe")):
        if one["kind"] in ("Role", "ClusterRole"):
            for rule in one["rules"]:
                writes = set(rule["verbs"]) - {"get", "list", "watch"}
                resources = set(rule.get("resources", []))
                assert not writes or resources <= {"tokenreviews", "subjectaccessreviews"}, (key(one), rule)
        assert one["kind"] not in ("CustomResourceDefinition", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "APIService"), key(one)


def main():
    failed = 0
    tests = {name: function for name, function in globals().items() if name.startswith("test_")}
    helm = Helm()
    for name, function in tests.items():
        try:
            function(helm)
        except AssertionError:
            failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()[-3000:]}", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
