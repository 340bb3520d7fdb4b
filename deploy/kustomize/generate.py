#!/usr/bin/env python3
"""Writes what kustomize cannot make of the files of deploy/ by itself; with --check says what is stale, with status 1.

crds/Kustomization and monitoring/Kustomization list what lies beside them, crds/with-webhooks/Kustomization puts what lies beside it in the
place of the definitions of crds/; components/observe has the rules of base/rbac.yaml without what writes.
"""
import argparse
import pathlib
import sys

import yaml

DEPLOY = pathlib.Path(__file__).resolve().parents[1]
HEAD = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
NOTE = "# Written by deploy/kustomize/generate.py.\n"
READS = ("get", "list", "watch")


def definitions():
    names = "".join(f"- {file.name}\n" for file in sorted((DEPLOY / "crds").glob("*.yaml")))
    return f"{NOTE}# Without the ending .yaml, so that `kubectl apply -f deploy/crds` takes the definitions alone.\n{HEAD}resources:\n{names}"


def lighter_definitions():
    """A component, because kustomize takes no file from outside of its folder, and crds/ is around this one."""
    names = "".join(f"- path: {file.name}\n" for file in sorted((DEPLOY / "crds" / "with-webhooks").glob("*.yaml")))
    return (f"{NOTE}# After ../../crds among the resources, and with the component webhooks: the lists of versions are replaced as a whole.\n"
            f"{HEAD.replace('/v1beta1', '/v1alpha1').replace('kind: Kustomization', 'kind: Component')}patches:\n{names}")


def dashboards():
    files = sorted((DEPLOY / "monitoring" / "dashboards").glob("*.json"))
    made = "".join(f"- {{name: hindsight-dashboard-{file.stem}, files: [dashboards/{file.name}]}}\n" for file in files)
    return (f'{NOTE}# For the Prometheus operator what is scraped and the alert rules, and dashboards as ConfigMaps with the label that Grafana\'s sidecar looks for.\n{HEAD}namespace: hindsight-system\nresources: [service-monitor.yaml, prometheus-rule.yaml]\nconfigMapGenerator:\n{made}'
            'generatorOptions:\n  disableNameSuffixHash: true\n  labels: {grafana_dashboard: "1"}\n')


def role_that_reads():
    objects = yaml.safe_load_all((DEPLOY / "kustomize" / "base" / "rbac.yaml").read_text())
    rules = next(one["rules"] for one in objects if one["kind"] == "ClusterRole")
    text = ""
    for rule in rules:
        verbs = [verb for verb in rule["verbs"] if verb in READS]
        if verbs:
            groups = ", ".join(group or '""' for group in rule["apiGroups"])
            text += f"- apiGroups: [{groups}]\n  resources: [{', '.join(rule['resources'])}]\n  verbs: [{', '.join(verbs)}]\n"
    return f"{NOTE}apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: hindsight\nrules:\n{text}"


FILES = {"crds/Kustomization": definitions, "crds/with-webhooks/Kustomization": lighter_definitions, "monitoring/Kustomization": dashboards,
         "kustomize/components/observe/role.yaml": role_that_reads}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 and the names of files that are stale")
    check, stale = parser.parse_args().check, []
    for name, make in FILES.items():
        path, text = DEPLOY / name, make()
        if path.exists() and path.read_text() == text:
            continue
        stale.append(name)
        if not check:
            path.write_text(text)
    if check and stale:
        print(f"stale: {', '.join('deploy/' + name for name in stale)}; run deploy/kustomize/generate.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
