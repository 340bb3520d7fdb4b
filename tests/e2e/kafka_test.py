#!/usr/bin/python3
"""hindsight on a real Kafka broker: the quick start and every command that reads a log, copies in both directions, what is said when something is
wrong, a broker that restarts under a running control plane. Usage: kafka_test.py HINDSIGHT"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path

from doctor_kafka import faults_and_their_repairs

ROOT = Path(__file__).resolve().parent.parent.parent
HINDSIGHT = sys.argv[1]
BUILD = Path(os.environ.get("HINDSIGHT_BUILD_DIR", ROOT / "build"))

passed = failed = 0


def check(what, good, found=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        words = " ".join(str(found).split())  # one line, which the sum of all suites repeats
        print(f"FAILED: {what}: found {words}", flush=True)


def hindsight(*arguments, timeout=300):
    return subprocess.run([HINDSIGHT, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False)


def output(*arguments):
    run = hindsight(*arguments)
    check(" ".join(arguments), run.returncode == 0, f"{run.returncode}: {run.stdout[-300:]} {run.stderr[-600:]}")
    return run.stdout


def document(*arguments):
    try:
        return json.loads(output(*arguments, "-o", "json"))
    except json.JSONDecodeError as error:
        check(" ".join(arguments), False, error)
        return {}


def refused(what, words, *arguments, status=1):
    run = hindsight(*arguments)
    lines = run.stderr.strip().splitlines()
    good = run.returncode == status and len(lines) == 1 and all(word in run.stderr for word in words)
    check(what, good, f"{run.returncode}: {run.stderr[-800:]}")


def kafka(folder, *arguments):
    command = ["/usr/bin/python3", ROOT / "scripts" / "kafka.py", *arguments, "--dir", folder]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def quick_start_and_readers(log, folder):
    refused("a log without topics", ["no topic hindsight.log", "hindsight log init"], "log", "stats", "--log", log)
    made = document("log", "init", "--log", log)
    check("both topics are made", [t["made"] for t in made["topics"]] == [True, True], made)
    again = document("log", "init", "--log", log)
    check("and fit the second time", [t["made"] for t in again["topics"]] == [False, False], again)

    run = hindsight("run", "--quickstart", "examples/quickstart", "--log", log)
    check("the quick start", run.returncode == 0, run.stderr[-800:])
    check("the commands that it names read this log", f"--log {log}" in run.stdout, run.stdout[-600:])
    refused("a second quick start on it", ["has records already"], "run", "--quickstart", "examples/quickstart", "--log", log)

    verified = document("verify", "--log", log)
    check("verify is clean", verified.get("clean") is True and verified.get("decisions", 0) > 0, verified)
    checked = document("log", "check", "--log", log)
    check("log check finds nothing", checked.get("findings") == [] and checked.get("records", 0) > 0, checked)
    stats = document("log", "stats", "--log", log)
    check("log stats counts every record", stats.get("records") == checked.get("last"), stats)
    lines = output("log", "cat", "--log", log, "-o", "json").splitlines()
    check("log cat gives every record", len(lines) == stats["records"], len(lines))
    output("get", "workloads", "-A", "--at", str(stats["records"] // 2), "--log", log)
    output("get", "clusterqueues", "--at", stats["firstTime"], "--log", log)
    output("diff", "1", "latest", "--log", log)
    output("history", "--log", log, *first_workload(log))
    output("why", "--log", log, *first_workload(log))

    # There and back: the same states on either log.
    here = folder / "copy.db"
    copied = document("log", "copy", log, str(here))
    check("a copy has every record", copied.get("copied") == stats["records"], copied)
    again = document("log", "copy", log, str(here))
    check("a second copy adds nothing", (again.get("copied"), again.get("found")) == (0, stats["records"]), again)
    back = f"{log}/back"
    output("log", "init", "--log", back)
    document("log", "copy", str(here), back)
    hashes = {name: document("replay", "--log", name).get("hash") for name in (log, str(here), back)}
    check("all three lead to one state", len(set(hashes.values())) == 1, hashes)
    check("the copy is clean", document("verify", "--log", str(here)).get("clean") is True)
    other = f"{log}/other"
    output("log", "init", "--log", other)
    hindsight("run", "--quickstart", "examples/quickstart", "--log", other)
    refused("a copy onto another log", ["is not that of"], "log", "copy", other, str(here))


def trimmed(log, folder):
    """The first half goes; the second is as it was, also in a copy."""
    stats = document("log", "stats", "--log", log)
    end, cut = stats["records"], stats["records"] // 2
    later = cut + (end - cut) // 2
    states = {at: document("replay", "--at", str(at), "--log", log).get("hash") for at in (cut, later, end)}
    owner = document("nodes", "--log", log)[0]
    refused("a trim beyond the end", ["--before", str(end + 1)], "log", "trim", "--before", str(end + 2), "--log", log, status=2)
    refused("a trim of everything", ["--before", "latest"], "log", "trim", "--before", "latest", "--log", log, status=2)
    told = document("log", "trim", "--before", str(cut + 1), "--dry-run", "--log", log)
    check("a dry run tells", (told[0]["records"], told[0]["first"], told[0]["snapshotsMade"]) == (cut, cut + 1, 1), told)
    check("and changes nothing", document("log", "stats", "--log", log).get("records") == end)
    done = document("log", "trim", "--before", str(cut + 1), "--log", log)
    check("a trim does what it told", [{**one, "dryRun": True} for one in done] == told, done)
    again = document("log", "trim", "--before", str(cut + 1), "--log", log)
    check("there is nothing left to trim", (again[0]["records"], again[0]["first"]) == (0, cut + 1), again)

    for at, state in states.items():
        check(f"the state at {at} is as it was", document("replay", "--at", str(at), "--log", log).get("hash") == state)
    check("who decides is known although its epoch began before", document("nodes", "--log", log)[0] == owner, owner)
    refused("a moment before", ["was trimmed", str(cut + 1)], "get", "workloads", "-A", "--at", str(cut - 1), "--log", log)
    refused("a fold of every record", ["was trimmed", str(cut + 1)], "replay", "--from-start", "--log", log)
    taken_home(log, folder, cut, end, states)
    verified = document("verify", "--log", log)
    check("what is left verifies", verified.get("clean") is True and verified.get("records") == end - cut, verified)
    check("log check finds nothing in it", document("log", "check", "--log", log).get("findings") == [])
    check("log cat begins there", len(output("log", "cat", "--log", log, "-o", "json").splitlines()) == end - cut)
    output("why", "--log", log, *first_workload(log))

    node = subprocess.Popen([HINDSIGHT, "run", "--role", "node", "--log", log], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 120
        while time.monotonic() < until and document("log", "stats", "--log", log)["domains"][0]["epoch"] == stats["domains"][0]["epoch"]:
            time.sleep(1)
    finally:
        node.terminate()
        check("a node ends well", node.wait(60) == 0, node.returncode)
    epoch = document("log", "stats", "--log", log)["domains"][0]["epoch"]
    check("a node goes on from the snapshot", epoch > stats["domains"][0]["epoch"], epoch)
    check("and that verifies", document("verify", "--log", log).get("clean") is True)


def forgets_by_itself(log):
    """A node that keeps little history. The log is one of January, and nobody is there who knows a later day: time goes on from its end."""
    before = document("log", "stats", "--log", log)["records"]
    node = subprocess.Popen(
        [HINDSIGHT, "run", "--role", "node", "--log", log, "--keep-history", "1s"], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    kept = None
    try:
        until = time.monotonic() + 120
        while time.monotonic() < until and (kept is None or kept > timedelta(seconds=1)):
            time.sleep(1)
            stats = hindsight("log", "stats", "--log", log, "-o", "json")  # may meet a record that is just being forgotten
            if stats.returncode == 0:
                first, last = (datetime.fromisoformat(json.loads(stats.stdout)[which]) for which in ("firstTime", "lastTime"))
                kept = last - first
    finally:
        node.terminate()
        check("a node that forgets ends well", node.wait(60) == 0, node.returncode)
    check("only the last second is left", kept is not None and kept <= timedelta(seconds=1), kept)
    left = document("log", "stats", "--log", log)["records"]
    check("which is little", 0 < left < before // 2, (left, before))
    check("it verifies", document("verify", "--log", log).get("clean") is True)
    check("without a finding", document("log", "check", "--log", log).get("findings") == [])
    output("get", "workloads", "-A", "--log", log)


def taken_home(log, folder, cut, end, states):
    """A copy of a log that was trimmed, which is trimmed further."""
    home = str(folder / "home.db")
    copied = document("log", "copy", log, home)
    check("a copy has what is left", (copied["copied"], copied["last"]) == (end - cut, end), copied)
    for at, state in states.items():
        check(f"its state at {at} is the same", document("replay", "--at", str(at), "--log", home).get("hash") == state)
    check("it verifies", document("verify", "--log", home).get("clean") is True)
    check("log check finds nothing in it", document("log", "check", "--log", home).get("findings") == [])
    refused("a moment before what it has", ["was trimmed", str(cut + 1)], "get", "workloads", "-A", "--at", str(cut - 1), "--log", home)
    output("why", "--log", home, *first_workload(home))
    whole = document("log", "copy", log, str(folder / "copy.db"))
    check("a copy that goes back further is left as it is", (whole["copied"], whole["found"]) == (0, end - cut), whole)
    output("log", "init", "--log", f"{log}/late")
    refused("a copy to topics", ["always begins with record 1"], "log", "copy", home, f"{log}/late")
    later = cut + (end - cut) // 2
    done = document("log", "trim", "--before", str(later + 1), "--log", home)
    check("a file can be trimmed", (done[0]["records"], done[0]["first"]) == (later - cut, later + 1), done)
    check("and leads to the same end", document("replay", "--log", home).get("hash") == states[end])
    check("without a finding", document("log", "check", "--log", home).get("findings") == [])
    missing = folder / "no-such.db"
    refused("a trim of no file", ["no such file"], "log", "trim", "--before", "-1h", "--log", str(missing))
    check("which does not make one", not missing.exists())


def first_workload(log):
    workloads = document("get", "workloads", "-A", "--log", log)
    items = workloads.get("items", workloads) if isinstance(workloads, dict) else workloads
    item = items[0]
    return [f"{item['metadata']['namespace']}/{item['metadata']['name']}"]


def wrong_ways(log, folder):
    config = folder / "kafka.properties"
    config.write_text("patience.ms=1000\n")
    refused("no broker there", ["kafka:127.0.0.1:9", "127.0.0.1:9"], "log", "stats", "--log", "kafka:127.0.0.1:9", "--log-config", str(config))
    config.write_text("acks=1\n")
    refused("a key that is not allowed", ["line 1", '"acks"', "security.protocol"], "log", "stats", "--log", log, "--log-config", str(config), status=2)
    refused("a wrong location", ["a broker is", "HOST:PORT"], "log", "stats", "--log", "kafka:nowhere", status=2)
    refused("settings of Kafka for a file", ["--log-config"], "log", "stats", "--log", "x.db", "--log-config", str(config), status=2)
    refused("init of a file", ["needs no preparation"], "log", "init", "--log", "x.db", status=2)
    config.write_text("security.protocol=ssl\npatience.ms=2000\n")
    refused("TLS where there is none", ["log kafka:"], "log", "stats", "--log", log, "--log-config", str(config))


def broker_restarts_under_a_quick_start(broker_folder, log, folder):
    """The quick start stays (--keep) while the broker is killed and comes back, however long a busy machine takes for that."""
    name = f"{log}/restart"
    config = folder / "patient.properties"
    config.write_text("patience.ms=600000\n")
    output("log", "init", "--log", name)
    process = subprocess.Popen(
        [HINDSIGHT, "run", "--quickstart", "examples/quickstart", "--keep", "--log", name, "--log-config", str(config)],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )
    try:
        time.sleep(1)
        kafka(broker_folder, "kill", "1")
        kafka(broker_folder, "start", "1")
        grew = time.monotonic() + 60
        while time.monotonic() < grew and document("log", "stats", "--log", name).get("records", 0) < 10:
            time.sleep(1)
        records = document("log", "stats", "--log", name).get("records", 0)
        check("it goes on when the broker is back", records >= 10, records)
        check("it is still there", process.poll() is None, process.poll())
    finally:
        process.kill()  # -9: nothing is finished or flushed
        process.wait()
    check("nothing is broken after kill -9", document("verify", "--log", name).get("clean") is True)
    check("and the log is whole", document("log", "check", "--log", name).get("findings") == [])


def finish():
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def main():
    folder = Path(tempfile.mkdtemp(prefix="kafka-e2e-", dir=BUILD))
    brokers = folder / "kafka"
    try:
        log = f"kafka:{kafka(brokers, 'up')}"
        quick_start_and_readers(log, folder)
        wrong_ways(log, folder)
        trimmed(log, folder)
        forgets_by_itself(log)
        broker_restarts_under_a_quick_start(brokers, log, folder)
        faults_and_their_repairs(HINDSIGHT, log, folder, check, kafka, brokers)
    finally:
        kafka(brokers, "down")
        shutil.rmtree(folder, ignore_errors=True)
    finish()


if __name__ == "__main__":
    main()
