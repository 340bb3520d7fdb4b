#!/usr/bin/python3
"""Installs what web/package-lock.json names where there is no npm: Debian's comes with more than 300 packages, and the page needs eight.

    npm_packages.py FOLDER       FOLDER/package-lock.json to FOLDER/node_modules

Each archive must have the checksum of the lock file. No script of a package runs. Packages for other systems and processors are left out. The
registry, its certificates and its password are those that npm would use: npm_config_registry and npm_config_cafile, or a .npmrc of the folder,
of the user or of the system (`registry`, `cafile`, `//HOST/:_authToken`, `//HOST/:_auth`).
"""

import base64
import concurrent.futures
import hashlib
import io
import json
import os
import platform
import shutil
import ssl
import sys
import tarfile
import urllib.error
import urllib.request
from pathlib import Path, PurePosixPath

DEFAULT_REGISTRY = "https://registry.npmjs.org/"
LARGEST_ARCHIVE = 200 << 20
CPUS = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64", "i686": "ia32", "armv7l": "arm", "ppc64le": "ppc64"}


class Refused(Exception):
    """What is wrong, for people."""


def settings(folder):
    """What the files and the environment say; the nearer ones win."""
    out = {}
    for path in (Path("/etc/npmrc"), Path.home() / ".npmrc", folder / ".npmrc"):
        if not path.is_file():
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            key, found, value = line.partition("=")
            if found and not line.lstrip().startswith(("#", ";")):
                out[key.strip()] = os.path.expandvars(value.strip().strip("\"'"))
    for name in ("registry", "cafile"):
        value = os.environ.get(f"npm_config_{name}") or os.environ.get(f"NPM_CONFIG_{name.upper()}")
        if value:
            out[name] = value
    return out


def suits(package):
    """Whether npm would install it here."""
    for key, here in (("os", "linux"), ("cpu", CPUS.get(platform.machine(), platform.machine()))):
        allowed = package.get(key)
        if not allowed:
            continue
        refused = [one[1:] for one in allowed if one.startswith("!")]
        named = [one for one in allowed if not one.startswith("!")]
        if here in refused or (named and here not in named):
            return False
    return True


def wanted(lock):
    """(folder below FOLDER, name, version, integrity) of each package."""
    if lock.get("lockfileVersion") not in (2, 3):
        raise Refused(f"package-lock.json: lockfileVersion: found {lock.get('lockfileVersion')}; allowed: 2, 3")
    for place, package in sorted(lock.get("packages", {}).items()):
        if not place or package.get("link") or not suits(package):
            continue
        parts = PurePosixPath(place).parts
        if parts[0] != "node_modules" or ".." in parts:
            raise Refused(f"package-lock.json: packages: found '{place}'; allowed: places below node_modules")
        name = package.get("name") or place.rpartition("node_modules/")[2]
        if "version" not in package or "integrity" not in package:
            raise Refused(f"package-lock.json: packages: '{place}' has no version or no integrity")
        yield place, name, package["version"], package["integrity"]


def opener(config):
    context = ssl.create_default_context()
    if config.get("cafile"):
        context.load_verify_locations(config["cafile"])
    return urllib.request.build_opener(urllib.request.ProxyHandler(), urllib.request.HTTPSHandler(context=context))


def fetch(url, config, get):
    request = urllib.request.Request(url)
    for key, scheme in (("_authToken", "Bearer"), ("_auth", "Basic")):
        for name, value in config.items():
            host, found, setting = name.rpartition(":")
            if found and setting == key and url.split(":", 1)[1].startswith(host):
                request.add_header("Authorization", f"{scheme} {value}")
    try:
        with get.open(request, timeout=120) as answer:
            content = answer.read(LARGEST_ARCHIVE + 1)
    except (urllib.error.URLError, OSError) as error:
        raise Refused(f"{url}: {error}") from error
    if len(content) > LARGEST_ARCHIVE:
        raise Refused(f"{url}: found more than {LARGEST_ARCHIVE} bytes")
    return content


def check(content, integrity, name):
    """Subresource integrity: of several hashes the strongest counts."""
    known = dict(one.partition("-")[::2] for one in integrity.split())
    for kind in ("sha512", "sha384", "sha256"):
        if kind in known:
            found = base64.b64encode(hashlib.new(kind, content).digest()).decode()
            if found != known[kind]:
                raise Refused(f"{name}: found an archive with {kind} {found}; allowed: {known[kind]}")
            return
    raise Refused(f"{name}: integrity: found '{integrity}'; allowed: sha512, sha384, sha256")


def unpack(content, folder, name):
    """Files only, below the folder; the first part of each name is dropped, as npm does."""
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        for member in archive:
            parts = PurePosixPath(member.name).parts[1:]
            if not member.isfile() or not parts:
                continue
            if ".." in parts or PurePosixPath(member.name).is_absolute():
                raise Refused(f"{name}: found a file '{member.name}' outside of the package")
            target = folder.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.extractfile(member) as source, open(target, "wb") as out:
                shutil.copyfileobj(source, out)
            target.chmod(0o755 if member.mode & 0o111 else 0o644)


def install(folder):
    config = settings(folder)
    registry = config.get("registry", DEFAULT_REGISTRY).rstrip("/")
    get = opener(config)
    lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))
    fresh = folder / "node_modules.new"
    shutil.rmtree(fresh, ignore_errors=True)

    def one(package):
        place, name, version, integrity = package
        content = fetch(f"{registry}/{name}/-/{name.rpartition('/')[2]}-{version}.tgz", config, get)
        check(content, integrity, f"{name} {version}")
        unpack(content, fresh / PurePosixPath(place).relative_to("node_modules"), name)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(one, package) for package in wanted(lock)]:
            done.result()
    shutil.rmtree(folder / "node_modules", ignore_errors=True)
    fresh.rename(folder / "node_modules")


def main():
    if len(sys.argv) != 2 or not Path(sys.argv[1], "package-lock.json").is_file():
        sys.exit(f"npm_packages: found {sys.argv[1:]}; allowed: one folder with a package-lock.json")
    try:
        install(Path(sys.argv[1]).resolve())
    except (Refused, json.JSONDecodeError, tarfile.TarError) as error:
        sys.exit(f"npm_packages: {error}")


if __name__ == "__main__":
    main()
