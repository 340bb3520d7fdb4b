"""`hindsight doctor` on a log of a real broker (issue 21, section 6): each fault of the topics is made, found, repaired by the very command that
the finding gives, and is gone. A part of kafka_test.py, which has the broker.

Of Kafka's own tools the commands use kafka-configs.sh, and what that script runs is what runs here: kafka.admin.ConfigCommand of the broker's
release. The commands that change nothing (kafka-topics.sh --describe, kafka-acls.sh --list, kafka-broker-api-versions.sh) are only told:
they lie in an archive of Kafka of which the broker needs nothing.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import kafka as brokers_of_a_test  # noqa: E402

SECONDS_MAX = 60


class Doctor:
    def __init__(self, hindsight, folder, check):
        self.hindsight, self.check = hindsight, check
        tools = folder / "tools"
        tools.mkdir()
        (tools / "hindsight").symlink_to(Path(hindsight).resolve())
        configs = tools / "kafka-configs.sh"
        configs.write_text(f"#!/bin/sh\nexec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dorg.slf4j.simpleLogger.defaultLogLevel=error "
                           f"-cp '{brokers_of_a_test.class_path()}' kafka.admin.ConfigCommand \"$@\"\n", encoding="utf-8")
        configs.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}

    def examine(self, log):
        done = subprocess.run([self.hindsight, "doctor", "--only", "log", "--log", log, "-o", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=SECONDS_MAX, check=False)
        try:
            return done.returncode, json.loads(done.stdout)
        except json.JSONDecodeError:
            self.check("doctor says it as JSON", False, f"{done.returncode}: {done.stdout[-300:]} {done.stderr[-300:]}")
            return done.returncode, {"findings": [], "errors": -1}

    def shell(self, line):
        done = subprocess.run(["sh", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment, timeout=SECONDS_MAX, check=False)
        self.check(f"the command works: {line}", done.returncode == 0, done.stdout[-600:])

    def heal(self, log, *parts):
        """The faults are found, their commands are run, and the faults are gone."""
        document = self.examine(log)[1]
        for part in parts:
            found = [f for f in document["findings"] if part in f["found"]]
            good = [f["severity"] for f in found] == ["error"] and all(found[0][key] for key in ("object", "allowed", "advice", "command"))
            self.check(f"doctor finds: {part}", good, found)
            if good:
                self.shell(found[0]["command"])
        until = time.monotonic() + SECONDS_MAX
        while True:
            left = [f for f in self.examine(log)[1]["findings"] if any(part in f["found"] for part in parts)]
            if not left or time.monotonic() > until:
                break
            time.sleep(0.5)
        self.check("they are gone after their commands", left == [], left)

    def break_topic(self, log, topic, settings):
        self.shell(f"kafka-configs.sh --bootstrap-server {log.split(':', 1)[1].split('/')[0]} --alter --entity-type topics --entity-name {topic} --add-config {settings}")


def faults_and_their_repairs(hindsight, log, folder, check, kafka, broker_folder):
    """`log` names brokers that run; the topics are others."""
    doctor = Doctor(hindsight, folder, check)
    own = log + "/ill"
    status, document = doctor.examine(own)
    check("topics that are missing are an error", status == 1 and document["errors"] == 1, document)
    doctor.heal(own, "no topic")
    status, document = doctor.examine(own)
    check("then nothing is an error", status == 0 and document["errors"] == 0, document)

    doctor.break_topic(own, "ill.log", "retention.ms=600000,unclean.leader.election.enable=true,min.insync.replicas=2,cleanup.policy=compact")
    doctor.heal(own, "cleanup.policy", "retention.ms is 600000", "unclean.leader.election.enable is true", "min.insync.replicas is 2")
    doctor.break_topic(own, "ill.snapshots", "cleanup.policy=delete")
    doctor.heal(own, "cleanup.policy")
    status, document = doctor.examine(own)
    check("all is repaired but that there is one broker", status == 0 and document["errors"] == 0 and ["1 replica" in f["found"] for f in document["findings"]] == [True], document)

    kafka(broker_folder, "kill", "1")
    status, document = doctor.examine(own)
    commands = [f["command"] for f in document["findings"]]
    check("brokers that are away could not be looked at", status == 2 and any(c.startswith("kafka-broker-api-versions.sh --bootstrap-server ") for c in commands), document)
    kafka(broker_folder, "start", "1")
    status, document = doctor.examine(own)
    check("and are well when they are back", status == 0, document)
