"""Writes an image as an archive of an OCI image layout (image-spec 1.1), which podman, skopeo, buildah, containerd and newer Dockers load.
The same layers, configuration and time give the same bytes, so the digest of the manifest names what is inside.
"""

import gzip
import hashlib
import io
import json
import tarfile
import time

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


def digest_of(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def compressed(content):
    out = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=out, mode="wb", compresslevel=6, mtime=0) as stream:
        stream.write(content)
    return out.getvalue()


def text_of(document):
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def moment_of(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def descriptor(media_type, content, **more):
    return {"mediaType": media_type, "digest": digest_of(content), "size": len(content), **more}


def write_archive(path, name, layers, architecture, settings, annotations, seconds):
    """`name`: as NAME:TAG. `layers`: pairs of what made each and its tar archive. `settings`: User, Entrypoint and so on. Returns the
    digest of the manifest."""
    blobs = {}

    def keep(content):
        blobs[digest_of(content)] = content
        return content

    packed = [(history, tar, keep(compressed(tar))) for history, tar in layers]
    config = keep(text_of({
        "architecture": architecture,
        "os": "linux",
        "created": moment_of(seconds),
        "config": settings,
        "rootfs": {"type": "layers", "diff_ids": [digest_of(tar) for _, tar, _ in packed]},
        "history": [{"created": moment_of(seconds), "created_by": history} for history, _, _ in packed],
    }))
    manifest = keep(text_of({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": descriptor(CONFIG, config),
        "layers": [descriptor(LAYER, blob) for _, _, blob in packed],
        "annotations": annotations,
    }))
    index = text_of({
        "schemaVersion": 2,
        "mediaType": INDEX,
        "manifests": [descriptor(MANIFEST, manifest, platform={"architecture": architecture, "os": "linux"},
                                 # By the first name podman has it after a load, by the second containerd, which kubelets ask.
                                 annotations={"org.opencontainers.image.ref.name": name, "io.containerd.image.name": f"docker.io/library/{name}"})],
    })
    files = {
        "oci-layout": text_of({"imageLayoutVersion": "1.0.0"}),
        "index.json": index,
        # For a Docker that knows no OCI layouts yet.
        "manifest.json": text_of([{"Config": "blobs/sha256/" + digest_of(config)[7:], "RepoTags": [name],
                                   "Layers": ["blobs/sha256/" + digest_of(blob)[7:] for _, _, blob in packed]}]),
        **{"blobs/sha256/" + digest[7:]: content for digest, content in blobs.items()},
    }
    with tarfile.open(path, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for folder in ("blobs", "blobs/sha256"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, 0o755, seconds
            archive.addfile(entry)
        for file, content in sorted(files.items()):
            entry = tarfile.TarInfo(file)
            entry.size, entry.mode, entry.mtime = len(content), 0o644, seconds
            archive.addfile(entry, io.BytesIO(content))
    return digest_of(manifest)
