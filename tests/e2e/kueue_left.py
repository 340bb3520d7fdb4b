"""Loads into an API server what the real Kueue left in another one (tests/adoption), as if it had been left there.

A fresh server gives uids, creation times and generations of its own, so whatever names one of these is rewritten: owners, labels, messages,
conditions. All moments that order anything (creations of Workloads, transitions of conditions) keep their order, a second apart each. No
controller may run meanwhile.
"""
import bisect, datetime, json, lzma, os, time

from steps import ROOT

FILE = os.path.join(ROOT, "tests", "adoption", "kueue-left.jsonl.xz")
CONFIGURATION = ("WorkloadPriorityClass", "PriorityClass", "Topology", "Node", "ResourceFlavor", "AdmissionCheck", "Cohort", "ClusterQueue", "LocalQueue")
JOBS = ("Job", "JobSet")
MADE_BY_THE_SERVER = ("batch.kubernetes.io/controller-uid", "controller-uid", "batch.kubernetes.io/job-name", "job-name")
JSON_MERGE = "application/merge-patch+json"


def states_left():
    """{"CASE-STEP": {"case", "step", "state", "objects"}}"""
    with lzma.open(FILE, "rt", encoding="utf-8") as file:
        return {f"{left['case']}-{left['step']:02}": left for left in map(json.loads, file)}


def seconds_of(text):
    return int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


def text_of(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def times_in(value):
    """All moments that a status tells."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str) and (key.endswith("Time") or key.endswith("At")):
                yield seconds_of(inner)
            else:
                yield from times_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from times_in(inner)


class Clock:
    """Maps the moments of the old cluster to seconds of this one, each a second after the one before it."""

    def __init__(self, moments):
        self.old = sorted(set(moments))
        self.begin = int(time.time()) + 2

    def new(self, old):
        """What lies between two known moments, or after the last, keeps its distance from the one before it."""
        place = max(bisect.bisect_right(self.old, old) - 1, 0)
        return self.begin + place + (max(old - self.old[place], 0) if place == len(self.old) - 1 else 0)

    def wait_for(self, old):
        """Until that second is the server's, with some room: it cuts times to seconds."""
        time.sleep(max(0.0, self.new(old) + 0.1 - time.time()))


class Loader:
    def __init__(self, api, left):
        self.api, self.left = api, left
        self.uids = {}  # old: new
        workloads = [o for o in left["objects"] if o["kind"] == "Workload"]
        self.clock = Clock([seconds_of(w["metadata"]["creationTimestamp"]) for w in workloads] + [t for w in workloads for t in times_in(w.get("status", {}))])

    def load(self):
        objects = self.left["objects"]
        of = lambda kind: sorted((o for o in objects if o["kind"] == kind), key=lambda o: (o["metadata"]["creationTimestamp"], o["metadata"]["name"]))
        known = set(CONFIGURATION) | set(JOBS) | {"Workload", "Namespace"}
        strange = {o["kind"] for o in objects} - known
        assert not strange, f"the loader does not know {strange}"
        for kind in (*CONFIGURATION, *JOBS):
            for o in of(kind):
                self.create(o)
        for o in of("Workload"):
            self.clock.wait_for(seconds_of(o["metadata"]["creationTimestamp"]))
            self.create(o)
        if self.clock.old:
            self.clock.wait_for(self.clock.old[-1])  # no status tells of the future
            time.sleep(1)

    def create(self, old):
        kind, meta = old["kind"], old["metadata"]
        o = self.rewritten(json.loads(json.dumps(old)))
        for field in ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"):
            o["metadata"].pop(field, None)
        assert "deletionTimestamp" not in meta, f"{kind} {meta['name']} was being deleted: that cannot be loaded"
        status = o.pop("status", None)
        if kind == "Job":
            o["spec"].pop("selector", None)
            labels = o["spec"]["template"].get("metadata", {}).get("labels", {})
            for key in MADE_BY_THE_SERVER:
                labels.pop(key, None)
        if kind == "Node":
            status.pop("daemonEndpoints", None)
        made = self.api.call("POST", self.api.path(kind, meta.get("namespace")), o)
        self.uids[meta["uid"]] = made["metadata"]["uid"]
        if status:
            self.adjust(status, meta, made["metadata"])
            if kind == "Workload":
                self.move_times(status)
            self.write_status(kind, meta, status)

    def adjust(self, status, old, new):
        """Conditions tell which generation of the object they are about: here the first one is what the last one was there."""
        for condition in status.get("conditions", []):
            if "observedGeneration" in condition:
                behind = max(old.get("generation", 1) - condition["observedGeneration"], 0)
                condition["observedGeneration"] = max(new["generation"] - behind, 0)

    def move_times(self, value):
        if isinstance(value, dict):
            for key, inner in value.items():
                if isinstance(inner, str) and (key.endswith("Time") or key.endswith("At")):
                    value[key] = text_of(self.clock.new(seconds_of(inner)))
                else:
                    self.move_times(inner)
        elif isinstance(value, list):
            for inner in value:
                self.move_times(inner)

    def write_status(self, kind, meta, status):
        path = self.api.path(kind, meta.get("namespace"), meta["name"], "status")
        conditions = status.get("conditions", [])
        last = {"Complete", "Failed"} if kind == "Job" else set()
        if any(c["type"] in last for c in conditions):  # the server takes the end of a Job only after what leads to it
            before = {k: v for k, v in status.items() if k not in ("completionTime", "succeeded")}
            self.api.call("PATCH", path, {"status": {**before, "conditions": [c for c in conditions if c["type"] not in last]}}, JSON_MERGE)
        self.api.call("PATCH", path, {"status": status}, JSON_MERGE)

    def rewritten(self, value):
        """The same with the uids of this server."""
        text = json.dumps(value)
        for old, new in self.uids.items():
            text = text.replace(old, new)
        return json.loads(text)
