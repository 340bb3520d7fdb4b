"""Which rights the manifests of deploy/ give to Hindsight, and what it did with them according to the API server's audit log.

A right is one verb on one kind (or subresource), where it is so restricted on one name and in one namespace. Because no rule has a wildcard, what
the log says was allowed shows which right allowed it: a right that is used here cannot be taken away without a 403 in the same run.
"""
import dataclasses, json

import yaml

ACCOUNT = "system:serviceaccount:hindsight-system:hindsight"


@dataclasses.dataclass(frozen=True, order=True)
class Right:
    group: str
    resource: str  # with its subresource: "jobs/status"
    verb: str
    name: str = ""  # empty: any
    namespace: str = ""

    def __str__(self):
        where = f" {self.name}" if self.name else ""
        where += f" in {self.namespace}" if self.namespace else ""
        return f"{self.verb} {self.resource}{'.' + self.group if self.group else ''}{where}"

    def allows(self, request):
        return ((self.group, self.resource, self.verb) == (request.group, request.resource, request.verb)
                and self.name in ("", request.name) and self.namespace in ("", request.namespace))


def objects_of(paths):
    for path in paths:
        with open(path, encoding="utf-8") as text:
            yield from (one for one in yaml.safe_load_all(text) if one)


def rules_of(objects):
    """(rule, namespace or "") of all roles that are bound to the account."""
    objects = list(objects)
    bound = {(o["roleRef"]["kind"], o["roleRef"]["name"], o["metadata"].get("namespace", "")) for o in objects
             if o["kind"].endswith("RoleBinding") and any(s["kind"] == "ServiceAccount" and s["name"] == "hindsight" for s in o["subjects"])}
    for o in objects:
        namespace = o["metadata"].get("namespace", "")
        if o["kind"] in ("Role", "ClusterRole") and (o["kind"], o["metadata"]["name"], namespace) in bound:
            yield from ((rule, namespace) for rule in o["rules"])


def granted(objects):
    out = []
    for rule, namespace in list(rules_of(objects)):
        out += [Right(group, resource, verb, name, namespace) for group in rule["apiGroups"] for resource in rule["resources"]
                for verb in rule["verbs"] for name in rule.get("resourceNames", [""])]
    return out


def without(objects, text):
    """The objects without the one right that is written so ("patch pods", "get leases.coordination.k8s.io in hindsight-system")."""
    objects, taken = list(objects), 0
    for rule, namespace in list(rules_of(objects)):
        kept = []
        for verb in rule["verbs"]:
            rights = [Right(g, r, verb, n, namespace) for g in rule["apiGroups"] for r in rule["resources"] for n in rule.get("resourceNames", [""])]
            hits = [r for r in rights if str(r) == text]
            taken += len(hits)
            if not hits:
                kept.append((verb, None))
            elif len(rights) > 1:
                kept.append((verb, hits[0]))
        rule["verbs"] = [verb for verb, hit in kept if hit is None]
        # What shares the rule with it keeps the verb in a rule of its own.
        for verb, hit in kept:
            if hit is None:
                continue
            others = {"apiGroups": rule["apiGroups"], "verbs": [verb], "resources": [r for r in rule["resources"] if r != hit.resource]}
            if "resourceNames" in rule:
                others.update(resources=rule["resources"], resourceNames=[n for n in rule["resourceNames"] if n != hit.name])
            next(o for o in objects if rule in o.get("rules", []))["rules"].append(others)
    for o in objects:
        if "rules" in o and o["kind"].endswith("Role"):
            o["rules"] = [rule for rule in o["rules"] if rule["verbs"]]
    if taken == 0:
        raise ValueError(f"no such right: {text!r}; there are\n" + "\n".join(sorted(map(str, granted(objects)))))
    return objects


def requests(audit_log):
    """(request as a Right, whether it was allowed) of all that the account asked for."""
    with open(audit_log, encoding="utf-8") as lines:
        for line in lines:
            if not line.endswith("\n"):  # being written
                continue
            event = json.loads(line)
            if event["user"]["username"] != ACCOUNT:
                continue
            ref = event.get("objectRef", {})
            resource = ref.get("resource", event["requestURI"]) + ("/" + ref["subresource"] if ref.get("subresource") else "")
            right = Right(ref.get("apiGroup", ""), resource, event["verb"], ref.get("name", ""), ref.get("namespace", ""))
            allowed = event.get("annotations", {}).get("authorization.k8s.io/decision") == "allow"
            yield right, allowed
