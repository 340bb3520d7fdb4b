#!/usr/bin/env python3
"""The generator of the CustomResourceDefinitions: committed files are fresh, stale ones are named, mistakes in a
description are answered with a message that names the file and the field. Needs no cluster."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

import yaml

CRDS = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "crds"


def same(found, expected, what="value"):
    assert found == expected, f"{what}: found {found!r}, expected {expected!r}"


class Copy:
    """deploy/crds in a temporary folder, to be spoilt."""

    def __enter__(self):
        self.holder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.holder.name) / "crds"
        shutil.copytree(CRDS, self.folder)
        return self

    def __exit__(self, *_):
        self.holder.cleanup()

    def generate(self, *arguments):
        return subprocess.run([sys.executable, self.folder / "generate.py", *arguments], capture_output=True, text=True, check=False)

    def edit(self, name, old, new):
        file = self.folder / name
        text = file.read_text()
        assert old in text, f"{name} has no {old!r}"
        file.write_text(text.replace(old, new, 1))

    def definition(self, plural, folder="."):
        return yaml.safe_load((self.folder / folder / f"kueue.x-k8s.io_{plural}.yaml").read_text())


def test_committed_definitions_are_what_the_description_says():
    done = subprocess.run([sys.executable, CRDS / "generate.py", "--check"], capture_output=True, text=True, check=False)
    same((done.returncode, done.stderr), (0, ""))


def test_check_names_a_definition_that_was_edited_by_hand():
    with Copy() as copy:
        copy.edit("kueue.x-k8s.io_cohorts.yaml", "shortNames", "shortnames")
        done = copy.generate("--check")
        same(done.returncode, 1)
        assert "kueue.x-k8s.io_cohorts.yaml" in done.stderr and "queues" not in done.stderr, done.stderr


def test_check_names_a_description_that_was_not_generated():
    with Copy() as copy:
        copy.edit("description/cohort.yaml", "short: [co]", "short: [coh]")
        same(copy.generate("--check").returncode, 1)
        same(copy.generate().returncode, 0)
        same(copy.generate("--check").returncode, 0)
        same(copy.definition("cohorts")["spec"]["names"]["shortNames"], ["coh"])


def test_check_names_definitions_that_are_missing_or_left_over():
    with Copy() as copy:
        (copy.folder / "description" / "cohort.yaml").unlink()
        (copy.folder / "kueue.x-k8s.io_topologies.yaml").unlink()
        done = copy.generate("--check")
        same(done.returncode, 1)
        assert "kueue.x-k8s.io_cohorts.yaml" in done.stderr and "kueue.x-k8s.io_topologies.yaml" in done.stderr, done.stderr
        same(copy.generate().returncode, 0)
        assert not (copy.folder / "kueue.x-k8s.io_cohorts.yaml").exists()
        assert (copy.folder / "kueue.x-k8s.io_topologies.yaml").exists()


def test_files_of_others_are_left_alone():
    with Copy() as copy:
        other = copy.folder / "other.yaml"
        other.write_text("kind: Other\n")
        same((copy.generate("--check").returncode, copy.generate().returncode, other.read_text()), (0, 0, "kind: Other\n"))


def test_mistakes_are_named():
    for name, old, new, words in (
            ("cohort.yaml", "parentName: {type: dnsSubdomain,", "parentName: {typ: dnsSubdomain,", ["cohort.yaml.spec.parentName", "unknown key 'typ'", "allowed", "type"]),
            ("cohort.yaml", "parentName: {type: dnsSubdomain,", "parentName: {type: dnsSubDomain,", ["cohort.yaml.spec.parentName", "'dnsSubDomain'", "types.yaml"]),
            ("cohort.yaml", "parentName: {type: dnsSubdomain,", "parentName: {", ["cohort.yaml.spec.parentName", "type"]),
            ("cohort.yaml", "scope: Cluster", "scop: Cluster", ["cohort.yaml", "'scop'", "scope"]),
            ("topology.yaml", "size: 1..16", "size: 1-16", ["topology.yaml.spec.levels", "'1-16'", "A..B"]),
            ("workload.yaml", "@reserved(oldSelf)", "@reservd(oldSelf)", ["workload.yaml", "@reservd"]),
            ("local_queue.yaml", "version: v1beta1", "version: v1beta7", ["local_queue.yaml.status", "v1beta7", "v1beta1, v1beta2"]),
            ("cluster_queue.yaml", "reason: Forbidden", "reason: Because", ["cluster_queue.yaml.spec", "'Because'", "Forbidden"]),
            ("cohort.yaml", "say: borrowingLimit", "webhook: [Cohorte]\n      say: borrowingLimit", ["cohort.yaml.spec", "['Cohorte']", "Cohort, "]),
            ("cohort.yaml", "say: borrowingLimit", "webhook: yes please\n      say: borrowingLimit", ["cohort.yaml.spec", "'yes please'", "true"]),
            ("cluster_queue.yaml", "carried: true", "caried: true", ["cluster_queue.yaml.spec: rule", "'caried'"]),
            ("cohort.yaml", "kind: Cohort", "kind: [Cohort", ["cohort.yaml"])):
        with Copy() as copy:
            copy.edit(f"description/{name}", old, new)
            done = copy.generate("--check")
            same((done.returncode, done.stdout), (2, ""), new)
            for word in words:
                assert word in done.stderr, f"{new}: {word!r} is not in {done.stderr!r}"
            assert "Traceback" not in done.stderr, done.stderr


def schema(definition, version, *fields):
    node = next(v for v in definition["spec"]["versions"] if v["name"] == version)["schema"]["openAPIV3Schema"]
    for field in fields:
        node = node["items"] if field == "[]" else node["properties"][field]
    return node


def test_each_version_carries_the_fields_of_the_other_without_their_defaults():
    with Copy() as copy:
        queues, checks, clusters = (copy.definition(plural) for plural in ("clusterqueues", "admissionchecks", "multikueueclusters"))
    for version, carried in (("v1beta1", "cohortName"), ("v1beta2", "cohort")):
        assert schema(queues, version, "spec", carried)["description"].startswith("Kept for objects written in"), version
    same(schema(checks, "v1beta1", "spec", "retryDelayMinutes")["default"], 15)
    assert "default" not in schema(checks, "v1beta2", "spec", "retryDelayMinutes")
    assert "required" not in schema(clusters, "v1beta2", "spec")


def test_with_a_conversion_webhook_each_version_has_its_own_fields_only():
    with Copy() as copy:
        same(copy.generate("--conversion", "Webhook", "--output", copy.folder / "webhook").returncode, 0)
        queues, clusters, workloads = (copy.definition(plural, "webhook") for plural in ("clusterqueues", "multikueueclusters", "workloads"))
        for file in (copy.folder / "webhook").glob("*.yaml"):
            assert "Kept for objects written in" not in file.read_text(), file
            same(yaml.safe_load(file.read_text())["spec"]["conversion"]["strategy"], "Webhook")
    assert "cohort" in schema(queues, "v1beta1", "spec")["properties"] and "cohort" not in schema(queues, "v1beta2", "spec")["properties"]
    same(schema(clusters, "v1beta2", "spec")["required"], ["clusterSource"])
    assert "podsetSliceRequiredTopologyConstraints" not in schema(workloads, "v1beta1", "spec", "podSets", "[]", "topologyRequest")["properties"]
    for version, field in (("v1beta1", "cohort"), ("v1beta2", "cohortName")):
        rule = next(r for r in schema(queues, version, "spec")["x-kubernetes-validations"] if r["message"].startswith("borrowingLimit"))
        assert rule["rule"].startswith(f"has(self.{field})"), rule


def rules_of(node):
    yield from node.get("x-kubernetes-validations", [])
    for part in node.get("properties", {}).values():
        yield from rules_of(part)
    for name in ("items", "additionalProperties"):
        if isinstance(node.get(name), dict):
            yield from rules_of(node[name])


def said(definition, version):
    return sorted(rule["message"] for rule in rules_of(schema(definition, version)))


def test_a_marked_rule_is_left_out_beside_webhooks_alone():
    """In the stored version, and of a type that kinds share where the mark names the kind."""
    with Copy() as copy:
        for name, mark in (("cohort.yaml", "true"), ("types.yaml", "[ResourceFlavor, Workload]")):
            old = "  - must: self.all(t, t.effect in" if name == "types.yaml" else "    - must: >-\n        has(self.parentName)"
            copy.edit(f"description/{name}", old, old.replace("- must", f"- webhook: {mark}\n  {old[:old.index('-')]}must"))
        same(copy.generate().returncode, 0)
        for plural, gone in (("cohorts", "borrowingLimit must be nil when parent is empty"), ("resourceflavors", "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'")):
            whole, light = copy.definition(plural), copy.definition(plural, "with-webhooks")
            same(light["metadata"].get("annotations"), {"hindsight.dev/checks": "webhooks"}, plural)
            same(whole["metadata"].get("annotations"), None, plural)
            same(said(light, "v1beta1"), said(whole, "v1beta1"), plural)
            expected = said(whole, "v1beta2")
            expected.remove(gone)
            same(said(light, "v1beta2"), expected, plural)
        # The type is LocalQueue's as well, which the mark does not name, and v1beta1's alone.
        same([file.name for file in (copy.folder / "with-webhooks").glob("*.yaml") if "localqueues" in file.name], [])


def test_check_sees_what_lies_with_webhooks():
    with Copy() as copy:
        name = "with-webhooks/kueue.x-k8s.io_workloads.yaml"
        copy.edit(name, "shortNames", "shortnames")
        done = copy.generate("--check")
        assert done.returncode == 1 and name in done.stderr, done.stderr
        same(copy.generate().returncode, 0)
        left_over = copy.folder / "with-webhooks" / "kueue.x-k8s.io_cohorts.yaml"
        left_over.write_text((copy.folder / "kueue.x-k8s.io_cohorts.yaml").read_text())
        done = copy.generate("--check")
        assert done.returncode == 1 and "with-webhooks/kueue.x-k8s.io_cohorts.yaml" in done.stderr, done.stderr
        same((copy.generate().returncode, left_over.exists()), (0, False))


def test_every_list_says_how_it_merges():
    """Server-side apply replaces lists without a type as a whole, which is rarely meant: each says what it is."""
    def untyped(node, path):
        if node.get("type") == "array" and "x-kubernetes-list-type" not in node:
            yield path
        for name, part in node.get("properties", {}).items():
            yield from untyped(part, f"{path}.{name}")
        for name in ("items", "additionalProperties"):
            if isinstance(node.get(name), dict):
                yield from untyped(node[name], path + "[]")

    for file in sorted(CRDS.glob("*.yaml")):
        definition = yaml.safe_load(file.read_text())
        for version in definition["spec"]["versions"]:
            same(list(untyped(version["schema"]["openAPIV3Schema"], "")), [], f"{file.name} {version['name']}: lists without a type")


def main():
    tests = {name: function for name, function in globals().items() if name.startswith("test_")}
    failed = 0
    for name, function in tests.items():
        try:
            function()
        except AssertionError:
            failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
