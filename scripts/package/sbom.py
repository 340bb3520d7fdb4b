"""Bills of materials as SPDX 2.3 documents: of the .deb, what was compiled in, and which libraries it is linked with; of the image, all that
is in it. Everything is asked of the machine and of web/package-lock.json (components.py).
"""

import hashlib
import json
import re
from urllib.parse import quote

from components import contained_packages, debian_package, libraries_of, npm_packages
from oci import moment_of

NAMESPACE = "https://hindsight.dev/spdx"
EXTRACT = "NOASSERTION"


def sha256_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def identifier(kind, name):
    return "SPDXRef-" + kind + "-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def reference(purl):
    return [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]


def of_debian(package):
    return {
        "SPDXID": identifier("deb", package.name),
        "name": package.name,
        "versionInfo": package.version,
        "supplier": "Organization: Debian",
        "originator": f"Person: {package.maintainer}" if package.maintainer else "NOASSERTION",
        "downloadLocation": "NOASSERTION",
        "homepage": package.homepage or "NOASSERTION",
        "filesAnalyzed": False,
        "sourceInfo": f"built from {package.source} {package.source_version}",
        # Debian says it in a text, which is in /usr/share/doc and, of what is compiled in, in third-party.gz.
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "summary": package.summary,
        "externalRefs": reference(f"pkg:deb/debian/{quote(package.name, safe='')}@{quote(package.version, safe='')}?arch={package.architecture}&upstream={quote(package.source, safe='')}"),
    }


def of_npm(package):
    namespace, _, name = package.name.rpartition("/")
    purl = "pkg:npm/" + (quote(namespace, safe="") + "/" if namespace else "") + f"{quote(name, safe='')}@{quote(package.version, safe='')}"
    return {
        "SPDXID": identifier("npm", package.name),
        "name": package.name,
        "versionInfo": package.version,
        "supplier": "NOASSERTION",
        "downloadLocation": package.resolved,
        "filesAnalyzed": False,
        "checksums": [{"algorithm": "SHA512", "checksumValue": package.sha512}],
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": package.licence,
        "copyrightText": "NOASSERTION",
        "externalRefs": reference(purl),
    }


def document(artifact, version, revision, seconds, purl, build, programs, extra=()):
    """`artifact`: the file that is described. `programs`: what of it is loaded with shared libraries. `extra`: further packages of Debian in it."""
    digest = sha256_of(artifact)
    main = {
        "SPDXID": "SPDXRef-hindsight",
        "name": "hindsight",
        "versionInfo": version,
        "packageFileName": artifact.name,
        "supplier": "Organization: Hindsight",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "sourceInfo": f"built from commit {revision}",
        "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
        "licenseConcluded": "Apache-2.0",
        "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION",
        "primaryPackagePurpose": "APPLICATION",
        "externalRefs": reference(purl),
    }
    packages, relations = {main["SPDXID"]: main}, [("SPDXRef-DOCUMENT", "DESCRIBES", main["SPDXID"])]

    def add(entry, relation):
        packages.setdefault(entry["SPDXID"], entry)
        if (main["SPDXID"], relation, entry["SPDXID"]) not in relations:
            relations.append((main["SPDXID"], relation, entry["SPDXID"]))

    for package in contained_packages(build):
        add(of_debian(package), "STATIC_LINK")
    for package in npm_packages():
        add(of_npm(package), "STATIC_LINK")
    for name in sorted({library.package for library in libraries_of(programs)}):
        add(of_debian(debian_package(name)), "DYNAMIC_LINK")
    for name in extra:
        add(of_debian(debian_package(name)), "CONTAINS")
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": artifact.name,
        # What it describes has this checksum, so the name is the same wherever the same bytes are made.
        "documentNamespace": f"{NAMESPACE}/{artifact.name}-{digest}",
        "creationInfo": {"created": moment_of(seconds), "creators": ["Tool: hindsight-package"]},
        "packages": [main] + [packages[key] for key in sorted(packages) if key != main["SPDXID"]],
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations],
    }


def write(path, content):
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
