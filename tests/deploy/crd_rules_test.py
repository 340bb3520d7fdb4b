#!/usr/bin/env python3
"""Every rule of the CustomResourceDefinitions against a real API server: what has to be refused is refused with the
words of the specification, what has to be accepted is accepted, and defaults are filled in.

usage: crd_rules_test.py [--dir D] [--only TABLE]

The rules stand as tables in rules/*.yaml, one file a kind, explained in README.md. A rule of a definition that no table
entry makes fail is a failure too. Starts a cluster of its own and always stops it.
"""
import argparse
import copy
import itertools
import os
import pathlib
import re
import sys

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from api_server import ROOT, Cluster, Refused  # noqa: E402

TABLES = pathlib.Path(__file__).resolve().parent / "rules"
CRDS = ROOT / "deploy" / "crds"
GROUP = "kueue.x-k8s.io"
SIZE_MAX = 200 * 1024


def many(count, pattern):
    """`pattern` made `count` long: a text is repeated, the one entry of a list or map comes with %d counted up."""
    def numbered(value, number):
        if isinstance(value, str):
            return value.replace("%d", str(number))
        if isinstance(value, dict):
            return {numbered(key, number): numbered(item, number) for key, item in value.items()}
        return [numbered(item, number) for item in value] if isinstance(value, list) else value
    if isinstance(pattern, str):
        return (pattern * count)[:count]
    if isinstance(pattern, dict):
        return {key: value for number in range(count) for key, value in numbered(pattern, number).items()}
    return [numbered(pattern[0], number) for number in range(count)]


def groups(loader, node):
    """!groups [G, F, R] is a list of G resource groups of F flavors with R resources each, all with names of their own."""
    group_count, flavor_count, resource_count = loader.construct_sequence(node)
    out = []
    for group in range(group_count):
        covered = [f"example.com/r{group}-{number}" for number in range(resource_count)]
        quotas = [{"name": name, "nominalQuota": 10, "borrowingLimit": 5, "lendingLimit": 5} for name in covered]
        out.append({"coveredResources": covered,
                    "flavors": [{"name": f"f{group}-{number}", "resources": copy.deepcopy(quotas)} for number in range(flavor_count)]})
    return out


yaml.SafeLoader.add_constructor("!groups", groups)


def walk(node, path):
    """(holder, key) of the place `path` (dots between names and numbers) in `node`; makes the maps on the way."""
    parts = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in parts[:-1]:
        node = node.setdefault(part, {}) if isinstance(node, dict) else node[part]
    return node, parts[-1]


def put(node, values):
    """Sets places of `node`; the value null removes."""
    for path, value in (values or {}).items():
        holder, key = walk(node, path)
        if value is None:
            holder.pop(key, None)
        else:
            holder[key] = copy.deepcopy(value)


def place(node, path):
    for part in path.split("."):
        if isinstance(node, list):
            node = node[int(part)] if int(part) < len(node) else None
        else:
            node = (node or {}).get(part)
    return node


class Table:
    """One file of rules/: the kind, its smallest good object, and what to try with it."""

    def __init__(self, path, cluster, serial):
        self.content = yaml.safe_load(path.read_text())
        self.kind, self.plural, self.cluster, self.serial = self.content["kind"], self.content["plural"], cluster, serial
        self.namespace = "namespaces/default/" if self.content.get("namespaced") else ""
        self.refusals = {"v1beta1": [], "v1beta2": []}

    def path(self, version, name="", sub=""):
        return f"/apis/{GROUP}/{version}/{self.namespace}{self.plural}" + (f"/{name}" if name else "") + (f"/{sub}" if sub else "")

    def fresh(self, version, values):
        body = copy.deepcopy(self.content["base" if version == "v1beta2" or "base_v1beta1" not in self.content else "base_v1beta1"])
        body.update(apiVersion=f"{GROUP}/{version}", kind=self.kind, metadata={"name": f"t-{next(self.serial)}"})
        put(body, values)
        return body

    def create(self, version, body, dry):
        return self.cluster.call("POST", self.path(version) + "?fieldValidation=Strict" + ("&dryRun=All" if dry else ""), body)

    def update(self, version, body, sub, dry):
        return self.cluster.call("PUT", self.path(version, body["metadata"]["name"], sub) + ("?dryRun=All" if dry else ""), body)

    def attempt(self, version, refused, action):
        """Runs `action`; an error text, or None when it went as `refused` (a text, or None for acceptance) says."""
        try:
            result = action()
        except Refused as error:
            if error.code != 422 and not (refused and error.code == 400):
                return f"HTTP {error.code}: {error}"
            self.refusals[version].append(str(error))
            if refused is None:
                return f"refused: {error}"
            if refused not in str(error):
                return f"refused with other words than {refused!r}: {error}"
            return None
        if refused is not None:
            return f"accepted, although it should be refused with {refused!r}"
        return result if isinstance(result, str) else None

    # ---- the four sections of a table -----------------------------------------------------------------------------

    def one(self, case, version):
        """create with `set`, then `status`, then the change of `then` or `then_status`; what is refused is the last of these."""
        refused, later = case.get("refused"), "then" in case or "then_status" in case
        body = self.fresh(version, case.get("set"))

        def expected(answer):
            wrong = {path: place(answer, path) for path, value in case.get("gives", {}).items() if place(answer, path) != value}
            return f"gives {wrong}, expected {case['gives']}" if wrong else None

        if not later and "status" not in case:
            return self.attempt(version, refused, lambda: expected(self.create(version, body, dry=True)))
        live = self.create(version, body, dry=False)
        if "status" in case:
            put(live, case["status"])
            if not later:
                return self.attempt(version, refused, lambda: expected(self.update(version, live, "status", dry=True)))
            live = self.update(version, live, "status", dry=False)
        put(live, case.get("then", case.get("then_status")))
        sub = "" if "then" in case else "status"
        return self.attempt(version, refused, lambda: expected(self.update(version, live, sub, dry=True)))

    def changed(self, version, row, value):
        """Tries `value` at row's path: with creation, or for a status with an update of the status."""
        values = dict(row.get("with", {}), **{row["path"]: value})
        if row["path"].startswith("status."):
            live = self.create(version, self.fresh(version, {}), dry=False)
            put(live, values)
            return lambda: self.update(version, live, "status", dry=True) and None
        return lambda: self.create(version, self.fresh(version, values), dry=True) and None

    def limit(self, row, version):
        for side, step in (("least", -1), ("most", 1)):
            if side not in row:
                continue
            good = row[side]
            make = (lambda count: count) if "of" not in row else (lambda count: many(count, row["of"]))
            error = self.attempt(version, None, self.changed(version, row, make(good)))
            if error:
                return f"{side} {good}: {error}"
            last = [part for part in row["path"].split(".") if not part.isdigit()][-1]
            error = self.attempt(version, row.get("refused", last), self.changed(version, row, make(good + step)))
            if error:
                return f"{good + step} where {side} is {good}: {error}"
        return None

    def choice(self, row, version):
        for value in row["values"]:
            error = self.attempt(version, None, self.changed(version, {**row, "with": row.get("also", {}).get(value, row.get("with", {}))}, value))
            if error:
                return f"{value!r}: {error}"
        return self.attempt(version, "Unsupported value", self.changed(version, row, row.get("other", "Other")))

    def run(self):
        """Yields (title, error or None)."""
        for section, run, title in (("cases", self.one, lambda row: row["it"]),
                                    ("limits", self.limit, lambda row: f"bounds {row['path']}"),
                                    ("choices", self.choice, lambda row: f"knows the values of {row['path']}")):
            for row in self.content.get(section, []):
                for version in row.get("versions", self.content.get("versions", ["v1beta2"])):
                    try:
                        error = run(row, version)
                    except Refused as refusal:
                        error = f"could not be prepared: {refusal}"
                    yield f"{self.kind} {version} {title(row)}", error

    def untested(self, definition):
        """Rules of the definition that nothing in this table made fail."""
        for version in definition["spec"]["versions"]:
            for path, rule in rules_of(version["schema"]["openAPIV3Schema"], ""):
                words = re.sub(r"%d.*", "", rule["messageExpression"].split("'")[1]) if "messageExpression" in rule else rule["message"]
                if not any(words in refusal for refusal in self.refusals[version["name"]]):
                    yield f"{self.kind} {version['name']} {path}: {rule['message']}"


def rules_of(schema, path):
    for rule in schema.get("x-kubernetes-validations", []):
        yield path or ".", rule
    for name, part in schema.get("properties", {}).items():
        if not part.get("description", "").startswith("Kept for objects written in"):
            yield from rules_of(part, f"{path}.{name}")
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            yield from rules_of(schema[name], path + "[]")


def definitions_are_sound(cluster):
    """kubectl apply without --server-side works twice, all definitions get established and none is faulted."""
    for path in sorted(CRDS.glob("*.yaml")):
        size = path.stat().st_size
        yield f"{path.name} is small enough for kubectl apply", f"{size} bytes" if size > SIZE_MAX else None
    cluster.kubectl("apply", "-f", CRDS)
    cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s", "--recursive=false", "-f", CRDS)
    again = cluster.kubectl("apply", "-f", CRDS).strip().splitlines()
    changed = [line for line in again if not line.endswith(" unchanged")]
    yield "kubectl apply changes nothing the second time", f"{changed}" if changed else None
    items = cluster.call("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")["items"]
    ours = {item["metadata"]["name"]: item for item in items if item["spec"]["group"] == GROUP}
    for path in sorted(CRDS.glob("*.yaml")):
        name = yaml.safe_load(path.read_text())["metadata"]["name"]
        found = {c["type"]: c["status"] for c in ours.get(name, {}).get("status", {}).get("conditions", [])}
        good = found.get("Established") == "True" and found.get("NamesAccepted") == "True" and found.get("NonStructuralSchema") != "True"
        yield f"{name} is established and structural", None if good else f"{found}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    build = os.environ.get("HINDSIGHT_BUILD_DIR", ROOT / "build")
    parser.add_argument("--dir", type=pathlib.Path, default=pathlib.Path(build) / "test-clusters" / "crd-rules")
    parser.add_argument("--only", help="only tables whose name contains this; no check for untested rules")
    arguments = parser.parse_args()
    passed, failed = 0, 0

    def report(title, error):
        nonlocal passed, failed
        passed, failed = passed + (error is None), failed + (error is not None)
        if error is not None:
            print(f"FAILED {title}\n       {error}", flush=True)

    with Cluster(arguments.dir) as cluster:
        for title, error in definitions_are_sound(cluster):
            report(title, error)
        serial = itertools.count()
        for path in sorted(TABLES.glob("*.yaml")):
            if arguments.only and arguments.only not in path.stem:
                continue
            table = Table(path, cluster, serial)
            for title, error in table.run():
                report(title, error)
            definition = yaml.safe_load((CRDS / f"{GROUP}_{table.plural}.yaml").read_text())
            for title in [] if arguments.only else table.untested(definition):
                report(title, "no table entry makes this rule fail")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
