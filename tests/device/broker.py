"""A Mosquitto that imitates AWS IoT Core: a certificate for each client, each device in its own topics, and the rules of the deployment.

The rules are read from `infra/devices.yaml`: what a rule selects is handed over as there, to a function or into the bucket.
"""

import base64
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, unquote, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from paho.mqtt import client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from samcli.yamlhelper import yaml_parse  # type: ignore[import-untyped]

from tests.architecture.source_tree import CHECKOUT

_LOOPBACK = ip_address("127.0.0.1")
RULES = "rules"
"""The name of the client that stands for the rules engine and for the service that publishes to devices."""
CONFIGURATION = """
per_listener_settings true
listener {port} 127.0.0.1
cafile {folder}/ca.pem
certfile {folder}/broker.pem
keyfile {folder}/broker.key
require_certificate true
use_identity_as_username true
acl_file {folder}/acl
message_size_limit 131072
"""
PERMISSIONS = f"""
user {RULES}
topic readwrite tertulia/#

pattern write tertulia/v1/%u/up
pattern write tertulia/v1/%u/audio/#
pattern write tertulia/v1/%u/state
pattern read tertulia/v1/%u/down
pattern read tertulia/v1/%u/speech/#
"""


@dataclass(frozen=True)
class Authority:
    """Signs certificates, as AWS IoT does for things."""

    folder: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def made(cls, folder: Path) -> "Authority":
        """Make one, with its certificate in the folder."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _certificate("ca", key, key, None)
        authority = cls(folder, key, certificate)
        (folder / "ca.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return authority

    def signs(self, name: str) -> tuple[str, str]:
        """Write a certificate of that name and its key; return their paths."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _certificate(name, key, self.key, self.certificate)
        paths = (self.folder / f"{name}.pem", self.folder / f"{name}.key")
        paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        paths[1].write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return str(paths[0]), str(paths[1])


@dataclass
class Broker:
    """A running broker with its authority."""

    port: int
    authority: Authority

    def client(self, name: str, authority: Authority | None = None) -> mqtt.Client:
        """Return a client with a certificate of that name, not connected."""
        client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=f"tertulia-{name}")
        certificate, key = (authority or self.authority).signs(name)
        client.tls_set(str(self.authority.folder / "ca.pem"), certificate, key)
        # Without it a message waits for the acknowledgement of the one before it.
        client.on_socket_open = lambda _client, _data, opened: cast(socket.socket, opened).setsockopt(
            socket.IPPROTO_TCP, socket.TCP_NODELAY, 1
        )
        return client

    @contextmanager
    def connected(self, client: mqtt.Client) -> Iterator[mqtt.Client]:
        """Connect a client and run it."""
        client.connect("127.0.0.1", self.port)
        client.loop_start()
        try:
            yield client
        finally:
            client.disconnect()
            client.loop_stop()


@contextmanager
def running(folder: Path) -> Iterator[Broker]:
    """Run a broker."""
    authority = Authority.made(folder)
    authority.signs("broker")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "acl").write_text(PERMISSIONS)
    configuration = folder / "mosquitto.conf"
    configuration.write_text(CONFIGURATION.format(port=port, folder=folder) + "user root\n")
    program = shutil.which("mosquitto", path="/usr/sbin:/usr/bin:/usr/local/sbin:/opt/homebrew/sbin")
    assert program, "mosquitto is not installed: `make packages` says how to get it"
    with subprocess.Popen([program, "-c", str(configuration)], stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(port)
            yield Broker(port, authority)
        finally:
            process.terminate()


@dataclass
class Rules:
    """Carries out the rules of the deployment over a broker."""

    invoke: Callable[[Mapping[str, Any]], object]
    """Calls the function of the rule on `up`."""
    put: Callable[[str, bytes], object]
    """Puts an object into the bucket, for the rule on `audio`."""
    failures: list[Exception] = field(default_factory=list)

    @contextmanager
    def over(self, broker: Broker) -> Iterator[mqtt.Client]:
        """Listen as the rules engine does."""
        client, ready = broker.client(RULES), threading.Event()
        client.on_subscribe = lambda *_: ready.set()
        rules = [_Rule(resource["Properties"]["TopicRulePayload"]) for resource in _rules().values()]
        client.on_message = lambda _client, _data, message: self._each(rules, message)
        with broker.connected(client):
            client.subscribe([(rule.topics, 1) for rule in rules])
            assert ready.wait(10)
            yield client

    def _each(self, rules: "list[_Rule]", message: mqtt.MQTTMessage) -> None:
        for rule in rules:
            if mqtt.topic_matches_sub(rule.topics, message.topic):
                # An invocation of its own for each message, as in the cloud.
                threading.Thread(target=self._carry_out, args=(rule, message.topic, message.payload)).start()

    def _carry_out(self, rule: "_Rule", topic: str, payload: bytes) -> None:
        try:
            if "Lambda" in rule.action:
                self.invoke(rule.selected(topic, payload))
            else:
                self.put(rule.filled(rule.action["S3"]["Key"], topic), payload)
        except Exception as error:  # what the queue of failures would get
            self.failures.append(error)


class _Rule:
    def __init__(self, payload: Mapping[str, Any]) -> None:
        self.sql: str = payload["Sql"]
        [self.action] = payload["Actions"]
        [self.topics] = re.findall(r"FROM '([^']+)'", self.sql)

    def selected(self, topic: str, payload: bytes) -> dict[str, str]:
        """Work out the columns of the statement: those that the rules use, and no others."""
        columns = re.findall(r"(\w+\([^)]*\)) AS (\w+)", self.sql)
        return {name: self._value(expression, topic, payload) for expression, name in columns}

    def filled(self, text: str, topic: str) -> str:
        """Fill what a key takes from the topic."""
        return re.sub(r"\$\{(topic\(\d+\))\}", lambda found: self._value(found[1], topic, b""), text)

    @staticmethod
    def _value(expression: str, topic: str, payload: bytes) -> str:
        if level := re.fullmatch(r"topic\((\d+)\)", expression):
            return topic.split("/")[int(level[1]) - 1]
        if expression == "encode(*, 'base64')":
            return base64.b64encode(payload).decode()
        assert expression == "principal()", f"the rules use {expression}, which is not imitated here"
        return "0123456789abcdef"


@contextmanager
def data_plane(client: mqtt.Client) -> Iterator[str]:
    """Serve what `iot-data publish` of the SDK asks for, over a client of the broker; yield the address."""

    class Publish(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            address = urlsplit(self.path)
            data = self.rfile.read(int(self.headers["Content-Length"]))
            quality = int(parse_qs(address.query).get("qos", ["0"])[0])
            client.publish(unquote(address.path).removeprefix("/topics/"), data, quality)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Publish)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _rules() -> dict[str, Any]:
    resources = yaml_parse((CHECKOUT / "infra/devices.yaml").read_text("utf-8"))["Resources"]
    return {name: each for name, each in resources.items() if each["Type"] == "AWS::IoT::TopicRule"}


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    signing: ec.EllipticCurvePrivateKey,
    issuer: x509.Certificate | None,
) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(_LOOPBACK)]), critical=False)
    )
    return built.sign(signing, hashes.SHA256())


def _wait_for(port: int) -> None:
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the broker does not start")
