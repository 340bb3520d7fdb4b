"""A client of the API server for tests that send thousands of requests, and threads that see every version of an object.

kubectl takes a process for each request. This takes a connection for each thread, and repeats what the server could not take because it, or
the webhook that it asks, was away: a test kills both.
"""
import base64, http.client, json, ssl, threading, time, urllib.parse

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
PATHS = {"jobs": "/apis/batch/v1/namespaces/default/jobs", "pods": "/api/v1/namespaces/default/pods", "events": "/api/v1/namespaces/default/events",
         "workloads": KUEUE + "/namespaces/default/workloads", "localqueues": KUEUE + "/namespaces/default/localqueues",
         "clusterqueues": KUEUE + "/clusterqueues", "admissionchecks": KUEUE + "/admissionchecks", "resourceflavors": KUEUE + "/resourceflavors",
         "workloadpriorityclasses": KUEUE + "/workloadpriorityclasses", "cohorts": KUEUE + "/cohorts"}
AWAY_SECONDS_MAX = 120
REQUEST_SECONDS_MAX = 60


class Refused(AssertionError):
    def __init__(self, method, path, status, body):
        super().__init__(f"{method} {path}: {status} {body[:600]}")
        self.status, self.body = status, body

    def is_passing(self):
        """The server, or a webhook, is away for a moment."""
        return self.status in (429, 503, 504) or (self.status == 500 and "failed calling webhook" in self.body)


class Api:
    def __init__(self, kubeconfig):
        with open(kubeconfig, encoding="utf-8") as file:
            config = json.load(file)  # scripts/cluster.py writes JSON
        cluster = config["clusters"][0]["cluster"]
        self.host = urllib.parse.urlsplit(cluster["server"]).netloc
        self.context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        self.token = config["users"][0]["user"]["token"]
        self.mine, self.connections = threading.local(), []

    def connect(self):
        connection = http.client.HTTPSConnection(self.host, timeout=REQUEST_SECONDS_MAX, context=self.context)
        self.connections.append(connection)
        return connection

    def close(self):
        """Of all threads, which have nothing to ask any more."""
        for connection in self.connections:
            connection.close()

    def headers(self, kind="application/json"):
        return {"Authorization": "Bearer " + self.token, "Content-Type": kind, "Accept": "application/json"}

    def once(self, method, path, body=None, kind="application/json"):
        if getattr(self.mine, "connection", None) is None:
            self.mine.connection = self.connect()
        try:
            self.mine.connection.request(method, path, None if body is None else json.dumps(body), self.headers(kind))
            answer = self.mine.connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException):
            self.mine.connection.close()
            self.mine.connection = None
            raise
        if answer.status >= 400:
            raise Refused(method, path, answer.status, text)
        return json.loads(text)

    def request(self, method, path, body=None, kind="application/json"):
        deadline = time.monotonic() + AWAY_SECONDS_MAX
        while True:
            try:
                return self.once(method, path, body, kind)
            except Refused as refusal:
                if not refusal.is_passing() or time.monotonic() > deadline:
                    raise
            except (OSError, http.client.HTTPException):
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.1)

    def items(self, plural):
        return self.request("GET", PATHS[plural])["items"]

    def get(self, plural, name):
        """None if it is not there."""
        try:
            return self.request("GET", f"{PATHS[plural]}/{name}")
        except Refused as refusal:
            if refusal.status == 404:
                return None
            raise

    def create(self, plural, body):
        """What was made by an earlier attempt, of which no answer came, counts."""
        try:
            return self.request("POST", PATHS[plural], body)
        except Refused as refusal:
            if refusal.status != 409:
                raise
            return self.get(plural, body["metadata"]["name"])

    def patch(self, plural, name, patch, subresource=""):
        """False if it is not there any more."""
        try:
            self.request("PATCH", f"{PATHS[plural]}/{name}" + (f"/{subresource}" if subresource else ""), patch, "application/merge-patch+json")
            return True
        except Refused as refusal:
            if refusal.status == 404:
                return False
            raise

    def delete(self, plural, name):
        try:
            self.request("DELETE", f"{PATHS[plural]}/{name}", {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"})
            return True
        except Refused as refusal:
            if refusal.status == 404:
                return False
            raise


class Watch(threading.Thread):
    """Tells `see(plural, type, object)` of every version of all objects of a kind; ADDED too of those that are there when it begins."""

    def __init__(self, api, plural, see):
        super().__init__(daemon=True)
        self.api, self.plural, self.see = api, plural, see
        self.failure = None
        self.ending = threading.Event()
        self.ready = threading.Event()

    def run(self):
        try:
            listed = self.api.request("GET", PATHS[self.plural])
            version = listed["metadata"]["resourceVersion"]
            for item in listed["items"]:
                self.see(self.plural, "ADDED", item)
            self.ready.set()
            while not self.ending.is_set():
                version = self.follow(version)
        except BaseException as failure:  # the test asks for it
            self.failure = failure
            self.ready.set()

    def follow(self, version):
        connection = self.api.connect()
        try:
            connection.request("GET", f"{PATHS[self.plural]}?watch=1&allowWatchBookmarks=true&timeoutSeconds=3600&resourceVersion={version}",
                               headers=self.api.headers())
            answer = connection.getresponse()
            if answer.status == 429:  # where a definition changes, the server begins anew with its objects and says so
                time.sleep(min(5.0, float(answer.getheader("Retry-After") or 1)))
                return version
            if answer.status != 200:
                raise Refused("WATCH", self.plural, answer.status, answer.read().decode())
            while not self.ending.is_set():
                line = answer.readline()
                if not line:
                    return version
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise RuntimeError(f"watch of {self.plural}: {event['object']}")  # a version may have been missed
                version = event["object"]["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    self.see(self.plural, event["type"], event["object"])
        except (OSError, http.client.HTTPException):  # quiet for a minute
            time.sleep(0.1)
        finally:
            connection.close()
        return version
