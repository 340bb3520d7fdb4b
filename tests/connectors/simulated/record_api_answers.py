#!/usr/bin/env python3
"""Send the requests of api_requests.yaml to a real API server and write what it answered to api_answers.json.

usage: record_api_answers.py --kubeconfig FILE [REQUESTS [ANSWERS]]

The server needs Kueue's CustomResourceDefinitions (version v1beta2, no webhooks) and should run without controllers. An answer is the HTTP
status and, after every request, the object concerned as it then is (null: gone). Uids become "uid-1", "uid-2", ... in the order of
creation, times of creation and deletion become "T", managedFields and resourceVersion go; "changed" says whether the version moved.
Needs python3 and PyYAML.
"""
import argparse
import json
import os
import sys

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "conformance", "tools"))
from drive import Api, ApiError, KINDS  # noqa: E402

KINDS = dict(KINDS, LimitRange=("", "v1", "limitranges", True), RuntimeClass=("node.k8s.io", "v1", "runtimeclasses", False),
             MultiKueueConfig=("kueue.x-k8s.io", "v1beta2", "multikueueconfigs", False),
             MultiKueueCluster=("kueue.x-k8s.io", "v1beta2", "multikueueclusters", False),
             ProvisioningRequestConfig=("kueue.x-k8s.io", "v1beta2", "provisioningrequestconfigs", False))
MERGE = "application/merge-patch+json"
NODE_NOISE = ("daemonEndpoints", "nodeInfo")


def path(kind, namespace, name=None, sub=None):
    group, version, plural, namespaced = KINDS[kind]
    p = f"/api/{version}" if not group else f"/apis/{group}/{version}"
    if namespaced:
        p += f"/namespaces/{namespace}"
    return p + "/" + plural + (f"/{name}" if name else "") + (f"/{sub}" if sub else "")


class Case:
    def __init__(self, api):
        self.api, self.uids, self.versions, self.touched = api, {}, {}, []

    def call(self, method, url, body=None, content="application/json"):
        try:
            answer = self.api.call(method, url, body, content)
            return 201 if method == "POST" else 200, answer
        except ApiError as e:
            return e.status, e.body

    def run(self, request):
        (verb, what), = request.items()
        if verb == "create":
            kind, meta = what["kind"], what.get("metadata") or {}
            target = (kind, meta.get("namespace", "default"), meta.get("name"))
            status, _ = self.call("POST", path(kind, target[1]), what)
        else:
            target = (what["kind"], what.get("namespace", "default"), what["name"])
        if verb == "patch":
            merge = self.known_uids(what["merge"], target)
            status, _ = self.call("PATCH", path(*target, "status" if what.get("status") else None), merge, MERGE)
        if verb == "delete":
            status, _ = self.call("DELETE", path(*target), self.known_uids(what.get("options") or {}, target))
        self.touched.append(target)
        return {"status": status, **self.state(target)}

    def known_uids(self, body, target):
        """VERSION and UID in a body stand for those of the target."""
        live = self.call("GET", path(*target))[1].get("metadata", {})
        text = json.dumps(body).replace("VERSION", live.get("resourceVersion", "")).replace("UID", live.get("uid", ""))
        return json.loads(text)

    def state(self, target):
        if not target[2]:
            return {"object": None, "changed": False}
        status, o = self.call("GET", path(*target))
        if status != 200:
            changed = self.versions.pop(target, None) is not None
            return {"object": None, "changed": changed}
        meta = o["metadata"]
        meta.pop("managedFields", None)
        version = meta.pop("resourceVersion")
        changed = self.versions.get(target) != version
        self.versions[target] = version
        self.uids.setdefault(meta["uid"], f"uid-{len(self.uids) + 1}")
        for name in ("creationTimestamp", "deletionTimestamp"):
            if name in meta:
                meta[name] = "T"
        if target[0] == "Node":
            for name in NODE_NOISE:
                o["status"].pop(name, None)
        text = json.dumps(o)
        for uid, name in self.uids.items():
            text = text.replace(uid, name)
        return {"object": json.loads(text), "changed": changed}

    def clean(self):
        for target in reversed(self.touched):
            if target[2]:
                self.call("DELETE", path(*target), {"propagationPolicy": "Background", "gracePeriodSeconds": 0})
                self.call("PATCH", path(*target), {"metadata": {"finalizers": None}}, MERGE)
                if target[0] == "Namespace":  # no controller empties it
                    status, live = self.call("GET", path(*target))
                    if status == 200:
                        live["spec"]["finalizers"] = []
                        self.call("PUT", path(*target, "finalize"), live)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--kubeconfig", required=True)
    ap.add_argument("requests", nargs="?", default=os.path.join(HERE, "api_requests.yaml"))
    ap.add_argument("answers", nargs="?", default=os.path.join(HERE, "api_answers.json"))
    a = ap.parse_args()
    api = Api(a.kubeconfig)
    with open(a.requests) as f:
        cases = yaml.safe_load(f)["cases"]
    lines = []
    for case in cases:
        run = Case(api)
        answers = [run.run(request) for request in case["requests"]]
        run.clean()
        lines.append(json.dumps({"case": case["case"], "answers": answers}, sort_keys=True))
    with open(a.answers, "w") as f:
        f.write("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{len(cases)} cases recorded")


if __name__ == "__main__":
    main()
