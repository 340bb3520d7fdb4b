"""Ports on 127.0.0.1 for what is started side by side: none is given to two, not even while nobody listens on it yet, or for a moment no more."""
import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path

# Below the range from which the kernel takes ports of outgoing connections: nobody else picks these by chance.
PORT_RANGE = (20000, 32000)
CLAIMS = Path(tempfile.gettempdir()) / f"hindsight-ports-{os.getuid()}"


def free_ports(count, owner):
    """So many ports that belong to `owner`, a path, until there is nothing any more under it."""
    CLAIMS.mkdir(mode=0o700, exist_ok=True)
    ports = []
    with open(CLAIMS / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        while len(ports) < count:
            port = random.SystemRandom().randrange(*PORT_RANGE)
            claim = CLAIMS / str(port)
            if not (claim.exists() and os.path.exists(claim.read_text())) and nobody_listens(port):
                claim.write_text(str(owner))
                ports.append(port)
    return ports


def nobody_listens(port):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
