#!/usr/bin/python3
"""Runs real Apache Kafka brokers (KRaft, each broker is a controller too) on 127.0.0.1.

    kafka.py up [--dir D] [--brokers N] [--property K=V]...   start; prints the bootstrap addresses: 127.0.0.1:PORT[,127.0.0.1:PORT...]
    kafka.py down [--dir D] [--keep]        stop everything; --keep leaves the data for the next up
    kafka.py status [--dir D] [-o json]     what runs where; status 1 if a broker is down
    kafka.py stop|start|kill BROKER [--dir D]   one of them: 1..N; kill is SIGKILL, as a crash would be
    kafka.py pause|resume BROKER [--dir D]  SIGSTOP and SIGCONT: connections stay open and nothing answers, as when the network is cut

All state lies in D (default build/kafka): kafka.json, broker-N/, logs/, pids/. Each D is a Kafka of its own with its own ports, so tests
run theirs side by side. The broker comes from Maven Central by scripts/tools.sh (tools/kafka/pom.xml) and needs a Java 17 runtime. Topics
are not made by themselves: 'hindsight log init' makes those that a log needs. --property adds to, or replaces, what every broker is given.
"""

import argparse
import base64
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path

from cluster import ROOT, ClusterError, Process, wait_until
from ports import free_ports

READY_SECONDS_MAX = 120
STARTED = "Kafka Server started"

# Heaps of a test machine: a broker without work lives in 250 MB.
JAVA_OPTIONS = ["-Xms64m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Djava.awt.headless=true"]


def say(text):
    print(f"kafka: {text}", file=sys.stderr, flush=True)


def java():
    found = shutil.which("java")
    if found is None:
        raise ClusterError("java was not found; needed is a Java 17 runtime (Debian: openjdk-17-jre-headless)")
    return found


def class_path():
    run = subprocess.run([ROOT / "scripts" / "tools.sh", "path", "kafka"], stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        raise ClusterError("Kafka is not there; run ./dev kafka up, or scripts/tools.sh build kafka")
    return f"{run.stdout.strip()}/*"


def accepts(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


class Kafka:
    def __init__(self, state_dir):
        self.dir = Path(state_dir).resolve()
        self.settings_file = self.dir / "kafka.json"
        self.settings = json.loads(self.settings_file.read_text()) if self.settings_file.exists() else None
        self.processes = {name: Process(self.dir, f"broker-{name}") for name in self.names()}

    def names(self):
        return [str(number + 1) for number in range(len(self.settings["ports"]))] if self.settings else []

    def bootstrap(self):
        return ",".join(f"127.0.0.1:{port}" for port, _ in self.settings["ports"])

    # ------------------------------------------------------------ files

    def create(self, brokers, properties, through):
        for folder in ("pids", "logs"):
            (self.dir / folder).mkdir(parents=True, exist_ok=True)
        self.dir.chmod(0o700)
        ports = free_ports(2 * brokers + len(through), self.dir / "pids")
        self.settings = {
            "ports": [ports[2 * i : 2 * i + 2] for i in range(brokers)],
            "through": dict(zip(map(str, through), ports[2 * brokers :])),
            "properties": properties,
        }
        self.processes = {name: Process(self.dir, f"broker-{name}") for name in self.names()}
        cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        for name in self.names():
            self.properties_file(name).write_text("".join(f"{key}={value}\n" for key, value in self.properties(name).items()))
            # With "=", since an id may begin with "-".
            self.storage_tool("format", f"--cluster-id={cluster_id}", "-c", str(self.properties_file(name)))
        # Last: a kafka.json says that all other files are complete.
        self.settings_file.write_text(json.dumps(self.settings, indent=2))

    def properties_file(self, name):
        return self.dir / f"broker-{name}.properties"

    def properties(self, name):
        count = len(self.settings["ports"])
        replicas = min(3, count)
        port, controller_port = self.settings["ports"][int(name) - 1]
        # Port of a proxy -> port of the listener behind it, which tells its clients to stay with the proxy.
        through = self.settings.get("through", {})
        ways = [("PLAINTEXT", port, port)] + [(f"THROUGH{i}", there, proxy) for i, (proxy, there) in enumerate(through.items())]
        voters = ",".join(f"{i + 1}@127.0.0.1:{ports[1]}" for i, ports in enumerate(self.settings["ports"]))
        return {
            "process.roles": "broker,controller",
            "node.id": name,
            "controller.quorum.voters": voters,
            "controller.listener.names": "CONTROLLER",
            "listeners": ",".join(f"{name}://127.0.0.1:{there}" for name, there, _ in [*ways, ("CONTROLLER", controller_port, None)]),
            "advertised.listeners": ",".join(f"{name}://127.0.0.1:{told}" for name, _, told in ways),
            "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in [*(way[0] for way in ways), "CONTROLLER"]),
            "log.dirs": str(self.dir / f"broker-{name}"),
            "auto.create.topics.enable": "false",
            "default.replication.factor": replicas,
            "min.insync.replicas": max(1, replicas - 1),
            "offsets.topic.replication.factor": replicas,
            "transaction.state.log.replication.factor": replicas,
            "transaction.state.log.min.isr": max(1, replicas - 1),
            "group.initial.rebalance.delay.ms": 0,
            "num.recovery.threads.per.data.dir": 1,
            # A log cleaner that comes soon, and in a small heap.
            "log.cleaner.dedupe.buffer.size": 8 << 20,
            "log.cleaner.backoff.ms": 1000,
            "log.retention.check.interval.ms": 1000,
            "log.initial.task.delay.ms": 1000,
            **self.settings["properties"],
        }

    def storage_tool(self, *arguments):
        command = [java(), *JAVA_OPTIONS, "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", class_path(), "kafka.tools.StorageTool"]
        run = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise ClusterError(f"StorageTool {' '.join(arguments)}: {(run.stdout + run.stderr).strip()[-600:]}")
        return run.stdout

    # ------------------------------------------------------------ processes

    def start(self, names):
        """Starts those that do not run, together: one alone of several has no quorum."""
        for name in names:
            process = self.processes[name]
            if process.pid() is not None:
                continue
            if process.log.exists():
                process.log.replace(process.log.with_suffix(".log.before"))
            process.start([java(), *JAVA_OPTIONS, "-cp", class_path(), "kafka.Kafka", str(self.properties_file(name))])
        for name in names:
            process = self.processes[name]
            wait_until(lambda: process.pid() is None or self.is_ready(name), READY_SECONDS_MAX, 0.1)
            if process.pid() is None or not self.is_ready(name):
                found = "ended" if process.pid() is None else f"was not ready within {READY_SECONDS_MAX} s"
                raise ClusterError(f"broker {name} {found}; the end of {process.log}:\n{process.log_tail()}")

    def is_ready(self, name):
        process = self.processes[name]
        return process.log.exists() and STARTED in process.log.read_text(errors="replace") and accepts(self.settings["ports"][int(name) - 1][0])

    def stop(self, names):
        # Together: a controller that is the last of its quorum waits long for the others before it ends.
        for name in names:
            pid = self.processes[name].pid()
            if pid is not None:
                os.kill(pid, signal.SIGTERM)
                os.kill(pid, signal.SIGCONT)  # one that is paused would not hear of it
        for name in names:
            self.processes[name].stop()

    def signal(self, name, number):
        pid = self.processes[name].pid()
        if pid is None:
            raise ClusterError(f"broker {name} does not run")
        os.kill(pid, number)

    def kill(self, name):
        pid = self.processes[name].pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
        self.processes[name].stop()


# ---------------------------------------------------------------- commands


def require_settings(kafka):
    if kafka.settings is None:
        raise ClusterError(f"there is no Kafka in {kafka.dir}; run ./dev kafka up --dir {kafka.dir}")


def command_up(kafka, arguments):
    properties = {}
    for text in arguments.property:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise ClusterError(f"--property: found '{text}'; allowed: KEY=VALUE")
        properties[key] = value
    if kafka.settings is not None:
        found = len(kafka.settings["ports"])
        if arguments.brokers not in (None, found):
            raise ClusterError(f"the Kafka in {kafka.dir} has {found} brokers, asked for are {arguments.brokers}; allowed: the same, or './dev kafka down' first")
        if properties and properties != kafka.settings["properties"]:
            raise ClusterError(f"the Kafka in {kafka.dir} was made with other properties; allowed: the same, or './dev kafka down' first")
        if arguments.through and set(map(str, arguments.through)) != set(kafka.settings.get("through", {})):
            raise ClusterError(f"the Kafka in {kafka.dir} was made for other proxies; allowed: the same, or './dev kafka down' first")
    if arguments.through and (arguments.brokers or 1) != 1:
        raise ClusterError(f"--through: found with {arguments.brokers} brokers; allowed: with one")
    if subprocess.run([ROOT / "scripts" / "tools.sh", "build", "kafka"], check=False).returncode != 0:
        raise ClusterError("Kafka could not be fetched; see the messages above")
    begin = time.monotonic()
    if kafka.settings is None:
        kafka.create(arguments.brokers or 1, properties, arguments.through)
    running_before = [name for name in kafka.names() if kafka.processes[name].pid() is not None]
    try:
        kafka.start(kafka.names())
    except BaseException:
        kafka.stop([name for name in kafka.names() if name not in running_before])
        raise
    say(f"ready in {time.monotonic() - begin:.1f} s; hindsight run --log kafka:{kafka.bootstrap()}")
    print(kafka.bootstrap())


def command_down(kafka, arguments):
    kafka.stop(kafka.names())
    if kafka.settings is None:
        say(f"there is no Kafka in {kafka.dir}")
        return
    if arguments.keep:
        say(f"stopped; the data is kept in {kafka.dir}")
        return
    # By name: --dir may be a folder that holds more than this.
    for name in kafka.names():
        shutil.rmtree(kafka.dir / f"broker-{name}", ignore_errors=True)
        kafka.properties_file(name).unlink(missing_ok=True)
    for folder in ("pids", "logs"):
        shutil.rmtree(kafka.dir / folder, ignore_errors=True)
    kafka.settings_file.unlink(missing_ok=True)
    say(f"stopped, data removed from {kafka.dir}")


def command_status(kafka, arguments):
    require_settings(kafka)
    rows = []
    for name in kafka.names():
        pid = kafka.processes[name].pid()
        state = "down" if pid is None else "ready" if kafka.is_ready(name) else "not ready"
        rows.append({"broker": name, "state": state, "pid": pid, "port": kafka.settings["ports"][int(name) - 1][0]})
    if arguments.output == "json":
        print(json.dumps({"dir": str(kafka.dir), "bootstrap": kafka.bootstrap(), "brokers": rows}, indent=2))
    else:
        print(f"{'BROKER':<8} {'STATE':<10} {'PID':<8} PORT")
        for row in rows:
            print(f"{row['broker']:<8} {row['state']:<10} {row['pid'] or '-':<8} {row['port']}")
        print(f"bootstrap: {kafka.bootstrap()}")
    if any(row["state"] != "ready" for row in rows):
        sys.exit(1)


DONE = {"start": "ready", "stop": "stopped", "kill": "stopped", "pause": "paused", "resume": "goes on"}


def command_one(kafka, arguments):
    require_settings(kafka)
    if arguments.broker not in kafka.names():
        raise ClusterError(f"there is no broker '{arguments.broker}'; allowed: {', '.join(kafka.names())}")
    if arguments.command == "start":
        kafka.start([arguments.broker])
    elif arguments.command == "stop":
        kafka.stop([arguments.broker])
    elif arguments.command == "kill":
        kafka.kill(arguments.broker)
    else:
        kafka.signal(arguments.broker, signal.SIGSTOP if arguments.command == "pause" else signal.SIGCONT)
    say(f"broker {arguments.broker}: {DONE[arguments.command]}")


def parse():
    parser = argparse.ArgumentParser(prog="./dev kafka", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name, function):
        sub = commands.add_parser(name)
        sub.add_argument("--dir", default=str(ROOT / "build" / "kafka"), help="where the state lies")
        sub.set_defaults(function=function)
        return sub

    up = command("up", command_up)
    up.add_argument("--brokers", type=int, choices=range(1, 6), default=None, help="how many (default 1)")
    up.add_argument("--property", action="append", default=[], metavar="K=V", help="for every broker's configuration; repeatable")
    up.add_argument("--through", type=int, action="append", default=[], metavar="PORT",
                    help="a proxy of yours on 127.0.0.1: another listener of the broker, named in kafka.json, whose clients are told to use it; repeatable")
    command("down", command_down).add_argument("--keep", action="store_true", help="keep the data for the next up")
    command("status", command_status).add_argument("-o", "--output", choices=["table", "json"], default="table")
    for name in DONE:
        command(name, command_one).add_argument("broker", help="its number")
    return parser.parse_args()


def main():
    arguments = parse()
    state_dir = Path(arguments.dir).resolve()
    if arguments.command != "status":
        if arguments.command == "up":
            state_dir.mkdir(parents=True, exist_ok=True)
        if state_dir.exists():
            # Two commands on one Kafka take turns. The children do not inherit the lock (Python opens files so).
            lock = os.open(state_dir / "lock", os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        arguments.function(Kafka(state_dir), arguments)
    except ClusterError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
