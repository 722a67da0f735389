"""Keeps requests to addresses that users name out of our own network, at the moment of use."""

import asyncio
import ipaddress
import socket

import httpx

_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")


class OnlyPublic(httpx.AsyncBaseTransport):
    """Connects to the public address that a name has right now: what was checked is what is connected to."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request to an address, under the name it was meant for."""
        name = request.url.host
        address = await _public(name, request.url.port or {"http": 80}.get(request.url.scheme, 443))
        request.extensions = {**request.extensions, "sni_hostname": name}
        request.url = request.url.copy_with(host=address)  # the Host header keeps the name
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


async def _public(name: str, port: int) -> str:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpx.ConnectError("the name is not known") from error
    addresses = [str(entry[4][0]) for entry in found]
    if not addresses or not all(is_public(address) for address in addresses):
        raise httpx.ConnectError("the address is not public")
    return addresses[0]


def is_public(address: str) -> bool:
    """Whether an IP address is on the internet, also behind a way of writing IPv4 as IPv6."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip in _TRANSLATED:
            return False
        ip = ip.ipv4_mapped or ip.sixtofour or ip
    return ip.is_global and not ip.is_multicast
