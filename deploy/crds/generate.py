#!/usr/bin/env python3
"""Write the CustomResourceDefinitions of this folder from description/*.yaml.

usage: generate.py [--check] [--output DIR] [--conversion None|Webhook]

Without options every `<group>_<plural>.yaml` beside this script is written anew, and in with-webhooks/ those that can do
without rules which our webhooks check as well. --check writes nothing and fails, naming the files, when what is committed
differs from what the description says. The language of the descriptions is explained in README.md. Needs python3 and PyYAML.
"""
import argparse
import copy
import pathlib
import re
import sys

import yaml

HERE = pathlib.Path(__file__).resolve().parent
HEADER = "# Written by deploy/crds/generate.py"
# The folder of the definitions that leave rules to webhooks, and the annotation by which `hindsight doctor` knows them.
LIGHT = "with-webhooks"
LIGHT_MARK = {"hindsight.dev/checks": "webhooks"}

# The syntax of a Kubernetes quantity, with and without a sign.
QUANTITY = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
SIGNED_QUANTITY, UNSIGNED_QUANTITY = r"^(\+|-)?" + QUANTITY, r"^\+?" + QUANTITY

BASE_TYPES = {
    "string": {"type": "string"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "bool": {"type": "boolean"},
    "time": {"type": "string", "format": "date-time"},
    "quantity": {"anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": SIGNED_QUANTITY,
                 "x-kubernetes-int-or-string": True},
    "unsignedQuantity": {"anyOf": [{"type": "integer"}, {"type": "string"}], "minimum": 0, "pattern": UNSIGNED_QUANTITY,
                         "x-kubernetes-int-or-string": True},
    "object": {"type": "object"},
    "list": {"type": "array"},
    "map": {"type": "object"},
    "any": {"x-kubernetes-preserve-unknown-fields": True},
}
BOUND_NAMES = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems"),
               "object": ("minProperties", "maxProperties")}
# FieldValueDuplicate is left out: the API server drops the message of such a rule.
REASONS = {"Invalid", "Forbidden", "Required"}

FIELD_KEYS = {"type", "doc", "fields", "items", "values", "required", "size", "range", "enum", "pattern", "default", "list",
              "atomic", "open", "rules", "version"}
RULE_KEYS = {"must", "say", "tell", "at", "reason", "old", "version", "carried", "webhook"}
KIND_KEYS = {"kind", "plural", "short", "scope", "doc", "columns", "selectable", "fields", "rules"}
COLUMN_KEYS = {"name", "type", "path", "wide", "doc"}


class DescriptionError(Exception):
    """A description that cannot be understood; the message names the file, the field and what is allowed there."""


def check_keys(what, where, allowed):
    for key in what:
        if key not in allowed:
            raise DescriptionError(f"{where}: unknown key {key!r}, allowed: {', '.join(sorted(allowed))}")


def bounds(text, where):
    """'1..64' -> (1, 64); either side may be left out."""
    match = re.fullmatch(r"(-?\d+)?\.\.(-?\d+)?", str(text))
    if not match or not any(match.groups()):
        raise DescriptionError(f"{where}: bounds {text!r} are not of the form A..B, A.. or ..B")
    return tuple(None if side is None else int(side) for side in match.groups())


def load(path):
    try:
        with path.open(encoding="utf-8") as file:
            return yaml.safe_load(file)
    except (OSError, yaml.YAMLError) as error:
        raise DescriptionError(str(error)) from error


class Generator:
    """Turns one description folder into CustomResourceDefinitions. `light`: without the rules that our webhooks check as well."""

    def __init__(self, folder, conversion=None, light=False):
        self.api = load(folder / "api.yaml")
        self.types = load(folder / "types.yaml")
        self.conversion = conversion or self.api["conversion"]
        self.versions = [version["name"] for version in self.api["versions"]]
        # Without a converting webhook an object keeps the shape of the version in which it was written. So the
        # fields of one version are part of the other's schema too, or they would be pruned.
        self.carry = self.conversion == "None"
        self.kinds = {path.name: load(path)
                      for path in sorted(folder.glob("*.yaml")) if path.name not in ("api.yaml", "types.yaml")}
        self.light = light
        # The kind and the version that are being written, and how many rules of the kind were left out.
        self.writing, self.stored, self.left_out = None, False, 0

    # ---- one field ------------------------------------------------------------------------------------------------

    def resolved(self, field, version, where):
        """The field as it is in `version`: named types filled in, the version's own differences on top."""
        check_keys(field, where, FIELD_KEYS | set(self.versions))
        field = copy.deepcopy(field)
        difference = field.pop(version, {})
        for other in self.versions:
            field.pop(other, None)
        check_keys(difference, f"{where}.{version}", FIELD_KEYS - {"version"})
        field.update(difference)
        name = field.get("type", "fields" in field and "object" or "items" in field and "list" or "values" in field and "map")
        if not name:
            raise DescriptionError(f"{where}: a field has a type, or fields, items or values")
        field["type"] = name
        if name in BASE_TYPES:
            return field
        if name not in self.types:
            raise DescriptionError(f"{where}: type {name!r} is neither a base type nor in types.yaml")
        base = self.resolved(self.types[name], version, f"types.yaml: {name}")
        rules = base.get("rules", []) + field.get("rules", [])
        base.update({key: value for key, value in field.items() if key != "type"})
        if rules:
            base["rules"] = rules
        return base

    def schema(self, field, version, where):
        field = self.resolved(field, version, where)
        out = {"description": field["doc"]} if "doc" in field else {}
        out.update(copy.deepcopy(BASE_TYPES[field["type"]]))
        if field.get("open"):
            out["x-kubernetes-preserve-unknown-fields"] = True
        for key in ("enum", "pattern", "default"):
            if key in field:
                out[key] = field[key]
        if "size" in field:
            low, high = bounds(field["size"], where)
            names = BOUND_NAMES[out["type"]]
            out.update({name: value for name, value in zip(names, (low, high)) if value is not None})
        if "range" in field:
            low, high = bounds(field["range"], where)
            out.update({name: value for name, value in (("minimum", low), ("maximum", high)) if value is not None})
        if "fields" in field:
            self.add_properties(out, field["fields"], version, where)
        if "items" in field:
            out["items"] = self.schema(field["items"], version, where + "[]")
        if "values" in field:
            out["additionalProperties"] = self.schema(field["values"], version, where + "{}")
        if "list" in field:
            keys = re.fullmatch(r"map\((.+)\)", field["list"])
            out["x-kubernetes-list-type"] = "map" if keys else field["list"]
            if keys:
                out["x-kubernetes-list-map-keys"] = keys.group(1).split(", ")
        if field.get("atomic"):
            out["x-kubernetes-map-type"] = "atomic"
        self.add_rules(out, field.get("rules", []), version, where)
        return out

    def add_properties(self, out, fields, version, where):
        required, properties = [], {}
        for name, field in sorted(fields.items()):
            at = f"{where}.{name}"
            own = field.get("version", version)
            if own not in self.versions:
                raise DescriptionError(f"{at}: version {own!r} is none of {', '.join(self.versions)}")
            if own != version and not self.carry:
                continue
            properties[name] = self.schema(field, own, at)
            if own != version:
                # A default would appear in objects of a version that does not know the field.
                properties[name].pop("default", None)
                properties[name]["description"] = f"Kept for objects written in {own}. " + field.get("doc", "")
            # Where fields are carried, the object may have been written in the version without this one.
            optional = "version" in field and self.carry
            if {**field, **field.get(version, {})}.get("required") and not optional:
                required.append(name)
        out["properties"] = properties
        if required:
            out["required"] = required

    # ---- rules ----------------------------------------------------------------------------------------------------

    def expanded(self, expression, version, where):
        """Replaces @name(a, b) by the macro of api.yaml with $1 and $2 in it filled in; joins lines."""
        def replace(match):
            name, arguments = match.group(1), match.group(2).split(", ")
            if name not in self.api["macros"]:
                raise DescriptionError(f"{where}: macro @{name} is not in api.yaml")
            text = self.api["macros"][name]
            if isinstance(text, dict):
                text = text["carried" if self.carry else version]
            return re.sub(r"\$(\d)", lambda place: arguments[int(place.group(1)) - 1], text)

        while True:
            done = re.sub(r"@(\w+)\(([^()]*)\)", replace, expression)
            if done == expression:
                return " ".join(done.split())
            expression = done

    def add_rules(self, out, rules, version, where):
        written = []
        for rule in rules:
            check_keys(rule, f"{where}: rule", RULE_KEYS)
            if rule.get("version", version) != version or (rule.get("carried", self.carry) != self.carry):
                continue
            # A webhook sees an object in the stored version, after conversion: what was written in the other one only its rules can judge.
            if self.is_checked_by_webhook(rule, where) and self.light and self.stored:
                self.left_out += 1
                continue
            entry = {"rule": self.expanded(rule["must"], version, where)}
            if "tell" in rule:
                entry["messageExpression"] = self.expanded(rule["tell"], version, where)
            entry["message"] = rule["say"]
            if "at" in rule:
                entry["fieldPath"] = rule["at"]
            if "reason" in rule:
                if rule["reason"] not in REASONS:
                    raise DescriptionError(f"{where}: reason {rule['reason']!r} is none of {', '.join(sorted(REASONS))}")
                entry["reason"] = "FieldValue" + rule["reason"]
            if rule.get("old") == "optional":
                entry["optionalOldSelf"] = True
            written.append(entry)
        if written:
            out["x-kubernetes-validations"] = written

    def is_checked_by_webhook(self, rule, where):
        """The mark of a rule: true, or the kinds for which it holds where several share a type."""
        mark = rule.get("webhook", False)
        if isinstance(mark, bool):
            return mark
        known = sorted(kind["kind"] for kind in self.kinds.values())
        if not isinstance(mark, list) or not mark or not all(name in known for name in mark):
            raise DescriptionError(f"{where}: webhook {mark!r} is neither true nor a list of kinds, of {', '.join(known)}")
        return self.writing in mark

    # ---- one kind -------------------------------------------------------------------------------------------------

    def column(self, column, version, where):
        check_keys(column, f"{where}: column", COLUMN_KEYS | set(self.versions))
        out = {"jsonPath": column.get(version, column["path"]), "name": column["name"], "type": column.get("type", "string")}
        if "doc" in column:
            out["description"] = column["doc"]
        if column.get("wide"):
            out["priority"] = 1
        return out

    def version(self, kind, version, where):
        name = version["name"]
        fields = {"apiVersion": {"type": "string", "doc": "The version of the schema in which this object is written."},
                  "kind": {"type": "string", "doc": "The kind of this object."},
                  "metadata": {"type": "object"}, **kind["fields"]}
        root = {"fields": fields, "rules": kind.get("rules", []), "doc": kind["doc"]}
        self.stored = bool(version.get("storage"))
        out = {"name": name, "served": True, "storage": self.stored}
        if version.get("deprecated"):
            out["deprecated"] = True
            out["deprecationWarning"] = f"{self.api['group']}/{name} {kind['kind']} is deprecated; {version['deprecated']}"
        out["schema"] = {"openAPIV3Schema": self.schema(root, name, where)}
        if "status" in kind["fields"]:
            out["subresources"] = {"status": {}}
        if "columns" in kind:
            out["additionalPrinterColumns"] = [self.column(column, name, where) for column in kind["columns"]]
        selectable = [{"jsonPath": field["path"]} for field in kind.get("selectable", []) if field.get("version", name) == name]
        if selectable:
            out["selectableFields"] = selectable
        return out

    def definition(self, source):
        kind = self.kinds[source]
        check_keys(kind, source, KIND_KEYS)
        group, plural = self.api["group"], kind["plural"]
        self.writing, self.left_out = kind["kind"], 0
        names = {"kind": kind["kind"], "listKind": kind["kind"] + "List", "plural": plural, "singular": kind["kind"].lower(),
                 "shortNames": kind["short"]}
        # None is what the API server takes when nothing is said. Nothing is said, so that applying a definition again leaves alone the
        # converter that a running Hindsight put there.
        conversion = {}
        if self.conversion == "Webhook":
            conversion = {"conversion": {"strategy": "Webhook", "webhook": self.api["conversionWebhook"]}}
        return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": f"{plural}.{group}", **({"annotations": dict(LIGHT_MARK)} if self.light else {})},
                "spec": {"group": group, "names": names, "scope": kind["scope"], **conversion,
                         "versions": [self.version(kind, version, source) for version in self.api["versions"]]}}

    def files(self):
        """File name -> text of every definition; of the light ones only those that lack a rule."""
        out = {}
        for source, kind in self.kinds.items():
            definition = self.definition(source)
            if self.light and not self.left_out:
                continue
            text = yaml.dump(definition, Dumper=PlainDumper, sort_keys=False, width=160, allow_unicode=True)
            folder, more = (f"{LIGHT}/", ", without the rules that webhooks check") if self.light else ("", "")
            out[f"{folder}{self.api['group']}_{kind['plural']}.yaml"] = f"{HEADER} from description/{source}{more}. Do not edit.\n{text}"
        return out


class PlainDumper(yaml.SafeDumper):
    """Without anchors: equal parts are written out."""

    def ignore_aliases(self, data):
        return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a committed file is not what the description says")
    parser.add_argument("--output", type=pathlib.Path, default=HERE, help="folder to write to (default: beside this script)")
    parser.add_argument("--conversion", choices=["None", "Webhook"], help="instead of the strategy in api.yaml")
    arguments = parser.parse_args()
    try:
        files = {}
        for light in (False, True):
            files.update(Generator(HERE / "description", arguments.conversion, light).files())
    except DescriptionError as error:
        print(f"generate.py: {error}", file=sys.stderr)
        return 2
    present = {str(path.relative_to(arguments.output)) for folder in (arguments.output, arguments.output / LIGHT)
               for path in folder.glob("*.yaml") if path.read_text().startswith(HEADER)}
    stale = sorted(name for name in present | set(files)
                   if name not in files or name not in present or (arguments.output / name).read_text() != files[name])
    if arguments.check:
        for name in stale:
            print(f"generate.py: {name} is not what the description says: run deploy/crds/generate.py", file=sys.stderr)
        return 1 if stale else 0
    (arguments.output / LIGHT).mkdir(parents=True, exist_ok=True)
    for name in stale:
        if name in files:
            (arguments.output / name).write_text(files[name])
        else:
            (arguments.output / name).unlink()
    print(f"{len(files)} definitions, {len(stale)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
