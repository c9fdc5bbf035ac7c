"""Turns URLs written by models and pages into checked addresses, and refuses those that are not on the internet.

It opens no connection: callers connect to an address returned by `addresses`, and never resolve the name again.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import quote, urlsplit

import idna

from onyx_jupyter.errors import AddressNotAllowed, ToolError
from onyx_jupyter.security.addresses import METADATA, Address, Network, is_public, plain_address

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
PORTS = {"http": 80, "https": 443}
MAX_URL_CHARS = 8000
ALLOW_KEY = "tools.web.allowPrivate"
_METADATA_NAMES = frozenset({"metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"})
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\]")
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")
_URL_SAFE = "/:?#[]@!$&'()*+,;=%~"


@dataclass(frozen=True, slots=True)
class Target:
    """A URL in canonical form: ASCII, no user, no fragment. `host` has no brackets and no dot at its end."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Host and port, as in the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def entry(self) -> str:
        """The target as an `allow_private` entry."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        return f"{self.origin}{self.path}"

    @property
    def address(self) -> Address | None:
        """The host if it is an address rather than a name."""
        try:
            return ip_address(self.host)
        except ValueError:
            return None


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """All addresses of a name, as this machine resolves it. Raises: OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


def plain_url(url: str) -> Target:
    """The URL in canonical form, wherever it leads. Raises: AddressNotAllowed, which quotes only the host."""
    if len(url) > MAX_URL_CHARS:
        raise AddressNotAllowed(f"The URL is longer than {MAX_URL_CHARS} characters.")
    if _FORBIDDEN.search(url):
        raise AddressNotAllowed("The URL contains a space, a backslash or a control character. Encode it (%20).")
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme, parts.hostname or "", parts.port
        query = f"?{quote(parts.query, safe=_URL_SAFE)}" if parts.query else ""
        path = quote(parts.path or "/", safe=_URL_SAFE) + query
    except ValueError as error:  # half of a surrogate pair, too
        raise AddressNotAllowed("The URL cannot be read: it is malformed.") from error
    if scheme not in PORTS:
        raise AddressNotAllowed("Only http:// and https:// URLs can be reached. Write the whole URL.")
    if "@" in parts.netloc:
        raise AddressNotAllowed("A URL must not contain a user name or password. Leave out what is before @.")
    if port == 0:
        raise AddressNotAllowed("Port 0 cannot be reached.")
    return Target(scheme, _plain_host(host), port or PORTS[scheme], path)


class AddressGuard:
    """Allows addresses on the internet, and otherwise those listed in `allow_private`.

    An entry is a host, host:port, an address, address:port or a network. Clouds' metadata addresses have to be listed
    one by one: no network covers them.
    """

    def __init__(self, allow_private: Iterable[str] = (), resolve: Resolve = system_resolve) -> None:
        self._entries = tuple(map(_entry, allow_private))
        self._resolve = resolve

    def parse(self, url: str) -> Target:
        """The URL in canonical form; refused if that is clear without a look-up. Raises: AddressNotAllowed."""
        target = plain_url(url)
        if not self._names(target):
            if target.address is not None and not self._permits(target.address, target.port):
                raise _refusal(target)
            if target.host in _METADATA_NAMES:
                raise _refusal(target)
        return target

    async def addresses(self, target: Target) -> Sequence[str]:
        """The addresses to connect to for a parsed URL; all are checked, and the name is resolved only once.

        Raises: AddressNotAllowed if any of the name's addresses is neither on the internet nor allowed; ToolError if
        there is none.
        """
        found = [target.host] if target.address is not None else await self._resolve_host(target)
        for text in found:
            if not self._names(target) and not self._permits(_address(text, target), target.port):
                raise _refusal(target)
        return found

    async def _resolve_host(self, target: Target) -> Sequence[str]:
        try:
            found = await self._resolve(target.host, target.port)
        except (OSError, UnicodeError) as error:
            raise ToolError(f"The name {target.host} was not found. Check the URL and the network.") from error
        if not found:
            raise ToolError(f"The name {target.host} has no address.")
        return found

    def _names(self, target: Target) -> bool:
        return any(entry.names(target) for entry in self._entries)

    def _permits(self, address: Address, port: int) -> bool:
        return is_public(address) or any(entry.covers(address, port) for entry in self._entries)


@dataclass(frozen=True, slots=True)
class _Entry:
    host: str | None
    network: Network | None
    port: int | None

    def names(self, target: Target) -> bool:
        return self.host is not None and self.host == target.host and self.port in (None, target.port)

    def covers(self, address: Address, port: int) -> bool:
        if self.network is None or self.port not in (None, port):
            return False
        plain = plain_address(address)
        if plain in METADATA and self.network.num_addresses > 1:
            return False
        return plain in self.network or address in self.network


def _entry(text: str) -> _Entry:
    """One entry of `allow_private`; an unreadable one allows nothing."""
    text = text.strip().lower()
    try:
        return _Entry(None, ip_network(text.strip("[]"), strict=False), None)
    except ValueError:
        pass
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal():
        return _Entry(text.removesuffix("."), None, None)
    try:
        return _Entry(None, ip_network(host.strip("[]")), int(port))
    except ValueError:
        return _Entry(host.removesuffix("."), None, int(port))


def _plain_host(host: str) -> str:
    """Lower-case ASCII without a dot at its end. Raises: AddressNotAllowed for all forms that hide an address."""
    if ":" in host:
        return _plain_ipv6(host)
    try:
        name = host if host.isascii() else idna.encode(host, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise AddressNotAllowed("The URL's host is no valid name.") from error
    name = name.lower().removesuffix(".")
    if len(name) > 253 or not _NAME.fullmatch(name):
        raise AddressNotAllowed("The URL's host is no valid name.")
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        try:
            return str(IPv4Address(name))
        except ValueError as error:
            raise AddressNotAllowed(
                f"The host {name} is a number. Write an address as four decimal numbers (198.51.100.7)."
            ) from error
    return name


def _plain_ipv6(host: str) -> str:
    try:
        address = IPv6Address(host)
    except ValueError as error:
        raise AddressNotAllowed("The URL's host is no valid IPv6 address.") from error
    if address.scope_id is not None:
        raise AddressNotAllowed("An IPv6 address with a zone (%) cannot be used.")
    return str(address)


def _address(text: str, target: Target) -> Address:
    try:
        return ip_address(text)
    except ValueError as error:
        raise _refusal(target) from error


def _refusal(target: Target) -> AddressNotAllowed:
    return AddressNotAllowed(
        f"{target.host} is an address inside this machine or its network, and the web tools reach only the internet. "
        f"Do not look for another way there; the user can allow it in onyx.json: {ALLOW_KEY} with {target.entry}."
    )
