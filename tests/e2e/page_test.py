#!/usr/bin/env python3
"""The page in a real browser: every view over a real log, a log that grows, a server that goes away, and examples with hostile names.

usage: page_test.py HINDSIGHT [--packages DIR]    --packages: a folder with node_modules of web/package-lock.json; default build/web/tree
"""
import argparse, contextlib, http.server, json, os, re, shutil, signal, sqlite3, subprocess, sys, tempfile, threading, time, unittest, urllib.request

from steps import ROOT, free_port, run

ARGS = None
# What the tests of web/ read; build folders and packages stay where they are.
OF_WEB = ["package.json", "package-lock.json", "tsconfig.json", "build.mjs", "dev-server.mjs", "src", "tests"]

# Of which the documents have pictures.
PICTURES = ["overview", "queues", "workload", "preemptions"]


class Page:
    """A `hindsight ui` over one log."""

    def __init__(self, log, address="127.0.0.1:0", *more):
        self.process = subprocess.Popen([ARGS.hindsight, "ui", "--log", log, "--listen", address, *more], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.stdout.close()
        return self.process.wait(timeout=60)

    def get(self, path):
        with urllib.request.urlopen(self.url + "api/v1/" + path, timeout=60) as answer:
            return json.load(answer)


class Reviews(http.server.BaseHTTPRequestHandler):
    """What the page asks an API server: whose a token is, and whether he may get Workloads. `ann` may in team-a, and nowhere else."""

    protocol_version = "HTTP/1.1"
    asked = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        spec = body["spec"]
        if self.path.endswith("/tokenreviews"):
            known = spec["token"] == "token-of-ann"
            status = {"authenticated": known, **({"user": {"username": "ann", "groups": ["system:authenticated"]}} if known else {})}
        else:
            wanted = spec["resourceAttributes"]
            self.asked.append(wanted)
            status = {"allowed": spec["user"] == "ann" and wanted.get("namespace") == "team-a" and wanted["verb"] == "get"}
        answer = json.dumps({**body, "status": status}).encode()
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.web = os.path.join(cls.folder, "web")
        os.mkdir(cls.web)
        for name in OF_WEB:
            source = os.path.join(ROOT, "web", name)
            (shutil.copytree if os.path.isdir(source) else shutil.copy)(source, os.path.join(cls.web, name))
        os.symlink(os.path.join(ARGS.packages, "node_modules"), os.path.join(cls.web, "node_modules"))
        cls.dist = os.path.join(cls.folder, "dist")
        run("node", "build.mjs", "--out", cls.dist, cwd=cls.web)  # once for all files of tests
        cls.log = os.path.join(cls.folder, "story.db")
        run(ARGS.hindsight, "simulate", os.path.join(ROOT, "examples", "quickstart"), "--log", "sqlite:" + cls.log)

    def node(self, *files, page=None, short=False):
        """Runs tests of web/; fails with what those that failed said."""
        more = {"HINDSIGHT_PAGE_DIST": self.dist, **({"HINDSIGHT_PAGE": page} if page else {}), **({"HINDSIGHT_PAGE_SHORT": "1"} if short else {})}
        done = subprocess.run(["node", "--test", "--test-reporter=tap"] + [os.path.join("tests", f) for f in files], cwd=self.web,
                              env={**os.environ, **more}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1500)
        counts = dict(re.findall(r"^# (tests|pass|fail|skipped) (\d+)$", done.stdout, re.MULTILINE))
        print(f"{' '.join(files)}: {counts}", flush=True)
        failed = "".join(re.findall(r"^not ok .*?^  \.\.\.$", done.stdout, re.MULTILINE | re.DOTALL))
        self.assertEqual(done.returncode, 0, failed or done.stdout[-4000:])
        self.assertGreater(int(counts.get("pass", 0)), 0, done.stdout[-4000:])

    def test_what_needs_no_browser(self):
        run("node", "build.mjs", "--check", cwd=self.web)
        self.node("pure.test.mjs", "draw.test.mjs", "views_words.test.mjs")

    def test_every_view_over_a_real_log(self):
        page = Page(self.log)
        try:
            self.node("page.test.mjs", "views.test.mjs", "objects.test.mjs", page=page.url)
        finally:
            self.assertEqual(page.stop(), 0)

    # Those that the documents show: HINDSIGHT_WRITE_DOCS=1 writes docs/pictures anew. Whoever has changed a view looks at them.
    def test_pictures_of_every_size_and_theme(self):
        out = os.path.join(self.folder, "pictures")
        page = Page(self.log)
        try:
            for widths, themes in ("1440", "light,dark"), ("1024,400", "light"):
                run("node", os.path.join("tests", "pictures.mjs"), "--out", out, "--names", ",".join(PICTURES), "--width", widths, "--theme", themes,
                    cwd=self.web, env={**os.environ, "HINDSIGHT_PAGE": page.url})
        finally:
            page.stop()
        kept = os.path.join(ROOT, "docs", "pictures")
        if os.environ.get("HINDSIGHT_WRITE_DOCS"):
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(out, kept)
        self.assertEqual(sorted(os.listdir(out)), sorted(os.listdir(kept)), "HINDSIGHT_WRITE_DOCS=1 takes them anew")
        self.assertEqual(len(os.listdir(out)), 4 * len(PICTURES))

    def test_examples_large_hostile_and_empty(self):
        self.node("scenes.test.mjs", "views.test.mjs", "objects.test.mjs", short=True)

    def test_a_page_follows_a_log_that_grows_and_a_server_that_comes_back(self):
        log = os.path.join(self.folder, "growing.db")
        shutil.copy(self.log, log)
        with contextlib.closing(sqlite3.connect(log)) as file:  # as it was after 200 records
            file.execute("DELETE FROM records WHERE offset > 200")
            file.execute("DELETE FROM time_marks WHERE offset > 200")
            file.execute("UPDATE domains SET last_offset = 200, last_sequence = (SELECT sequence FROM records WHERE offset = 200)")
            file.commit()
        run(ARGS.hindsight, "verify", "--log", log)
        port = free_port()
        page = Page(log, f"127.0.0.1:{port}")
        try:
            watcher = subprocess.Popen(["node", os.path.join("tests", "follow.mjs"), page.url], cwd=self.web, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)

            def says(text):
                line = watcher.stdout.readline().strip()
                self.assertTrue(line.startswith(text), f"{line!r}, expected {text!r}")
                return line

            says("open 200")
            run(ARGS.hindsight, "log", "copy", "sqlite:" + self.log, "sqlite:" + log)
            says("at 351")
            self.assertEqual(page.stop(), 0)
            says("away")
            page = Page(log, f"127.0.0.1:{port}")
            says("back")
            watcher.stdin.close()
            self.assertEqual(watcher.wait(timeout=60), 0)
            watcher.stdout.close()
        finally:
            page.stop()

    # Issue 20: "what is shown by SubjectAccessReview ... a view of one namespace does not tell names of others".
    def test_who_may_see_one_namespace_sees_no_name_of_another(self):
        moments = [250, 141]
        page = Page(self.log)
        try:
            rows = [row for at in moments for row in page.get(f"workloads?at={at}&limit=1000")["items"]]
        finally:
            page.stop()
        named = lambda namespace: {r["name"] for r in rows if r["namespace"] == namespace} | {r["job"]["name"] for r in rows if r["namespace"] == namespace and "job" in r}
        hidden = sorted(named("team-b") - named("team-a"))
        told = {"names": hidden, "moments": moments,
                "mine": next("team-a/" + r["name"] for r in rows if r["namespace"] == "team-a"),
                "other": next("team-b/" + r["name"] for r in rows if r["namespace"] == "team-b")}
        # What stands in the address is not told by the server, but typed.
        told["names"] = [name for name in hidden if name not in told["other"]]
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Reviews)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        kubeconfig = os.path.join(self.folder, "reviews")
        with open(kubeconfig, "w") as out:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c",
                       "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
                       "users": [{"name": "u", "user": {"token": "of-the-page"}}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}, out)
        page = Page(self.log, "0.0.0.0:0", "--kubeconfig", kubeconfig, "--host-name", "localhost")
        try:
            port = page.url.rstrip("/").rsplit(":", 1)[1]
            done = subprocess.run(["node", os.path.join("tests", "restricted.mjs"), f"https://localhost:{port}/", "token-of-ann"], cwd=self.web,
                                  input=json.dumps(told), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout[-4000:])
            print(done.stdout.strip(), flush=True)
        finally:
            self.assertEqual(page.stop(), 0)
            server.shutdown()
        self.assertTrue(any(a.get("namespace") == "team-b" for a in Reviews.asked), "it was asked about the other namespace")
        self.assertTrue(all(a["resource"] == "workloads" and a["group"] == "kueue.x-k8s.io" for a in Reviews.asked))

    def test_the_end_of_the_process_ends_open_pages(self):
        page = Page(self.log)
        self.assertEqual(page.get("log")["latest"]["position"], 351)
        stream = urllib.request.urlopen(page.url + "api/v1/live", timeout=60)
        self.assertTrue(stream.readline())
        began = time.monotonic()
        self.assertEqual(page.stop(), 0)
        self.assertLess(time.monotonic() - began, 30, "a stream of events does not keep it")
        stream.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    parser.add_argument("--packages", default=os.path.join(ROOT, "build", "web", "tree"))
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
