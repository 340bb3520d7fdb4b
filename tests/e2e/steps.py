"""What every end-to-end test does: run a command, wait until something holds, find a free port."""
import os, re, signal, subprocess, sys, time, urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))

from ports import free_ports  # noqa: E402

# Deadlines only bound a hang: a slow machine with two busy cores needs minutes where a free one needs seconds.
COMMAND_SECONDS_MAX = 300
WAIT_SECONDS_MAX = 120


class CommandFailed(AssertionError):
    def __init__(self, words, status, output):
        how = f"killed by signal {signal.Signals(-status).name}" if isinstance(status, int) and status < 0 else f"status {status}"
        super().__init__(f"{' '.join(words)}: {how}\n{output[-4000:]}")
        self.output = output


def run(*words, check=True, timeout=COMMAND_SECONDS_MAX, **more):
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout, **more)
    except subprocess.TimeoutExpired as late:
        output = late.stdout or b""
        raise CommandFailed(words, f"not over after {timeout} s", output.decode(errors="replace") if isinstance(output, bytes) else output) from late
    if check and done.returncode != 0:
        raise CommandFailed(words, done.returncode, done.stdout)
    return done.stdout


def eventually(look, seconds=WAIT_SECONDS_MAX):
    """Calls `look` until it does not fail, or miss a part that an object has not got yet; after so many seconds its failure is ours."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return look()
        except (AssertionError, KeyError):
            if time.monotonic() > deadline:
                raise
        time.sleep(0.5)


def free_port():
    """Of this test until it ends, also while nothing listens on it."""
    return free_ports(1, f"/proc/{os.getpid()}")[0]


class Program:
    """One process that may be killed, paused, stopped and started again; what it says is kept in a file."""

    def __init__(self, name, output, *words):
        self.name, self.output, self.words = name, output, words
        self.process = None
        self.starts = 0

    def start(self):
        with open(self.output, "ab") as out:
            self.process = subprocess.Popen(self.words, stdout=out, stderr=out)
        self.starts += 1

    def runs(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        if self.runs():
            self.process.kill()
            self.process.wait()

    def stop(self):
        """SIGTERM; returns the exit code, None if it did not run."""
        if not self.runs():
            return None
        self.signal(signal.SIGTERM)
        return self.process.wait(timeout=WAIT_SECONDS_MAX)

    def said(self):
        with open(self.output, encoding="utf-8", errors="replace") as out:
            return out.read()

    def heard(self, text, times=1):
        if not self.runs():
            raise RuntimeError(f"{self.name} has ended: {self.said()[-3000:]}")
        assert self.said().count(text) >= times, f"{text!r}: {self.said()[-3000:]}"


def is_ready(program):
    """A `hindsight run` with `process` and `output`: it runs, and says at /readyz that it is ready."""
    assert program.process.poll() is None, "it has ended"
    with open(program.output, encoding="utf-8") as out:
        address = re.search(r'"message":"HTTP listens","address":"([^"]+)"', out.read())
    assert address, "it does not listen yet"
    try:
        with urllib.request.urlopen(f"http://{address.group(1)}/readyz", timeout=10):
            pass
    except OSError as error:  # among them every status but 200
        raise AssertionError(f"/readyz: {error}") from error
