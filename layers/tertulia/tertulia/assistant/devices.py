"""How devices are heard and answered."""

from typing import TYPE_CHECKING

from tertulia.domain.errors import NotConfigured
from tertulia.ports.devices import DeviceLink

if TYPE_CHECKING:
    from tertulia.assistant import Assistant
    from tertulia.usecases.device_desk import DeviceDesk


def desk(parts: "Assistant") -> "DeviceDesk":
    """Build the desk where devices are heard."""
    from tertulia.usecases.device_answers import DeviceAnswers
    from tertulia.usecases.device_desk import DeviceDesk

    answers = DeviceAnswers(
        devices=parts.stores.devices,
        inbox=parts.stores.inbox,
        slices=parts.stores.slices,
        turns=parts.turns,
        speech_rate=lambda: parts.synthesizer.rate,
    )
    return DeviceDesk(answers=answers, link=parts.device_link, clock=parts.clock)


def link(parts: "Assistant") -> DeviceLink:
    """Build the way to devices: AWS IoT in the cloud; a broker of one's own comes with the bridge."""
    if not parts.is_in_the_cloud:
        raise NotConfigured("There is no broker for devices on this machine yet.")
    from tertulia.adapters.aws.iot import IotLink

    return IotLink()
