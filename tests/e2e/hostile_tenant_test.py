#!/usr/bin/env python3
"""A hostile tenant on a real API server with its controllers and KWOK nodes.

usage: hostile_tenant_test.py HINDSIGHT HOSTILE_OBJECTS [--seed S] [--flood N] [--measure]

A user who may write jobs, Workloads, LocalQueues, pods and statuses of one namespace writes one of every hostile kind (tests/hostile) and floods of objects and
changes, while the jobs of three other tenants arrive. At the end all of these ran, Hindsight is the process that it was at the start and never built its domain anew, its
log grew by no more than 64 KiB for each request that was accepted, and it comes to rest while all of it is still there: no records, no writes, and no step that only
repeats what was decided before.

--measure also judges time, for a release build on a machine that does nothing else: how fast the others' jobs end beside a flood, against the same number of
ConfigMaps of the same size, which burden the API server alone (0.9 or better), and the processor time of Hindsight for each request (1 ms). For comparison it says
the same of Jobs that Hindsight leaves alone.
"""
import argparse, collections, concurrent.futures, copy, glob, json, os, queue, shutil, statistics, sys, tempfile, time, unittest, urllib.request

from steps import ROOT, WAIT_SECONDS_MAX, Program, eventually, free_port, run

sys.path.insert(0, os.path.join(ROOT, "tests", "deploy"))
import api_server  # noqa: E402
import forged_owners_test  # noqa: E402  the open definitions of Ray's kinds

ARGS = None

TENANT = "mallory"
GOOD = ["good-0", "good-1", "good-2"]
JOBS_EACH = 10
THREADS = 8
LOG_BYTES_MAX = 64 * 1024
CALM_SECONDS = 5
# So many characters of one text fit into an object that etcd takes (1.5 MiB).
GROWING = 1_450_000
# A Job and its Workload with such a text fit, too, and so does each of its pods.
MEGABYTE = 1_000_000
MEGABYTE_JOBS = 24
# What the API server refuses is tried again ever more rarely; an endless circle of writes comes dozens of times a second.
WRITES_AT_REST_MAX = 10
# A hundred kilobytes each: a tenth of them is as much to read.
LARGE = {"huge-jobs", "statuses-up-to-the-limit"}
# Beyond what the definition of Workloads allows; in simulation nobody refuses them.
REFUSED_BY_THE_SERVER = {"statuses-beyond-all-limits"}
# Ordinary jobs, jobs of which each brings new names and a new shape, and Workloads without a job.
MEASURED_FLOODS = ["jobs", "jobs-of-new-shapes", "workloads"]
PLURALS = {"Job": ("/apis/batch/v1", "jobs"), "JobSet": ("/apis/jobset.x-k8s.io/v1alpha2", "jobsets"), "RayJob": ("/apis/ray.io/v1", "rayjobs"),
           "RayCluster": ("/apis/ray.io/v1", "rayclusters"), "Workload": ("/apis/kueue.x-k8s.io/v1beta2", "workloads"),
           "LocalQueue": ("/apis/kueue.x-k8s.io/v1beta2", "localqueues"), "Pod": ("/api/v1", "pods"), "LimitRange": ("/api/v1", "limitranges"),
           "ConfigMap": ("/api/v1", "configmaps")}


def path_of(kind, name=""):
    prefix, plural = PLURALS[kind]
    return f"{prefix}/namespaces/{TENANT}/{plural}" + (f"/{name}" if name else "")


def kueue(kind, name, spec, namespace=None):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name, **({"namespace": namespace} if namespace else {})}, "spec": spec}


def good_job(namespace, name):
    template = {"metadata": {"annotations": {"hindsight.dev/run-seconds": "1"}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": namespace, "labels": {"kueue.x-k8s.io/queue-name": "lq"}},
            "spec": {"suspend": True, "parallelism": 1, "completions": 1, "template": template}}


class Client(api_server.Cluster):
    """One connection, as admin or as another user."""

    def __init__(self, folder, user=None):
        super().__init__(folder)
        self.connect()
        if user:
            self.headers["Impersonate-User"] = user

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def try_to(self, method, path, body=None, content="application/json"):
        """The object; None: the server says no, for whatever reason."""
        try:
            return self.call(method, path, body, content)
        except api_server.Refused:
            return None
        except (OSError, ValueError, ConnectionError):
            self.connect_again()
            return None

    def connect_again(self):
        user = self.headers.get("Impersonate-User")
        self.connection.close()
        self.connect()
        if user:
            self.headers["Impersonate-User"] = user


class HostileTenantTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.dev = os.path.join(ROOT, "dev")
        cls.cluster = os.path.join(cls.folder, "cluster")
        run(cls.dev, "cluster", "up", "--dir", cls.cluster, timeout=960)
        cls.addClassCleanup(run, cls.dev, "cluster", "down", "--dir", cls.cluster)
        jobset = run(os.path.join(ROOT, "scripts", "tools.sh"), "path", "jobset-crd.yaml").strip().splitlines()[-1]
        definitions = [*sorted(glob.glob(os.path.join(ROOT, "deploy", "crds", "*.yaml"))), jobset]
        cls.kubectl("apply", "--server-side", *[w for f in definitions for w in ("-f", f)])
        cls.create(forged_owners_test.ray_definition("RayJob"), forged_owners_test.ray_definition("RayCluster"))
        eventually(lambda: cls.kubectl("get", "jobsets.jobset.x-k8s.io,rayjobs.ray.io,rayclusters.ray.io,workloads.kueue.x-k8s.io,clusterqueues.kueue.x-k8s.io"))
        objects = [kueue("ResourceFlavor", "any", {})]
        for name in [TENANT, *GOOD]:
            group = {"coveredResources": ["cpu"], "flavors": [{"name": "any", "resources": [{"name": "cpu", "nominalQuota": 2}]}]}
            selector = {"matchLabels": {"kubernetes.io/metadata.name": name}}
            objects += [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
                        kueue("ClusterQueue", name, {"namespaceSelector": selector, "resourceGroups": [group]}),
                        kueue("LocalQueue", "lq", {"clusterQueue": name}, name)]
        everything = [{"apiGroups": ["", "batch", "jobset.x-k8s.io", "ray.io", "kueue.x-k8s.io"], "resources": ["*"], "verbs": ["*"]}]
        objects += [{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": TENANT, "namespace": TENANT}, "rules": everything},
                    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": TENANT, "namespace": TENANT},
                     "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": TENANT},
                     "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": TENANT}]}]
        cls.create(*objects)
        cls.http = free_port()
        cls.log = os.path.join(cls.folder, "log.db")
        cls.program = Program("hindsight", os.path.join(cls.folder, "hindsight.out"), ARGS.hindsight, "run", "--kubeconfig", os.path.join(cls.cluster, "kubeconfig"),
                              "--log", "sqlite:" + cls.log, "--no-lease", "--http", f"127.0.0.1:{cls.http}")
        cls.program.start()
        cls.addClassCleanup(cls.program.kill)
        eventually(lambda: cls.ready())

    @classmethod
    def kubectl(cls, *words, **more):
        return run(cls.dev, "cluster", "kubectl", "--dir", cls.cluster, "--", *words, **more)

    @classmethod
    def create(cls, *objects):
        cls.kubectl("create", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    @classmethod
    def ask(cls, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{cls.http}{path}", timeout=30) as answer:
            return answer.read().decode()

    @classmethod
    def ready(cls):
        try:
            cls.ask("/readyz")
        except OSError as error:
            raise AssertionError(str(error)) from error

    def figure(self, name):
        for line in self.ask("/metrics").splitlines():
            if line.startswith(name + " ") or line.startswith(name + "{"):
                return float(line.rsplit(" ", 1)[1])
        raise AssertionError(f"no metric {name}")

    def log_bytes(self):
        return sum(os.path.getsize(f) for f in glob.glob(self.log + "*") if not f.endswith("-shm"))

    def processor_seconds(self):
        with open(f"/proc/{self.program.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    # ---- the others ----------------------------------------------------------------------------------------------------

    def good_jobs(self, prefix):
        with Client(self.cluster) as client:
            for namespace in GOOD:
                for i in range(JOBS_EACH):
                    client.call("POST", f"/apis/batch/v1/namespaces/{namespace}/jobs", good_job(namespace, f"{prefix}-{i}"))

    def not_complete(self, prefix):
        with Client(self.cluster) as client:
            waiting = []
            for namespace in GOOD:
                for item in client.call("GET", f"/apis/batch/v1/namespaces/{namespace}/jobs")["items"]:
                    conditions = {c["type"]: c["status"] for c in item.get("status", {}).get("conditions", [])}
                    if item["metadata"]["name"].startswith(prefix) and conditions.get("Complete") != "True":
                        waiting.append(f"{namespace}/{item['metadata']['name']}")
            return waiting

    def victims(self):
        with Client(self.cluster) as client:
            return "".join(f"{n} {i['metadata']['name']} {i['metadata']['uid']}\n" for n in GOOD for i in client.call("GET", f"/apis/batch/v1/namespaces/{n}/jobs")["items"])

    # ---- the tenant ------------------------------------------------------------------------------------------------------

    def requests_of(self, *words, victims=""):
        return [json.loads(line) for line in run(ARGS.hostile_objects, *words, input=victims).splitlines()]

    def resolved(self, client, body):
        """The body with uids in place of names. Without recursion: some are nested deeper than Python calls itself."""
        whole = [body]
        open_ = [whole]
        while open_:
            part = open_.pop()
            for key, value in list(part.items() if isinstance(part, dict) else enumerate(part)):
                if isinstance(value, (dict, list)):
                    open_.append(value)
                elif isinstance(value, str) and value.startswith("@uid:"):
                    kind, name = value[5:].split("/", 1)
                    found = client.try_to("GET", path_of(kind, name))
                    part[key] = found["metadata"]["uid"] if found else "00000000-0000-0000-0000-000000000000"
        return whole[0]

    def write(self, client, request):
        """True: the API server took it."""
        if request["verb"] == "create":
            body = self.resolved(client, request["body"])
            body["metadata"]["namespace"] = TENANT
            return client.try_to("POST", path_of(request["kind"]), body) is not None
        path = path_of(request["kind"], request["name"]) + ("/status" if request["status"] else "")
        if request["verb"] == "patch":
            return client.try_to("PATCH", path, self.resolved(client, request["body"]), "application/merge-patch+json") is not None
        return client.try_to("DELETE", path + "?propagationPolicy=Background") is not None

    def write_all(self, requests, user=TENANT):
        """In several threads, what belongs to one hostile object in its order; how many were accepted."""
        lots = collections.OrderedDict()
        for number, request in enumerate(requests):
            by_object = request["hostile"].startswith("flood/")
            lots.setdefault((request["hostile"], request["name"] if by_object else ""), []).append(request)
        waiting = queue.Queue()
        for lot in lots.values():
            waiting.put(lot)

        def work(_):
            accepted = 0
            with Client(self.cluster, user) as client:
                while True:
                    try:
                        lot = waiting.get_nowait()
                    except queue.Empty:
                        return accepted
                    accepted += sum(self.write(client, request) for request in lot)

        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            return sum(pool.map(work, range(THREADS)))

    # ---- tests -------------------------------------------------------------------------------------------------------------

    def unharmed(self, prefix):
        """What must hold after whatever the tenant wrote."""
        waiting = None

        def complete():
            nonlocal waiting
            waiting = self.not_complete(prefix)
            assert not waiting, f"{len(waiting)} of the others' jobs have not ended: {waiting[:5]}"
        eventually(complete, 2 * WAIT_SECONDS_MAX)
        self.assertTrue(self.program.runs(), self.program.said()[-3000:])
        self.assertEqual(self.figure("hindsight_domain_restarts_total"), 0)

        def at_rest():
            before, written = self.figure("hindsight_log_position"), self.figure("hindsight_writes_total")
            time.sleep(CALM_SECONDS)
            after, written_after = self.figure("hindsight_log_position"), self.figure("hindsight_writes_total")
            # A timer and a refused write that is tried again may come; an endless decision comes hundreds of times.
            assert after - before <= 10, f"{after - before} records within {CALM_SECONDS} s while nobody writes"
            assert written_after - written <= WRITES_AT_REST_MAX, f"{written_after - written} writes within {CALM_SECONDS} s while nobody else writes"
        eventually(at_rest, 4 * WAIT_SECONDS_MAX)
        self.assertEqual(self.figure("hindsight_repeated_steps_total"), 0, "a rule decides in circles; the log of the process names the job")

    def cost_little(self, accepted, bytes_before):
        """So many requests: files grow in larger steps than one of them fills."""
        grown = self.log_bytes() - bytes_before
        print(f"{accepted} requests accepted, the log grew by {grown} bytes, {grown // max(accepted, 1)} each", flush=True)
        self.assertLess(grown, LOG_BYTES_MAX * max(accepted, 1))

    def test_0_what_grows_on_its_way(self):
        """The API server writes a "<" of a text as six bytes. An object of a megabyte and a half, as much as it stores, is nine then; no watch ends because of it."""
        self.good_jobs("grown")
        grown = good_job(TENANT, "grown")
        grown["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "E", "value": "<" * GROWING}]
        with Client(self.cluster, TENANT) as client:
            self.assertIsNotNone(client.try_to("POST", path_of("Job"), grown), "the API server stores less than was thought")
            for i in range(5):
                note = {"metadata": {"annotations": {"note": str(i)}}}
                self.assertIsNotNone(client.try_to("PATCH", path_of("Job", "grown"), note, "application/merge-patch+json"))
            self.unharmed("grown")
            self.assertNotIn("broke", self.program.said())
            client.try_to("DELETE", path_of("Job", "grown") + "?propagationPolicy=Background")

    def test_0_a_flood_of_megabyte_jobs(self):
        """Each brings a Workload as large, and a start that says its whole pod template again. Such writes go a few at a time (large_writes.hpp), and nobody else waits for them."""
        megabyte = good_job(TENANT, "any")
        megabyte["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "E", "value": "x" * MEGABYTE}]
        requests = [{"hostile": f"flood/{i}", "verb": "create", "kind": "Job", "name": f"megabyte-{i}", "status": False, "body": {**megabyte, "metadata": {**megabyte["metadata"], "name": f"megabyte-{i}"}}}
                    for i in range(MEGABYTE_JOBS)]
        before = json.loads(run(ARGS.hindsight, "log", "stats", "--log", "sqlite:" + self.log, "-o", "json"))["bytes"]
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            flood = pool.submit(self.write_all, requests)
            self.good_jobs("beside")
            accepted = flood.result()
        self.assertEqual(accepted, MEGABYTE_JOBS)
        self.unharmed("beside")
        # Of records, since a file grows in larger steps than so few need; of the others' jobs, too.
        grown = json.loads(run(ARGS.hindsight, "log", "stats", "--log", "sqlite:" + self.log, "-o", "json"))["bytes"] - before
        self.assertLess(grown, LOG_BYTES_MAX * accepted, f"{grown // accepted} bytes for each")
        with Client(self.cluster) as client:
            jobs = client.call("GET", path_of("Job"))["items"]
            served = [j["metadata"]["name"] for j in jobs if any(c["type"] == "Complete" and c["status"] == "True" for c in j.get("status", {}).get("conditions", []))]
            self.assertEqual(len(served), MEGABYTE_JOBS, "they are large, and as good as any")
            for job in jobs:
                client.try_to("DELETE", path_of("Job", job["metadata"]["name"]) + "?propagationPolicy=Background")

    def test_1_every_kind_of_object(self):
        before = self.log_bytes()
        self.good_jobs("first")
        requests = self.requests_of("make", str(ARGS.seed), victims=self.victims())
        accepted = self.write_all(requests)
        self.good_jobs("second")
        self.assertGreater(accepted, len(requests) // 3, "most of what is tried must get past the API server, else nothing is proved")
        self.unharmed(("first", "second"))
        self.cost_little(accepted, before)

    def test_2_floods(self):
        names = [line.split()[2] for line in run(ARGS.hostile_objects, "kinds").splitlines() if line.startswith("flood ")]
        before = self.log_bytes()
        accepted = 0
        for number, name in enumerate(names):
            if number % 3 == 0:
                self.good_jobs(f"flood-{number}")
            count = ARGS.flood if name not in LARGE else ARGS.flood // 10
            accepted_here = self.write_all(self.requests_of("flood", name, str(ARGS.seed), "0", str(count)))
            print(f"flood {name}: {accepted_here} of {count} requests accepted", flush=True)
            fewest = 1 if name in REFUSED_BY_THE_SERVER else count // 3
            self.assertGreaterEqual(accepted_here, fewest, f"{name}: what the API server refuses proves nothing")
            accepted += accepted_here
        self.unharmed("flood-")
        self.cost_little(accepted, before)

    @staticmethod
    def left_alone(jobs):
        """The same jobs under other names, suspended and without a queue: what they cost is the API server's and the job controller's alone."""
        out = copy.deepcopy(jobs)
        for request in out:
            request["name"] = request["body"]["metadata"]["name"] = "alone-" + request["name"]
            request["body"]["metadata"]["labels"] = {}
        return out

    @unittest.skipUnless("--measure" in sys.argv, "it takes time, and a release build")
    def test_3_measure(self):
        """The others' jobs end so fast beside ConfigMaps, and so fast beside each flood of as many hostile objects; in turns, the median counts."""
        def beside(prefix, requests):
            pool = concurrent.futures.ThreadPoolExecutor(1)
            flood = pool.submit(self.write_all, requests)
            start, cpu, log = time.monotonic(), self.processor_seconds(), self.log_bytes()
            self.good_jobs(prefix)
            while self.not_complete(prefix):
                time.sleep(0.2)
            seconds = time.monotonic() - start
            accepted = flood.result()
            self.assertGreaterEqual(accepted, 0.9 * len(requests), "what the API server refuses burdens nobody else")
            time.sleep(CALM_SECONDS)
            return seconds, accepted, self.processor_seconds() - cpu, self.log_bytes() - log

        ratios, milliseconds, bytes_each = [], {}, {}
        for turn in range(ARGS.turns):
            for name in MEASURED_FLOODS:
                hostile = self.requests_of("flood", name, str(ARGS.seed + 1 + turn), "0", str(ARGS.flood))
                maps = [{"hostile": "flood/maps", "verb": "create", "kind": "ConfigMap", "name": f"{name}-{turn}-{i}", "status": False,
                         "body": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{name}-{turn}-{i}"}, "data": {"job": json.dumps(r["body"])}}}
                        for i, r in enumerate(hostile)]
                calm, accepted_maps, cpu, _ = beside(f"maps-{name}-{turn}", maps)
                if hostile[0]["kind"] == "Job":
                    alone, _, _, _ = beside(f"alone-{name}-{turn}", self.left_alone(hostile))
                    print(f"{name}: beside as many Jobs without a queue, which Hindsight leaves alone, after {alone:.1f} s, ratio {calm / alone:.2f}", flush=True)
                harsh, accepted, cpu_hostile, log = beside(f"harsh-{name}-{turn}", hostile)
                ratios.append(calm / harsh)
                milliseconds.setdefault(name, []).append(1000 * (cpu_hostile - cpu) / accepted)
                bytes_each.setdefault(name, []).append(log / accepted)
                print(f"{name}: beside {accepted_maps} ConfigMaps the others' jobs end after {calm:.1f} s, beside {accepted} hostile requests after {harsh:.1f} s, "
                      f"ratio {calm / harsh:.2f}; {milliseconds[name][-1]:.2f} ms and {bytes_each[name][-1]:.0f} bytes of log each", flush=True)
        print(f"ratio, median of {len(ratios)}: {statistics.median(ratios):.2f} (at least 0.9)", flush=True)
        for name in MEASURED_FLOODS:
            print(f"{name}: {statistics.median(milliseconds[name]):.2f} ms of processor time (at most 1), {max(bytes_each[name]):.0f} bytes of log "
                  f"(at most {LOG_BYTES_MAX}) a request", flush=True)
        self.assertGreaterEqual(statistics.median(ratios), 0.9)
        for name in MEASURED_FLOODS:
            self.assertLessEqual(statistics.median(milliseconds[name]), 1.0, name)
            self.assertLessEqual(max(bytes_each[name]), LOG_BYTES_MAX, name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("hindsight")
    parser.add_argument("hostile_objects")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--flood", type=int, default=1000, help="requests of each flood")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--turns", type=int, default=3, help="with --measure: how often each flood is compared")
    ARGS, rest = parser.parse_known_args()
    ARGS.hindsight, ARGS.hostile_objects = os.path.abspath(ARGS.hindsight), os.path.abspath(ARGS.hostile_objects)
    unittest.main(argv=[sys.argv[0], *rest])
