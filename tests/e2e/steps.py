"""What every end-to-end test does: run a command, wait until something holds, find a free port."""
import os, signal, socket, subprocess, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

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
    """Calls `look` until it does not fail; after so many seconds its failure is ours."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return look()
        except AssertionError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.5)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
