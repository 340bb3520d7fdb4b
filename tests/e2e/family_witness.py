"""What is promised of families of concurrent admission (8691), judged from all versions of the API server's objects and from the log.

Versions of Jobs and Workloads have numbers of one counter, etcd's: put in that order they say what a reader of the API server could see at every
moment, however many hands wrote. CA-43, CA-44, CA-61, CA-111, CA-130, CA-131, CA-133
"""
import collections, json, subprocess, threading, time

from api_client import PATHS, Watch

PARENT_LABEL = "kueue.x-k8s.io/concurrent-admission-parent"
# Steps of a migration (CA-44) in their order, each named after what has happened last.
STEPS = ("decided", "evicted", "told", "suspended", "cleared", "admitted", "shown")

WorkloadSeen = collections.namedtuple("WorkloadSeen", "name uid owner owner_kind parent active admitted reserved evicted finished deleting queue usage")
JobSeen = collections.namedtuple("JobSeen", "name uid suspended finished deleting")
Version = collections.namedtuple("Version", "number at plural gone object")


def conditions(o):
    return {c["type"]: c for c in o.get("status", {}).get("conditions", [])}


def usage_of(workload):
    """Flavor → cpu of what it holds."""
    out = collections.Counter()
    for a in (workload.get("status", {}).get("admission") or {}).get("podSetAssignments", []):
        for resource, amount in a.get("resourceUsage", {}).items():
            out[a["flavors"][resource]] += int(amount)
    return dict(out)


def workload_seen(o):
    told = conditions(o)
    is_true = lambda kind: told.get(kind, {}).get("status") == "True"
    owner = next((r for r in o["metadata"].get("ownerReferences", []) if r.get("controller")), {})
    return WorkloadSeen(o["metadata"]["name"], o["metadata"]["uid"], owner.get("uid"), owner.get("kind"), PARENT_LABEL in o["metadata"].get("labels", {}),
                        o["spec"].get("active", True), is_true("Admitted") and is_true("QuotaReserved"), is_true("QuotaReserved"),
                        told["Evicted"]["reason"] if is_true("Evicted") else None, is_true("Finished"), "deletionTimestamp" in o["metadata"],
                        (o.get("status", {}).get("admission") or {}).get("clusterQueue"), usage_of(o))


def job_seen(o):
    told = conditions(o)
    finished = any(told.get(kind, {}).get("status") == "True" for kind in ("Complete", "Failed"))
    return JobSeen(o["metadata"]["name"], o["metadata"]["uid"], bool(o["spec"].get("suspend")), finished, "deletionTimestamp" in o["metadata"])


class Judge:
    """Is told of versions in their order, and says which of them must not have been there."""

    def __init__(self):
        self.jobs, self.workloads = {}, {}
        self.options_of = collections.defaultdict(dict)  # uid of a Parent → uid → Option
        self.workloads_of = collections.defaultdict(dict)  # uid of a job → uid → its Workload
        self.turns = collections.defaultdict(list)  # uid of a job → (version, "start" or "stop")
        self.since = {}  # (what, uid) → (version, time) from which on something is so that may be so only for a while
        self.spans = []  # (what, name, version, begin, end)
        self.findings = []
        self.overlaps = []  # an Option is admitted whose evicted sibling still shows its admission
        self.early = []  # a job is started before the admission of its Option is written
        self.versions = 0

    def take(self, v):
        self.versions += 1
        if v.plural == "jobs":
            before = self.jobs.pop(v.object.uid, None)
            if not v.gone:
                self.jobs[v.object.uid] = v.object
            if before and before.suspended != v.object.suspended:
                self.turns[v.object.uid].append((v.number, "stop" if v.object.suspended else "start"))
                if not v.object.suspended and self.is_family(v.object.uid) and not self.is_supported(v.object.uid):
                    self.early.append((v.number, v.object.name))
            self.look_at_job(v, v.object.uid, v.object.name)
            return
        w = v.object
        before = self.workloads.pop(w.uid, None)
        if not v.gone:
            self.workloads[w.uid] = w
        of = self.options_of if w.owner_kind == "Workload" else self.workloads_of
        of[w.owner].pop(w.uid, None)
        if not v.gone:
            of[w.owner][w.uid] = w
        if w.owner_kind == "Workload":
            self.look_at_options(v, w.owner)
            self.during(v, "an Option without a Parent", w.uid, w.name, not v.gone and w.owner not in self.workloads)
            parent = self.workloads.get(w.owner)
            if parent and parent.owner:
                self.look_at_job(v, parent.owner, parent.name)
        else:
            for option in self.options_of.get(w.uid, {}).values():
                self.during(v, "an Option without a Parent", option.uid, option.name, v.gone)
            self.look_at_job(v, w.owner, before.name if before else w.name)

    def is_family(self, job):
        """A job without one has a Workload as any other, and its start is written beside that one's admission."""
        return any(w.parent or self.options_of.get(w.uid) for w in self.workloads_of.get(job, {}).values())

    def is_supported(self, job):
        """An Option of its family is admitted, or its Workload, if that is no Parent."""
        for w in self.workloads_of.get(job, {}).values():
            options = self.options_of.get(w.uid, {}).values()
            if any(o.admitted for o in options) or (w.admitted and not w.parent):
                return True
        return False

    def look_at_options(self, v, parent):
        admitted = [o for o in self.options_of[parent].values() if o.admitted and not o.finished]
        firm = [o.name for o in admitted if not o.evicted]
        if len(firm) > 1:
            self.findings.append(f"version {v.number}: {sorted(firm)} are admitted, of one family (CA-43)")
        elif len(admitted) > 1:
            self.overlaps.append((v.number, sorted(o.name for o in admitted)))

    def look_at_job(self, v, uid, name):
        job = self.jobs.get(uid)
        runs = job is not None and not (job.suspended or job.finished or job.deleting)
        self.during(v, "a job runs without an admitted Option", uid, job.name if job else name, runs and not self.is_supported(uid))

    def during(self, v, what, uid, name, holds):
        key = (what, uid)
        if holds and key not in self.since:
            self.since[key] = (v.number, v.at, name)
        elif not holds and key in self.since:
            number, begin, name = self.since.pop(key)
            self.spans.append((what, name, number, begin, v.at))

    def lasting(self, away, seconds, now):
        """Spans longer than so many seconds in which Hindsight was there; `away`: (begin, end) of when it was not."""
        out = []
        still = [(what, name, number, begin, now) for (what, _), (number, begin, name) in self.since.items()]
        for what, name, number, begin, end in [*self.spans, *still]:
            there = end - begin - sum(max(0.0, min(end, b) - max(begin, a)) for a, b in away)
            if there > seconds:
                out.append(f"version {number}: {what} for {there:.1f} s: {name}")
        return out


class Witness:
    """Watches Jobs and Workloads, judges again and again, and tells when a migration has reached a step."""

    lag_seconds = 3  # after which a watch has told what a list has shown

    def __init__(self, api):
        self.api = api
        self.lock = threading.Lock()
        self.all, self.taken, self.late = [], 0, 0
        self.judge = Judge()
        self.newest = {}  # uid → what was seen last
        self.objects = {}  # uid of a Workload → all of it
        self.moving = set()  # uids of Parents whose job moves
        self.wanted, self.reached, self.where = None, threading.Event(), None
        self.listeners = []
        self.watches = [Watch(api, plural, self.see) for plural in ("jobs", "workloads")]
        for w in self.watches:
            w.start()
        for w in self.watches:
            w.ready.wait()
        self.horizons, self.judged_at = collections.deque(), time.monotonic()
        self.away = []  # when Hindsight was killed and when it was started again

    def end(self):
        for w in self.watches:
            w.ending.set()
        self.api.close()

    def see(self, plural, kind, o):
        gone = kind == "DELETED"
        seen = job_seen(o) if plural == "jobs" else workload_seen(o)
        with self.lock:
            self.all.append(Version(int(o["metadata"]["resourceVersion"]), time.monotonic(), plural, gone, seen))
            before = self.newest.pop(seen.uid, None)
            self.objects.pop(seen.uid, None)
            if not gone:
                self.newest[seen.uid] = seen
                if plural == "workloads":
                    self.objects[seen.uid] = o
            self.signal(before, seen)
        if not gone and plural == "workloads":
            for listener in self.listeners:
                listener(o)

    # ---- steps

    def signal(self, before, now):
        if before is None:
            return
        if isinstance(now, JobSeen):
            parent = next((w for w in self.newest.values() if isinstance(w, WorkloadSeen) and w.owner == now.uid), None)
            if parent and parent.uid in self.moving:
                if now.suspended and not before.suspended:
                    self.step("suspended", parent.uid)
                elif before.suspended and not now.suspended:
                    self.moving.discard(parent.uid)
            return
        if now.owner_kind == "Workload":
            if now.evicted == "FlavorMigration" and before.evicted is None:
                self.moving.add(now.owner)
                self.step("evicted", now.owner)
            elif now.admitted and not before.admitted and now.owner in self.moving:
                self.step("admitted", now.owner)
        elif now.uid in self.moving:
            if now.evicted and not before.evicted:
                self.step("told", now.uid)
            elif before.reserved and not now.reserved:
                self.step("cleared", now.uid)
            elif now.admitted and not before.admitted:
                self.step("shown", now.uid)

    def step(self, name, parent):
        if name == self.wanted and not self.reached.is_set() and parent in self.objects:
            self.where = self.objects[parent]["spec"]["queueName"]
            self.reached.set()

    def want(self, step):
        """`reached` is set when some migration gets there, and `where` is its LocalQueue."""
        with self.lock:
            self.wanted, self.where = step, None
            self.reached.clear()

    # ---- judging

    def now(self):
        with self.lock:
            return dict(self.newest)

    def look(self, seconds):
        """Judges all versions up to some seconds ago. Raises when one of them must not have been there."""
        for w in self.watches:
            if w.failure:
                raise RuntimeError(f"the watch of {w.plural} has ended") from w.failure
        self.horizons.append((time.monotonic(), int(self.api.request("GET", PATHS["jobs"] + "?limit=1")["metadata"]["resourceVersion"])))
        up_to = 0
        while self.horizons and self.horizons[0][0] < time.monotonic() - self.lag_seconds:
            self.judged_at, up_to = self.horizons.popleft()
        with self.lock:
            rest = self.all[self.taken:]
            due = sorted((v for v in rest if v.number <= up_to), key=lambda v: v.number)
            self.all[self.taken:] = due + [v for v in rest if v.number > up_to]
            if due and self.taken and due[0].number < self.all[self.taken - 1].number:
                self.late += 1  # the last judgement begins anew
            self.taken += len(due)
        for v in due:
            self.judge.take(v)
        self.rule(self.judge, seconds, self.judged_at)

    def rule(self, judge, seconds, now):
        found = judge.findings + judge.lasting(self.away, seconds, now)
        if found:
            raise RuntimeError("\n".join(found[:20]))  # no assertion: nothing to be waited for

    def last_judgement(self, seconds):
        """Of all versions once more, after everything has been told."""
        with self.lock:
            every = sorted(self.all, key=lambda v: v.number)
        judge = Judge()
        for v in every:
            judge.take(v)
        self.judge = judge
        self.rule(judge, seconds, time.monotonic())
        return judge


class Move:
    def __init__(self, domain, offset, to, version, ran):
        self.domain, self.offset, self.to, self.version, self.ran = domain, offset, to, version, ran
        self.step, self.end, self.end_offset, self.last_version = "decided", None, None, None


class FamilyLog:
    """What the log says of families, against what was seen of their jobs. `families`: uid of an Option → uid of its Parent; `job_of`: uid of a Parent
    → uid of its job."""

    KINDS = ("EpochStarted", "FamilyFormed", "FamilyDissolved", "FamilyReset", "OptionRequested", "OptionSwitched", "OptionAdopted", "OptionAdmitted",
             "MigrationStarted", "PreemptionGateChanged", "WorkloadEvicted", "WorkloadPreempted", "WorkloadFinished", "ReservationCleared", "QuotaReserved",
             "WorkloadAdmitted", "JobStopped", "JobObserved", "ObjectDeleted")

    def __init__(self, families, job_of):
        self.families, self.job_of = families, job_of
        self.parents_of = collections.defaultdict(list)
        for parent, job in job_of.items():
            self.parents_of[job].append(parent)
        self.moves = collections.defaultdict(list)  # uid of a Parent → its migrations
        self.running = {}  # uid of a job → (version, suspended) as the log saw it last
        self.evictions = collections.Counter()  # uid of a job → how often there was a reason to stop it
        self.admitted = collections.defaultdict(set)  # uid of a Parent → Options that are
        self.alone = set()  # Workloads of jobs that are admitted themselves, since they are no Parents
        self.gone = set()
        self.epochs = collections.defaultdict(int)  # domain → the one that counts
        self.takeovers = []  # (offset, domain, steps of the migrations that were under way)
        self.findings = []
        self.counts = collections.Counter()

    def read(self, hindsight, log, *more):
        words = [hindsight, "log", "cat", "--log", log, "-o", "json", *more, *(w for kind in self.KINDS for w in ("--kind", kind))]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as cat:
            for line in cat.stdout:
                self.take(json.loads(line))
        if cat.returncode != 0:
            raise RuntimeError(f"{' '.join(words[:4])}: status {cat.returncode}")

    def open_move(self, parent):
        moves = self.moves.get(parent)
        return moves[-1] if moves and moves[-1].end is None else None

    def starting_move(self, parent):
        """One whose job is yet to be seen running."""
        moves = self.moves.get(parent)
        return moves[-1] if moves and moves[-1].end == "admitted" and moves[-1].last_version is None else None

    def take(self, r):
        kind, body, domain = r["kind"], r["body"], r["domain"]
        if kind == "EpochStarted":
            if self.epochs[domain]:
                under_way = [m.step for p in self.moves for m in [self.open_move(p) or self.starting_move(p)] if m and m.domain == domain]
                self.takeovers.append((r["offset"], domain, sorted(under_way, key=STEPS.index)))
            self.epochs[domain] = max(self.epochs[domain], r["epoch"])
        elif kind == "JobObserved":
            self.take_job(r["offset"], body)
        elif kind == "ObjectDeleted" and not body.get("departedTo"):
            uid = body.get("uid")
            self.gone.add(uid)
            for options in self.admitted.values():
                options.discard(uid)
            for parent in [uid, *self.parents_of.get(uid, [])]:
                self.close(parent, "deleted", r["offset"])
        elif kind == "Decisions" and r["epoch"] >= self.epochs[domain]:  # else somebody else had taken over
            for e in body["events"]:
                self.counts[e["event"]] += 1
                self.take_event(domain, r["offset"], e)

    def take_job(self, offset, job):
        uid = job["meta"]["uid"]
        suspended = job.get("suspended", False)
        version = int(job["meta"].get("resourceVersion", self.running.get(uid, (0,))[0]))  # the same is told again without one
        self.running[uid] = (version, suspended)
        for parent in self.parents_of.get(uid, []):
            m = self.open_move(parent)
            if m and suspended and m.step in ("decided", "told"):
                m.step = "suspended"
            if m and job.get("finished"):
                self.close(parent, "finished", offset)
            m = self.starting_move(parent)
            if m and not suspended:
                m.last_version = version

    def close(self, parent, how, offset):
        m = self.open_move(parent)
        if m:
            m.end, m.end_offset = how, offset
        m = self.starting_move(parent)
        if m and how != "admitted":
            m.last_version = 0  # nobody will say when it was started

    def take_event(self, domain, offset, e):
        what, uid = e["event"], e.get("workload", {}).get("uid")
        if what == "MigrationStarted":
            parent = e["parent"]["uid"]
            m = self.open_move(parent)
            if m:  # a better Option takes it over (CA-53)
                m.to = uid
                return
            self.close(parent, "superseded", offset)
            version, suspended = self.running.get(self.job_of.get(parent), (0, True))
            self.moves[parent].append(Move(domain, offset, uid, version, not suspended))
        elif what in ("WorkloadEvicted", "WorkloadPreempted"):
            if uid in self.job_of:
                self.evictions[self.job_of[uid]] += 1
                m = self.open_move(uid)
                if m and m.step == "decided":
                    m.step = "told"
                if self.starting_move(uid):
                    self.close(uid, "evicted", offset)
        elif what == "JobStopped":
            self.evictions[e["job"]["uid"]] += 1
        elif what == "ReservationCleared":
            m = self.open_move(uid)
            if m:
                m.step = "cleared"
            self.forget(uid)
        elif what == "OptionAdmitted":
            m = self.open_move(uid)
            if m:
                m.step = "shown"
                self.close(uid, "admitted", offset)
        elif what in ("FamilyReset", "FamilyDissolved"):
            self.close(uid, {"FamilyReset": "reset", "FamilyDissolved": "dissolved"}[what], offset)
            if what == "FamilyDissolved" and self.admitted.pop(uid, None):
                self.alone.add(uid)
        elif what == "WorkloadFinished":
            self.gone.add(uid)
            self.forget(uid)
            self.close(uid, "finished", offset)
        elif what == "OptionAdopted":
            if self.forget(e["from"]["uid"]):  # else it held a reservation
                self.admit(offset, uid)
        elif what == "WorkloadAdmitted" or (what == "QuotaReserved" and e.get("admitted")):
            self.admit(offset, uid)

    def forget(self, uid):
        """True: it was admitted."""
        options = self.admitted[self.families.get(uid)]
        was = uid in options or uid in self.alone
        options.discard(uid)
        self.alone.discard(uid)
        return was

    def admit(self, offset, uid):
        parent = self.families.get(uid)
        if uid in self.gone:
            return
        if parent is None:
            self.alone.add(uid)
            return
        m = self.open_move(parent)
        if m and uid == m.to:
            m.step = "admitted"
        self.admitted[parent].add(uid)
        if len(self.admitted[parent]) > 1:
            self.findings.append(f"record {offset}: {sorted(self.admitted[parent])} are admitted, of the family {parent} (CA-43)")

    def compare(self, turns, names):
        """Each migration stops its job once and starts it once, and no job is stopped more often than its Workload was evicted. `turns`: uid of a
        job → (version, "start" or "stop")."""
        ends = collections.Counter()
        for parent, moves in self.moves.items():
            job = self.job_of.get(parent)
            for m in moves:
                ends[m.end or "under way"] += 1
                if m.end != "admitted" or not m.last_version:
                    continue
                ends["judged by the turns of their jobs"] += 1
                seen = [turn for version, turn in turns.get(job, []) if m.version < version <= m.last_version]
                if seen[:2] == ["start", "stop"]:
                    seen = seen[1:]  # its start was under way when the migration was decided
                if seen != ["stop", "start"] and not (not m.ran and seen in (["start"], [])):
                    self.findings.append(f"record {m.offset}: the migration of {names.get(job, job)} has turns {seen} between versions {m.version} and "
                                         f"{m.last_version}; allowed: one stop and one start (CA-44)")
        for job, seen in turns.items():
            stops = sum(turn == "stop" for _, turn in seen)
            if stops > self.evictions[job]:
                self.findings.append(f"{names.get(job, job)} was stopped {stops} times, and evicted {self.evictions[job]} times: {seen}")
        return ends
