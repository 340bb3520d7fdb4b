#!/usr/bin/env python3
"""The table of updates of Jobs, tests/connectors/simulated/job_updates.json, put to a real API server, as dry runs.

usage: job_updates_test.py

One cluster for each column of the level that the server has; its Jobs are in the states of the table, since no controller looks after them.
MR-4, MR-6, MR-11, MR-12, MR-14, MR-15, MR-17, MR-18, MR-20, MR-24, MR-90
"""
import base64, concurrent.futures, json, os, shutil, ssl, subprocess, sys, tempfile, unittest, urllib.error, urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEVEL = "1.36.2"
COMMAND_SECONDS_MAX = 900

with open(os.path.join(ROOT, "tests", "connectors", "simulated", "job_updates.json"), encoding="utf-8") as text:
    TABLE = json.load(text)


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=COMMAND_SECONDS_MAX)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: status {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


class Server:
    """An API server alone, with these feature gates."""

    def __init__(self, folder, column):
        self.dev, self.cluster = os.path.join(ROOT, "dev"), os.path.join(folder, "cluster")
        gates = {"MutablePodResourcesForSuspendedJobs": column["resources"], "MutableSchedulingDirectivesForSuspendedJobs": column["directives"]}
        run(self.dev, "cluster", "up", "--dir", self.cluster, "--no-kwok", "--no-controller-manager", "--no-scheduler",
            "--feature-gates", ",".join(f"{name}={str(on).lower()}" for name, on in gates.items()))
        with open(os.path.join(self.cluster, "kubeconfig"), encoding="utf-8") as text:
            config = json.load(text)
        cluster = config["clusters"][0]["cluster"]
        self.url = cluster["server"]
        self.headers = {"Authorization": "Bearer " + config["users"][0]["user"]["token"]}
        self.context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())

    def end(self):
        run(self.dev, "cluster", "down", "--dir", self.cluster)

    def ask(self, method, path, body, kind="application/json"):
        """The status code and the object that is answered."""
        request = urllib.request.Request(self.url + "/apis/batch/v1/namespaces/default/" + path, json.dumps(body).encode(), {**self.headers, "Content-Type": kind}, method=method)
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refusal:
            return refusal.code, json.load(refusal)

    def patch(self, name, patch, subresource="", dry=False):
        return self.ask("PATCH", f"jobs/{name}{subresource}" + ("?dryRun=All" if dry else ""), patch, "application/merge-patch+json")


def findings(code, answer):
    """{"reason field: message"}, and E1 and E2 for a frozen template."""
    if code < 300:
        return set()
    assert code == 422 and answer["reason"] == "Invalid", answer
    out = set()
    for cause in answer["details"]["causes"]:
        if cause["message"].endswith("field is immutable") and cause["field"] in ("spec.template", "spec.template.spec"):
            out.add("E1" if cause["field"] == "spec.template" else "E2")
        else:
            out.add(f"{cause['reason']} {cause['field']}: {cause['message']}")
    return out


class JobUpdatesTest(unittest.TestCase):
    def columns(self):
        return {name: column for name, column in TABLE["columns"].items() if column["level"] == LEVEL}

    def test_the_table_is_what_a_real_api_server_says(self):
        for number, (name, column) in enumerate(self.columns().items()):
            with self.subTest(column=name):
                folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
                self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
                server = Server(folder, column)
                try:
                    self.judge(server, name)
                    if number == 0:
                        self.compare_details(server)
                finally:
                    server.end()

    def make(self, server):
        """A Job for every state and spec that the table combines."""
        made = {}
        for update in TABLE["updates"]:
            key = (update.get("job", "plain"), update["state"])
            if key in made:
                continue
            made[key] = name = f"j{len(made)}"
            state = TABLE["states"][key[1]]
            job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {**TABLE["jobs"][key[0]], "suspend": state["suspend"]}}
            code, answer = server.ask("POST", "jobs", job)
            self.assertEqual(code, 201, answer)
            conditions = [{**c, "lastTransitionTime": "2026-01-01T00:00:00Z"} for c in state["status"].get("conditions", [])]
            status = {**state["status"], **({"conditions": conditions} if conditions else {})}
            if status:
                code, answer = server.patch(name, {"status": status}, "/status")
                self.assertEqual(code, 200, answer)
        return made

    def judge(self, server, column):
        jobs = self.make(server)

        def one(update):
            code, answer = server.patch(jobs[(update.get("job", "plain"), update["state"])], update["patch"], dry=True)
            return update, findings(code, answer)

        with concurrent.futures.ThreadPoolExecutor(8) as workers:
            for update, found in workers.map(one, TABLE["updates"]):
                verdict = update["verdicts"][column]
                wanted = {f"{reason} {field}: {message}" for reason, field, message in update.get("causes", [])} | ({verdict} - {"ok"})
                with self.subTest(column=column, update=update["name"]):
                    self.assertEqual(found, wanted)

    def compare_details(self, server):
        """MR-20, MR-24: causes may repeat while the message does not; a CronJob's template is free."""
        spec = json.loads(json.dumps(TABLE["jobs"]["plain"]))
        cron = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"},
                "spec": {"schedule": "0 0 1 1 *", "suspend": False, "jobTemplate": {"spec": spec}}}
        self.assertEqual(server.ask("POST", "cronjobs", cron)[0], 201)
        spec["template"]["spec"]["containers"][0]["image"] = "other"
        code, answer = server.ask("PATCH", "cronjobs/c?dryRun=All", {"spec": {"jobTemplate": {"spec": spec}}}, "application/merge-patch+json")
        self.assertEqual(code, 200, answer)
        update = next(u for u in TABLE["updates"] if u["name"] == "a request above its limit, fresh")
        _, answer = server.patch("j0", update["patch"], dry=True)
        texts = [cause["message"] for cause in answer["details"]["causes"]]
        self.assertEqual(len(texts), 2 * len(set(texts)), "validated twice")
        self.assertEqual(answer["message"].count(texts[0]), 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
