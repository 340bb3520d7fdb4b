"""Reads an archive of an OCI image layout (image-spec 1.1) and believes nothing in it: each digest, size and media type is compared, layers
are unpacked only below the folder that was named. Shares no code with what writes such archives.
"""

import gzip
import hashlib
import io
import json
import os
import re
import tarfile
from dataclasses import dataclass

ARCHIVE_BYTES_MAX = 1 << 30
LAYER_BYTES_MAX = 1 << 30
DOCUMENT_BYTES_MAX = 4 << 20
LAYERS_MAX = 128


class BadImage(Exception):
    """What was found in the archive, and what is allowed."""


@dataclass
class Image:
    digest: str  # of the manifest
    names: list
    manifest: dict
    config: dict
    layers: list  # tar archives, the lowest first


def need(condition, message):
    if not condition:
        raise BadImage(message)


def document(content, what):
    need(len(content) <= DOCUMENT_BYTES_MAX, f"{what}: {len(content)} bytes; allowed: {DOCUMENT_BYTES_MAX}")
    try:
        out = json.loads(content.decode())
    except (UnicodeDecodeError, ValueError) as error:
        raise BadImage(f"{what} is not JSON: {error}") from error
    need(isinstance(out, dict), f"{what} is not an object")
    return out


def files_of(path):
    need(os.path.getsize(path) <= ARCHIVE_BYTES_MAX, f"{path}: {os.path.getsize(path)} bytes; allowed: {ARCHIVE_BYTES_MAX}")
    out = {}
    try:
        with tarfile.open(path, mode="r:") as archive:
            for entry in archive:
                need(entry.isfile() or entry.isdir(), f"{entry.name} is neither a file nor a folder")
                need(not entry.name.startswith("/") and ".." not in entry.name.split("/"), f"{entry.name}: allowed: paths below the archive")
                need(entry.name not in out, f"{entry.name} is there twice")
                if entry.isfile():
                    out[entry.name] = archive.extractfile(entry).read()
    except tarfile.TarError as error:
        raise BadImage(f"{path} is no tar archive: {error}") from error
    return out


def blob(files, entry, media_type, what):
    """The content that a descriptor names, after all that the descriptor says of it was compared."""
    need(isinstance(entry, dict), f"{what} has no descriptor")
    need(entry.get("mediaType") == media_type, f"{what}: mediaType: found {entry.get('mediaType')!r}; allowed: {media_type}")
    digest = entry.get("digest")
    need(isinstance(digest, str) and re.fullmatch(r"sha256:[0-9a-f]{64}", digest), f"{what}: digest: found {digest!r}; allowed: sha256:HEX")
    content = files.get("blobs/sha256/" + digest[7:])
    need(content is not None, f"{what}: {digest} is not in the archive")
    need(entry.get("size") == len(content), f"{what}: size: found {entry.get('size')!r}; it is {len(content)}")
    found = hashlib.sha256(content).hexdigest()
    need("sha256:" + found == digest, f"{what}: {digest} has the content of sha256:{found}")
    return content


def layer_of(content, diff_id, what):
    """A layer without its compression, which must have the digest that the configuration says."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            out = stream.read(LAYER_BYTES_MAX + 1)
    except (OSError, EOFError) as error:
        raise BadImage(f"{what} is not gzip: {error}") from error
    need(len(out) <= LAYER_BYTES_MAX, f"{what}: more than {LAYER_BYTES_MAX} bytes")
    found = "sha256:" + hashlib.sha256(out).hexdigest()
    need(found == diff_id, f"{what}: found {found} without compression; its diff_id is {diff_id}")
    return out


def read_image(path):
    files = files_of(path)
    need("oci-layout" in files, "oci-layout is missing")
    need(document(files["oci-layout"], "oci-layout").get("imageLayoutVersion") == "1.0.0", "oci-layout: imageLayoutVersion: allowed: 1.0.0")
    need("index.json" in files, "index.json is missing")
    index = document(files["index.json"], "index.json")
    need(index.get("schemaVersion") == 2, f"index.json: schemaVersion: found {index.get('schemaVersion')!r}; allowed: 2")
    manifests = index.get("manifests")
    need(isinstance(manifests, list) and len(manifests) == 1, "index.json: manifests: allowed: one")
    manifest_bytes = blob(files, manifests[0], "application/vnd.oci.image.manifest.v1+json", "the manifest")
    manifest = document(manifest_bytes, "the manifest")
    need(manifest.get("schemaVersion") == 2, "the manifest: schemaVersion: allowed: 2")
    config = document(blob(files, manifest.get("config"), "application/vnd.oci.image.config.v1+json", "the configuration"), "the configuration")
    for field in ("architecture", "os", "rootfs", "config"):
        need(field in config, f"the configuration: {field} is missing")
    entries, diff_ids = manifest.get("layers"), config["rootfs"].get("diff_ids")
    need(isinstance(entries, list) and 0 < len(entries) <= LAYERS_MAX, f"the manifest: layers: allowed: 1 to {LAYERS_MAX}")
    need(isinstance(diff_ids, list) and len(diff_ids) == len(entries), "the configuration: rootfs.diff_ids: allowed: one for each layer")
    layers = [layer_of(blob(files, entry, "application/vnd.oci.image.layer.v1.tar+gzip", f"layer {at}"), diff_id, f"layer {at}")
              for at, (entry, diff_id) in enumerate(zip(entries, diff_ids))]
    named = {"blobs/sha256/" + entry["digest"][7:] for entry in (manifests[0], manifest["config"], *entries)}
    loose = {name for name in files if name.startswith("blobs/")} - named
    need(not loose, f"{sorted(loose)} are named by nothing")
    annotations = manifests[0].get("annotations", {})
    return Image(manifests[0]["digest"], [annotations.get("org.opencontainers.image.ref.name"), annotations.get("io.containerd.image.name")], manifest, config, layers)


def entries_of(image):
    """{path: entry} of the image as its layers leave it, lowest first. This reader knows no whiteouts."""
    out = {}
    for at, layer in enumerate(image.layers):
        with tarfile.open(fileobj=io.BytesIO(layer), mode="r:") as archive:
            for entry in archive:
                path = os.path.normpath(entry.name)
                need(not path.startswith(("/", "..")), f"layer {at}: {entry.name}: allowed: paths below the root")
                need(entry.isfile() or entry.isdir() or entry.issym(), f"layer {at}: {path} is neither file, folder nor link")
                need(not os.path.basename(path).startswith(".wh."), f"layer {at}: {path}: allowed: layers that only add")
                out[path] = entry
    return out


def unpack(image, root):
    """Into a new folder. Owners are kept where that is allowed, as root; without it everything is of who unpacks."""
    os.mkdir(root)
    entries_of(image)  # refuses what does not belong into a folder
    for layer in image.layers:
        with tarfile.open(fileobj=io.BytesIO(layer), mode="r:") as archive:
            for entry in archive:
                whole = os.path.join(root, entry.name)
                # A link of a lower layer on the way would lead out of the folder.
                need(os.path.realpath(os.path.dirname(whole)).startswith(os.path.realpath(root)), f"{entry.name} lies behind a link")
                if entry.isdir():
                    os.makedirs(whole, exist_ok=True)
                elif entry.issym():
                    os.symlink(entry.linkname, whole)
                else:
                    with open(whole, "wb") as out:
                        out.write(archive.extractfile(entry).read())
                if os.geteuid() == 0:
                    os.chown(whole, entry.uid, entry.gid, follow_symlinks=False)
                if not entry.issym():
                    os.chmod(whole, entry.mode)
