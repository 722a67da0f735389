"""What a device says: a rule of the broker hands over each message."""

from tertulia.entrypoints.mqtt import receive
from tertulia.entrypoints.tasks import task_handler

handler = task_handler(receive)
