#!/usr/bin/python3
"""hindsight on a real Kafka broker with TLS, passwords and ACLs: what works with the right settings, and what is said with wrong ones.
Usage: kafka_security_test.py HINDSIGHT"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from kafka_test import BUILD, check, document, finish, hindsight, kafka, output, refused

USERS = {"admin": "admin-secret", "nobody": "nobody-secret"}  # nobody has no rights at all
CONTROLLERS = "User:ANONYMOUS"  # they talk to each other in the clear, on a port of their own


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, capture_output=True, check=True)


def authority(folder, name):
    """Makes NAME.pem and NAME.key, a certificate authority."""
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")


def server_certificate(folder):
    """Makes server.pem, key and certificate in one file as Kafka reads them."""
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=broker", "-keyout", "server.key", "-out", "server.csr")
    openssl(folder, "x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial", "-days", "2",
            "-extfile", "names", "-out", "server.crt")
    openssl(folder, "pkcs8", "-topk8", "-nocrypt", "-in", "server.key", "-out", "server.pk8")
    (folder / "server.pem").write_text((folder / "server.pk8").read_text() + (folder / "server.crt").read_text())


def properties(folder):
    users = " ".join(f'user_{name}="{password}"' for name, password in USERS.items())
    return {
        "listener.security.protocol.map": "PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT",  # the listener keeps its name and gets another protocol
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.plaintext.plain.sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'username="admin" password="{USERS["admin"]}" {users};',
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": folder / "server.pem",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": folder / "authority.pem",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:admin;{CONTROLLERS}",
    }


def settings(folder, name, **changed):
    """A file for --log-config; what is None is left out."""
    keys = {"security.protocol": "sasl_ssl", "ssl.ca.location": folder / "authority.pem", "sasl.mechanism": "PLAIN", "sasl.username": "admin",
            "sasl.password": USERS["admin"], "patience.ms": 3000}
    keys.update({key.replace("_", "."): value for key, value in changed.items()})
    file = folder / f"{name}.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in keys.items() if value is not None))
    return str(file)


def right_settings(log, folder):
    config = ["--log", log, "--log-config", settings(folder, "right")]
    output("log", "init", *config)
    run = hindsight("run", "--quickstart", "examples/quickstart", *config)
    check("the quick start", run.returncode == 0, run.stderr[-800:])
    check("verify is clean", document("verify", *config).get("clean") is True)
    check("log check finds nothing", document("log", "check", *config).get("findings") == [])


def wrong_settings(log, folder):
    def said(what, words, **changed):
        refused(what, [log, *words], "log", "stats", "--log", log, "--log-config", settings(folder, "wrong", **changed))

    authority(folder, "stranger")
    said("no TLS to a port that wants it", [], security_protocol="plaintext", ssl_ca_location=None, sasl_mechanism=None, sasl_username=None,
         sasl_password=None)
    said("a certificate of nobody we know", ["certificate"], ssl_ca_location=folder / "stranger.pem")
    said("a wrong password", ["uthentication"], sasl_password="guess")
    said("a user without rights", ["uthoriz"], sasl_username="nobody", sasl_password=USERS["nobody"])
    refused("a file that is not there", ["line 2", "ssl.ca.location", "absent.pem"], "log", "stats", "--log", log, "--log-config",
            settings(folder, "wrong", ssl_ca_location=folder / "absent.pem"), status=2)
    refused("no right to make topics", ["uthoriz"], "log", "init", "--log", f"{log}/more", "--log-config",
            settings(folder, "wrong", sasl_username="nobody", sasl_password=USERS["nobody"]))


def main():
    folder = Path(tempfile.mkdtemp(prefix="kafka-security-e2e-", dir=BUILD))
    os.chmod(folder, 0o700)
    brokers = folder / "kafka"
    try:
        authority(folder, "authority")
        server_certificate(folder)
        log = "kafka:" + kafka(brokers, "up", *(word for key, value in properties(folder).items() for word in ("--property", f"{key}={value}")))
        right_settings(log, folder)
        wrong_settings(log, folder)
    finally:
        kafka(brokers, "down")
        shutil.rmtree(folder, ignore_errors=True)
    finish()


if __name__ == "__main__":
    main()
