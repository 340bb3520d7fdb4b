"""A tree of files in memory, for an image: made of files of this machine and of texts, written as a tar archive or into a folder. What it
holds decides every byte of the archive: names are in order, times and owners are those that were asked for.
"""

import io
import os
import stat
import tarfile
from dataclasses import dataclass
from pathlib import PurePosixPath

from components import PackagingError


@dataclass(frozen=True)
class Node:
    kind: str  # file, link, folder
    mode: int
    owner: int = 0
    content: bytes = b""
    target: str = ""


class FileTree:
    def __init__(self):
        self.nodes = {}

    def folder(self, path, mode=0o755, owner=0):
        self._add(path, Node("folder", mode, owner))

    def file(self, path, content, mode=0o644, owner=0):
        self._add(path, Node("file", mode, owner, content if isinstance(content, bytes) else content.encode()))

    def link(self, path, target):
        self._add(path, Node("link", 0o777, target=target))

    def copy(self, source, path):
        """A file of this machine, by its content and whether it can be executed."""
        with open(source, "rb") as stream:
            content = stream.read()
            mode = 0o755 if os.fstat(stream.fileno()).st_mode & stat.S_IXUSR else 0o644
        self.file(path, content, mode)

    def copy_tree(self, source, path, skip=lambda relative: False):
        """A folder of this machine with all that is below it; links stay links."""
        for folder, folders, files in os.walk(source):
            relative = os.path.relpath(folder, source)
            folders[:] = sorted(name for name in folders if not skip(os.path.normpath(os.path.join(relative, name))))
            for name in sorted(files + [name for name in folders if os.path.islink(os.path.join(folder, name))]):
                below = os.path.normpath(os.path.join(relative, name))
                if skip(below):
                    continue
                whole = os.path.join(folder, name)
                if os.path.islink(whole):
                    self.link(f"{path}/{below}", os.readlink(whole))
                elif os.path.isfile(whole):
                    self.copy(whole, f"{path}/{below}")

    def _add(self, path, node):
        pure = PurePosixPath(path)
        if pure.is_absolute() or ".." in pure.parts or str(pure) in ("", "."):
            raise ValueError(f"{path!r} is not a path inside of a tree")
        for parent in reversed(pure.parents):
            if str(parent) != "." and self.nodes.setdefault(str(parent), Node("folder", 0o755)).kind != "folder":
                raise PackagingError(f"{path}: {parent} is a {self.nodes[str(parent)].kind} already")
        before = self.nodes.get(str(pure))
        if before is not None and before != node and not (before.kind == node.kind == "folder"):
            raise PackagingError(f"{path} is in the tree already, and otherwise")
        self.nodes[str(pure)] = node

    def without(self, other):
        """What another tree, which lies below this one, does not have."""
        out = FileTree()
        out.nodes = {path: node for path, node in self.nodes.items() if other.nodes.get(path) != node}
        return out

    def size(self):
        return sum(len(node.content) for node in self.nodes.values())

    def tar(self, seconds):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for path, node in sorted(self.nodes.items()):
                entry = tarfile.TarInfo(path)
                entry.mode, entry.mtime = node.mode, seconds
                entry.uid = entry.gid = node.owner
                if node.kind == "folder":
                    entry.type = tarfile.DIRTYPE
                elif node.kind == "link":
                    entry.type, entry.linkname = tarfile.SYMTYPE, node.target
                else:
                    entry.size = len(node.content)
                archive.addfile(entry, io.BytesIO(node.content) if node.kind == "file" else None)
        return out.getvalue()

    def write_to(self, root, seconds):
        """Into an empty or new folder. Owners other than root are given only by root."""
        os.makedirs(root, exist_ok=True)
        if os.listdir(root):
            raise PackagingError(f"{root} is not empty; allowed: a new folder")
        for path, node in sorted(self.nodes.items()):
            whole = os.path.join(root, path)
            if node.kind == "folder":
                os.mkdir(whole)
            elif node.kind == "link":
                os.symlink(node.target, whole)
            else:
                with open(whole, "xb") as stream:
                    stream.write(node.content)
            if node.kind != "link":
                if node.owner and os.geteuid() == 0:
                    os.chown(whole, node.owner, node.owner)
                os.chmod(whole, node.mode)
        for path in sorted(self.nodes, reverse=True):
            os.utime(os.path.join(root, path), (seconds, seconds), follow_symlinks=False)
