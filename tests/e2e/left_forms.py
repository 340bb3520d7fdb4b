"""The way back to Kueue: whether what Hindsight leaves has the forms in which Kueue itself leaves it.

Two checks. No object has a field that Kueue's definitions do not know, or a label, annotation or finalizer of ours. And where a recorded
scenario was played to its end, each object is compared with the one that Kueue left there: finalizers, labels, annotations, owners,
conditions and all other fields, but for what a server or a clock gives.
"""
import re

# Fields of v1beta2 that deploy/crds has and Kueue's own definitions have not. The API server drops them as soon as Kueue's are applied.
ONLY_HERE = {
    "Workload": ["spec.admissionConstraints", "spec.workloadType", "spec.priorityClassName", "spec.priorityClassSource", "status.options",
                 "status.accumulatedPastExexcutionTimeSeconds", "status.admission.podSetAssignments[].topologyAssignment.domains"],
    "ClusterQueue": ["spec.admissionChecks", "spec.cohort", "spec.concurrentAdmission", "status.fairSharing.admissionFairSharingStatus", "status.pendingWorkloadsStatus",
                     "spec.concurrentAdmissionPolicy.migration.constraints.explicitVariants",
                     "spec.concurrentAdmissionPolicy.migration.constraints.upgradeFungibility"],
    "Cohort": ["status.fairSharing.admissionFairSharingStatus"],
    "LocalQueue": ["status.flavorUsage", "status.flavors"],
    "AdmissionCheck": ["spec.retryDelayMinutes"],
    "MultiKueueCluster": ["spec.clusterProfileRef", "spec.kubeConfig"],
}
# The other way round: what the API server drops of a Workload once our definitions are there.
MISSING_HERE = {"Workload": [f"spec.podSets[].template.metadata.{field}" for field in ("finalizers", "name", "namespace")]}
OURS = re.compile(r"(^|\.)hindsight\.dev(/|$)")
# What a server or a clock gives, and sentences, which say the same thing in other words. Names of Workloads end in a hash of uids.
GIVEN = ("apiVersion", "uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "message", "observedGeneration", "accumulatedPastExecutionTimeSeconds")
HASHED = re.compile(r"\b((?:job|jobset)-[a-z0-9-]+)-[0-9a-f]{5}\b")
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def has(value, path):
    """Is anything of that path set?"""
    if not path:
        return value is not None
    step, rest = path[0], path[1:]
    if step.endswith("[]"):
        return isinstance(value, dict) and any(has(inner, rest) for inner in value.get(step[:-2]) or [])
    return isinstance(value, dict) and step in value and has(value[step], rest)


def marks_of(o):
    meta = o["metadata"]
    yield from meta.get("labels") or {}
    yield from meta.get("annotations") or {}
    yield from meta.get("finalizers") or []


def key_of(o):
    """How an object is called that has another name in each cluster: by its owner."""
    owner = next((r for r in o["metadata"].get("ownerReferences", []) if r.get("controller")), None)
    place = owner["kind"] + "/" + owner["name"] if owner else o["metadata"]["name"]
    return o["kind"], o["metadata"].get("namespace"), place


def comparable(value):
    if isinstance(value, dict):
        kept = {k: comparable(v) for k, v in value.items() if k not in GIVEN and not k.endswith("Time") and not k.endswith("At")}
        return {k: v for k, v in kept.items() if v not in ({}, [], None)}  # which say the same as their absence
    if isinstance(value, list):
        items = [comparable(v) for v in value]
        if all(isinstance(v, dict) and "type" in v for v in items):
            items.sort(key=lambda v: v["type"])  # conditions, whose order says nothing
        return items
    return UID.sub("UID", HASHED.sub(r"\1-HASH", value)) if isinstance(value, str) else value


def flat(value, path=""):
    if isinstance(value, dict) and value:
        for key in sorted(value):
            yield from flat(value[key], f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for i, inner in enumerate(value):
            yield from flat(inner, f"{path}[{i}]")
    else:
        yield path, value


class Forms:
    def __init__(self, states, last_step):
        """`last_step`: of a case, by name."""
        self.ends = {left["case"]: left["objects"] for left in states if left["step"] == last_step(left["case"])}

    def judge(self, case, objects):
        """What Kueue would find strange, one line each."""
        objects = list(objects)
        for o in objects:
            name = "/".join(filter(None, key_of(o)))
            for mark in marks_of(o):
                if OURS.search(mark):
                    yield f"{name}: has {mark}"
            for path in ONLY_HERE.get(o["kind"], []):
                if has(o, path.split(".")):
                    yield f"{name}: has {path}, which Kueue's definition does not know"
        if case in self.ends:
            yield from self.compare(self.ends[case], objects)

    def compare(self, theirs, ours):
        by_key = lambda objects: {key: [o for o in sorted(objects, key=lambda o: (o["metadata"]["creationTimestamp"], o["metadata"]["name"])) if key_of(o) == key]
                                  for key in {key_of(o) for o in objects}}
        expected, found = by_key(theirs), by_key(ours)
        for key in sorted(set(expected) & set(found), key=str):
            if len(expected[key]) != len(found[key]):
                yield f"{key}: {len(found[key])} objects, Kueue left {len(expected[key])}"
                continue
            for a, b in zip(expected[key], found[key]):
                before, now = dict(flat(comparable(a))), dict(flat(comparable(b)))
                for path in sorted(set(before) | set(now)):
                    if before.get(path) != now.get(path) and not self.may_differ(a, path):
                        yield f"{'/'.join(filter(None, key))}: {path}: Kueue left {before.get(path)!r}, here it is {now.get(path)!r}"

    @staticmethod
    def may_differ(theirs, path):
        """Each line is a difference that Kueue puts right by itself, or does not look at, when it takes over."""
        finished = any(c["type"] == "Finished" and c["status"] == "True" for c in theirs.get("status", {}).get("conditions", []))
        if theirs["kind"] != "Workload":
            return False
        if path == "metadata.finalizers[0]":
            return True  # Workloads are made without it (D16); Kueue looks at it when one is deleted, and then only takes it away
        if path.startswith("status.resourceRequests"):
            return True  # what was asked for, for people; Kueue works it out anew
        # Kueue compares specs of pods. Of the rest of a template it keeps what the API server gives to a Job's, and in slices of a running
        # job what the start has put in; each start puts it in anew.
        return re.search(r"\.template\.metadata\.(labels|annotations)\.(kueue\.x-k8s\.io/|(batch\.kubernetes\.io/)?job-name$)", path) is not None
