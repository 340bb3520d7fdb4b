"""A cluster of one's own for a test, and a small client for it. Python's standard library and PyYAML only."""
import base64
import http.client
import json
import pathlib
import ssl
import subprocess
import urllib.parse

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Refused(Exception):
    """The API server said no; `code` is the HTTP status, the text is the message of the Status object."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Cluster:
    """etcd and kube-apiserver in `folder`, started by ./dev cluster up and stopped on leaving the context."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def __enter__(self):
        try:
            self.dev("up", "--no-kwok", "--no-controller-manager", "--no-scheduler")
            self.connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.dev("down")

    def dev(self, command, *arguments):
        subprocess.run([ROOT / "dev", "cluster", command, "--dir", self.folder, *arguments], check=True, cwd=ROOT)

    def kubectl(self, *arguments, check=True):
        """Standard output and error of kubectl, run as admin; without `check` the exit code does not matter."""
        done = subprocess.run([ROOT / "dev", "cluster", "kubectl", "--dir", self.folder, "--", *arguments], cwd=ROOT, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if check and done.returncode:
            raise AssertionError(f"kubectl {' '.join(map(str, arguments))}: {done.stdout}")
        return done.stdout

    def connect(self):
        config = yaml.safe_load((self.folder / "kubeconfig").read_text())
        context = next(c["context"] for c in config["contexts"] if c["name"] == config["current-context"])
        cluster = next(c["cluster"] for c in config["clusters"] if c["name"] == context["cluster"])
        user = next(u["user"] for u in config["users"] if u["name"] == context["user"])
        trust = ssl.create_default_context()
        if "certificate-authority-data" in cluster:
            trust.load_verify_locations(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        else:
            trust.load_verify_locations(cluster["certificate-authority"])
        address = urllib.parse.urlparse(cluster["server"])
        self.connection = http.client.HTTPSConnection(address.hostname, address.port, context=trust, timeout=60)
        self.headers = {"Authorization": "Bearer " + user["token"], "Accept": "application/json"}

    def call(self, method, path, body=None, content="application/json"):
        """The decoded answer; raises Refused for any status that is not 2xx."""
        headers = dict(self.headers, **({"Content-Type": content} if body is not None else {}))
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status // 100 != 2:
            raise Refused(answer.status, json.loads(text).get("message", text.decode()) if text.startswith(b"{") else text.decode())
        return json.loads(text)
