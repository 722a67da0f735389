"""A device with its certificate reaches the deployed function over a broker, by the rules of the deployment, and is answered."""

import hashlib
import json
import queue
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import boto3
import pytest
from paho.mqtt import client as mqtt
from ulid import ULID

from tertulia.adapters.aws.iot import IotLink
from tertulia.adapters.aws.s3_slices import S3UtteranceSlices
from tertulia.domain.devices import Device
from tests.device import broker as brokers
from tests.functions.conftest import NOBODY, Cloud, Context
from tests.functions.handlers import task_of


@dataclass
class Clip:
    """A device with its connection."""

    client: mqtt.Client
    id: str
    heard: "queue.Queue[tuple[str, bytes]]" = field(default_factory=queue.Queue)

    def says(self, kind: str, **fields: Any) -> str:
        message_id = str(ULID()).lower()
        message = {"type": kind, "id": message_id, "at": "2999-01-01T00:00:00Z", **fields}
        self.client.publish(f"tertulia/v1/{self.id}/up", json.dumps(message), qos=1)
        return message_id

    def hears(self, kind: str) -> dict[str, Any]:
        """Return the next message of a kind."""
        while True:
            topic, payload = self.heard.get(timeout=20)
            if topic.endswith("/down") and (message := json.loads(payload))["type"] == kind:
                return cast(dict[str, Any], message)

    def slice(self) -> bytes:
        """Return the next slice of speech."""
        while True:
            topic, payload = self.heard.get(timeout=20)
            if "/speech/" in topic:
                return payload


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[brokers.Broker]:
    with brokers.running(tmp_path_factory.mktemp("mosquitto")) as running:
        yield running


@pytest.fixture
def rules(cloud: Cloud, broker: brokers.Broker) -> Iterator[brokers.Rules]:
    """Connect the deployed functions to the broker."""
    stores: Any = cloud.assistant.stores
    stores.slices = S3UtteranceSlices("tertulia", cloud.s3)

    def invoke(event: Any) -> object:
        return cloud.process.submit(task_of("device_uplink"), event, Context()).result()

    rules = brokers.Rules(
        invoke=invoke, put=lambda key, data: cloud.s3.put_object(Bucket="tertulia", Key=key, Body=data)
    )
    with rules.over(broker) as service, brokers.data_plane(service) as address:
        cloud.assistant.__dict__["device_link"] = IotLink(boto3.client("iot-data", endpoint_url=address, **NOBODY))
        yield rules
    assert rules.failures == []


@pytest.fixture
def clip(cloud: Cloud, rules: brokers.Rules, broker: brokers.Broker) -> Iterator[Clip]:
    cloud.run(
        cloud.assistant.stores.devices.add(
            Device(id="clip-1", user="ana", name="Lapel", kind="clip", created_at=cloud.assistant.clock.now())
        )
    )
    with connected(broker, "clip-1") as clip:
        yield clip


class connected:  # noqa: N801  # reads as what it does
    """Connect a device and have it listen."""

    def __init__(self, broker: brokers.Broker, device: str) -> None:
        self.clip = Clip(broker.client(device), device)
        self.running = broker.connected(self.clip.client)

    def __enter__(self) -> Clip:
        ready, clip = threading.Event(), self.clip
        clip.client.on_message = lambda _client, _data, message: clip.heard.put((message.topic, bytes(message.payload)))
        clip.client.on_subscribe = lambda *_: ready.set()
        self.running.__enter__()
        clip.client.subscribe([(f"tertulia/v1/{clip.id}/down", 1), (f"tertulia/v1/{clip.id}/speech/#", 1)])
        assert ready.wait(10)
        return clip

    def __exit__(self, *error: object) -> None:
        self.running.__exit__(None, None, None)


def test_a_question_travels_to_the_function_and_its_answer_back(clip: Clip) -> None:
    clip.says("hello", protocol=1, device={"speaker": True}, tokens=True)
    assert clip.hears("welcome")["protocol"] == 1
    asked = clip.says("ask", text="Hi")

    assert clip.hears("accepted")["ref"] == asked
    speech = clip.hears("speech")
    assert len(clip.slice()) == speech["bytes"]
    assert clip.hears("done")["response"]


def test_a_recording_travels_in_slices_through_the_bucket(clip: Clip) -> None:
    utterance, recording = str(ULID()).lower(), bytes(range(256)) * 40
    clip.says("utterance_start", utterance=utterance, format="wav", sample_rate=16_000, channels=1)
    clip.hears("listening")
    for number in range(2):
        part = recording[number * 5_120 : (number + 1) * 5_120]
        clip.client.publish(f"tertulia/v1/clip-1/audio/{utterance}/{number}", part, qos=1)
    digest = hashlib.sha256(recording).hexdigest()
    ended = clip.says("utterance_end", utterance=utterance, slices=2, bytes=len(recording), sha256=digest)

    assert clip.hears("accepted")["ref"] == ended
    assert clip.hears("transcript")["final"]
    assert clip.hears("done")["turn_id"]


def test_what_is_no_json_is_answered_and_the_device_goes_on(clip: Clip) -> None:
    clip.client.publish("tertulia/v1/clip-1/up", b"\xff\xfe", qos=1)
    assert clip.hears("error")["code"] == "bad_message"
    clip.says("ask", text="Hi")
    assert clip.hears("done")


def test_a_device_reaches_its_own_topics_only(clip: Clip, broker: brokers.Broker, cloud: Cloud) -> None:
    with connected(broker, "clip-2") as stranger:
        stranger.client.subscribe("tertulia/v1/clip-1/down", 1)
        stranger.client.publish("tertulia/v1/clip-1/up", json.dumps({"type": "ask"}), qos=1)
        stranger.says("ask", text="I am not registered")
        clip.says("ask", text="Hi")
        assert clip.hears("done")
        assert stranger.heard.empty()
    assert len(cloud.run(cloud.assistant.conversations.page("ana")).items) == 1


def test_a_client_without_a_certificate_of_ours_is_refused(broker: brokers.Broker, tmp_path: Path) -> None:
    rogue = broker.client("clip-1", brokers.Authority.made(tmp_path))

    with pytest.raises((ssl.SSLError, ConnectionError)):
        refused(rogue, broker.port)


def refused(client: mqtt.Client, port: int) -> None:
    client.connect("127.0.0.1", port)
    # TLS 1.3 tells of a refused certificate with the first read.
    code = client.loop(timeout=5)
    if code != mqtt.MQTT_ERR_SUCCESS:
        raise ConnectionError(mqtt.error_string(code))


def test_ten_devices_at_once_are_each_answered(cloud: Cloud, rules: brokers.Rules, broker: brokers.Broker) -> None:
    names = [f"clip-{number}" for number in range(10, 20)]
    for name in names:
        cloud.run(
            cloud.assistant.stores.devices.add(
                Device(id=name, user=name, name=name, kind="clip", created_at=cloud.assistant.clock.now())
            )
        )

    def answered(name: str) -> str:
        with connected(broker, name) as clip:
            asked = clip.says("ask", text=f"I am {name}")
            assert clip.hears("accepted")["ref"] == asked
            return str(clip.hears("done")["conversation_id"])

    with ThreadPoolExecutor(len(names)) as devices:
        assert len(set(devices.map(answered, names))) == len(names)
