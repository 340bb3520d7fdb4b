#!/usr/bin/python3
"""Starts the image of Hindsight on Linux without a container runtime: as root, or as anybody where the kernel lets users have namespaces.

    run_image.py [--data DIR] [--network] FILE.oci.tar ARG...     as `podman run --read-only` would: ARG... are those of hindsight

The program has a root of its own, which cannot be written to, the image's user, no capabilities, a /tmp in memory, and DIR, which it may
write to, as /var/lib/hindsight. Without --network it reaches nothing. The image is unpacked anew each time, and thrown away at the end.
"""

import argparse
import ctypes
import os
import shutil
import signal
import sys
import tempfile

from oci_reader import BadImage, read_image, unpack

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 24, 38
CAPABILITIES_MAX = 63
DEVICES = ("null", "zero", "full", "random", "urandom")

libc = ctypes.CDLL(None, use_errno=True)


class CannotStart(Exception):
    pass


def call(name, *words):
    arguments = [word.encode() if isinstance(word, str) else word for word in words]
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def mount(source, target, kind, flags, data=""):
    call("mount", source, target, kind, ctypes.c_ulong(flags), data)


def write_to(path, text):
    with open(path, "w", encoding="ascii") as out:
        out.write(text)


def into_namespaces(user, group, network):
    """Mounts of our own; for who is not root also a user namespace, in which we are the image's user. False: this machine allows root no mounts."""
    wanted = CLONE_NEWNS | CLONE_NEWPID | (0 if network else CLONE_NEWNET)
    if os.geteuid() == 0:
        try:
            call("unshare", ctypes.c_int(wanted))
            mount("none", "/", "", MS_REC | MS_PRIVATE)
        except OSError:
            return False
        return True
    own_user, own_group = os.geteuid(), os.getegid()
    try:
        call("unshare", ctypes.c_int(wanted | CLONE_NEWUSER))
    except OSError as error:
        raise CannotStart(f"this user may have no namespaces ({error}); allowed: root, or a kernel with user namespaces (sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces)") from error
    write_to("/proc/self/setgroups", "deny")
    write_to("/proc/self/uid_map", f"{user} {own_user} 1")
    write_to("/proc/self/gid_map", f"{group} {own_group} 1")
    mount("none", "/", "", MS_REC | MS_PRIVATE)
    return True


def furnish(root, data):
    """What a runtime mounts into a root, and then nothing there can be written to any more."""
    mount(root, root, "", MS_BIND | MS_REC)
    mount("tmpfs", f"{root}/dev", "tmpfs", MS_NOSUID, "mode=755,size=64k")
    for name in DEVICES:
        write_to(f"{root}/dev/{name}", "")
        mount(f"/dev/{name}", f"{root}/dev/{name}", "", MS_BIND)
    try:
        mount("proc", f"{root}/proc", "proc", MS_NOSUID | MS_NODEV)
    except OSError:
        pass  # inside of another container; the program does without
    mount("tmpfs", f"{root}/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=256m")
    mount(data, f"{root}/var/lib/hindsight", "", MS_BIND)
    mount("none", root, "", MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID)


def end_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0)


def become(user, group):
    """The image's user, with no way back."""
    if os.geteuid() == 0:
        os.setgroups([])
    for capability in range(CAPABILITIES_MAX + 1):
        libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0)  # those that this kernel does not have fail
    if os.geteuid() == 0:
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
    end_with_parent()  # a change of the user takes it back
    call("prctl", ctypes.c_int(PR_SET_NO_NEW_PRIVS), ctypes.c_ulong(1), 0, 0, 0)


def run_program(root, data, settings, words, mounts):
    """Becomes the program; it comes back only if that fails."""
    user, group = (int(number) for number in settings["User"].split(":"))
    if mounts:
        furnish(root, data)
    os.chroot(root)
    os.chdir(settings.get("WorkingDir", "/"))
    become(user, group)
    os.umask(0o022)
    environment = dict(line.split("=", 1) for line in settings.get("Env", []))
    command = settings.get("Entrypoint", []) + (words or settings.get("Cmd", []))
    os.execve(command[0], command, environment)


def apart_from_machine(root, data, settings, words, network):
    """In a process of its own, whose namespaces end with it. Returns the status of the program."""
    user, group = (int(number) for number in settings["User"].split(":"))
    if os.geteuid() == 0:
        os.chown(data, user, group)
    mounts = into_namespaces(user, group, network)
    if not mounts:
        print("run_image: no mounts are allowed here: what cannot be written to is so by its owner, the data is lost, and the network is that of the machine", file=sys.stderr)
    return follow(lambda: run_program(root, data, settings, words, mounts))


def follow(work):
    """Forks, hands signals on to the child, and returns its status as a shell would."""
    child = os.fork()
    if child == 0:
        status = 125
        end_with_parent()
        try:
            status = work()
        except (CannotStart, OSError) as error:
            print(f"run_image: error: {error}", file=sys.stderr)
        finally:
            os._exit(status)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: os.kill(child, received))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status if status >= 0 else 128 - status


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="a folder, which is made; without it one that is thrown away")
    parser.add_argument("--network", action="store_true", help="that of the machine")
    parser.add_argument("image")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    apart = tempfile.mkdtemp(prefix="hindsight-image-")
    try:
        os.chmod(apart, 0o755)
        data = os.path.abspath(arguments.data or os.path.join(apart, "data"))
        os.makedirs(data, exist_ok=True)
        root = os.path.join(apart, "root")
        image = read_image(arguments.image)
        unpack(image, root)
        sys.exit(follow(lambda: apart_from_machine(root, data, image.config["config"], arguments.arguments, arguments.network)))
    except (BadImage, CannotStart, OSError) as error:
        print(f"run_image: error: {error}", file=sys.stderr)
        sys.exit(125)
    finally:
        shutil.rmtree(apart)


if __name__ == "__main__":
    main()
