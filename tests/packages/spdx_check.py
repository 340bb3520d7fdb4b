"""Whether a document is SPDX 2.3 as JSON, as far as a bill of materials needs it: required fields, their forms, and that nothing is named
that is not there. Shares no code with what writes them.
"""

import re

ID = re.compile(r"^SPDXRef-[A-Za-z0-9.-]+$")
MOMENT = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
PURL = re.compile(r"^pkg:[a-z]+/[^\s@]+@[^\s@]+$")
DIGITS = {"SHA256": 64, "SHA512": 128}
RELATIONS = {"DESCRIBES", "CONTAINS", "STATIC_LINK", "DYNAMIC_LINK"}
CREATOR = re.compile(r"^(Tool|Person|Organization): \S")


def errors_of(document):
    """What is wrong with it, one line each."""
    found = []

    def need(condition, message):
        if not condition:
            found.append(message)
        return condition

    def text(entry, field, where, pattern=None):
        value = entry.get(field)
        if need(isinstance(value, str) and value, f"{where}: {field}: found {value!r}; allowed: a text") and pattern is not None:
            need(pattern.match(value), f"{where}: {field}: found {value!r}; allowed: {pattern.pattern}")
        return value

    need(document.get("spdxVersion") == "SPDX-2.3", f"spdxVersion: found {document.get('spdxVersion')!r}; allowed: SPDX-2.3")
    need(document.get("dataLicense") == "CC0-1.0", f"dataLicense: found {document.get('dataLicense')!r}; allowed: CC0-1.0")
    need(document.get("SPDXID") == "SPDXRef-DOCUMENT", f"SPDXID: found {document.get('SPDXID')!r}; allowed: SPDXRef-DOCUMENT")
    text(document, "name", "the document")
    text(document, "documentNamespace", "the document", re.compile(r"^https?://[^#\s]+$"))
    creation = document.get("creationInfo", {})
    text(creation, "created", "creationInfo", MOMENT)
    creators = creation.get("creators", [])
    need(creators and all(CREATOR.match(creator) for creator in creators), f"creationInfo: creators: found {creators!r}")

    ids = ["SPDXRef-DOCUMENT"]
    for entry in document.get("packages", []):
        where = f"package {entry.get('name')!r}"
        ids.append(text(entry, "SPDXID", where, ID))
        for field in ("name", "versionInfo", "downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText", "supplier"):
            text(entry, field, where)
        need(entry.get("supplier") == "NOASSERTION" or CREATOR.match(str(entry.get("supplier"))), f"{where}: supplier: found {entry.get('supplier')!r}")
        need(entry.get("filesAnalyzed") is False, f"{where}: filesAnalyzed: allowed: false, where no files are listed")
        for checksum in entry.get("checksums", []):
            length = DIGITS.get(checksum.get("algorithm"))
            need(length and re.fullmatch(f"[0-9a-f]{{{length}}}", checksum.get("checksumValue", "")), f"{where}: checksum {checksum!r}")
        references = entry.get("externalRefs", [])
        need(len(references) == 1 and references[0].get("referenceCategory") == "PACKAGE-MANAGER" and references[0].get("referenceType") == "purl"
             and PURL.match(references[0].get("referenceLocator", "")), f"{where}: externalRefs: found {references!r}; allowed: one purl")
    need(len(ids) > 1, "packages: there are none")
    need(len(set(ids)) == len(ids), f"SPDXID: {sorted({one for one in ids if ids.count(one) > 1})} are there twice")

    related = set()
    for relation in document.get("relationships", []):
        kind = relation.get("relationshipType")
        need(kind in RELATIONS, f"relationshipType: found {kind!r}; allowed: {sorted(RELATIONS)}")
        for end in ("spdxElementId", "relatedSpdxElement"):
            need(relation.get(end) in ids, f"relationship {kind}: {end}: {relation.get(end)!r} is not there")
        related.add(relation.get("relatedSpdxElement"))
    need(any(r.get("spdxElementId") == "SPDXRef-DOCUMENT" and r.get("relationshipType") == "DESCRIBES" for r in document.get("relationships", [])), "nothing says what the document describes")
    need(not set(ids[1:]) - related, f"{sorted(set(ids[1:]) - related)} stand in no relationship")
    return found
