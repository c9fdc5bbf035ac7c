"""No URL, name or redirect leads a web tool into this machine or its network."""

import asyncio
import itertools
import socket
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from urllib.parse import parse_qs, quote, urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.errors import AddressNotAllowed, ToolError
from onyx_jupyter.security.address_guard import AddressGuard
from onyx_jupyter.security.addresses import is_public
from onyx_jupyter.web.client import WebClient
from tests.web.web_place import Answer, Asked, Place, web_place

# Written down apart from the code's own tables.
FORBIDDEN_4 = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4", "169.254.169.254/32", "168.63.129.16/32",
    "100.100.100.200/32",
)  # fmt: skip
FORBIDDEN_6 = (
    "::/128", "::1/128", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "2001:db8::/32", "2001::/32", "2002::/16",
    "100::/64", "fd00:ec2::254/128", "64:ff9b:1::/48",
)  # fmt: skip
WIDE_DIGITS = str.maketrans("0123456789.", "０１２３４５６７８９。")
RINGED_DIGITS = str.maketrans("123456789", "①②③④⑤⑥⑦⑧⑨")


def address_4(network: str) -> st.SearchStrategy[IPv4Address]:
    block = IPv4Network(network)
    return st.integers(int(block[0]), int(block[-1])).map(IPv4Address)


def address_6(network: str) -> st.SearchStrategy[IPv6Address]:
    block = IPv6Network(network)
    return st.integers(int(block[0]), int(block[-1])).map(IPv6Address)


FORBIDDEN_V4 = st.sampled_from(FORBIDDEN_4).flatmap(address_4)
FORBIDDEN_V6 = st.one_of(
    st.sampled_from(FORBIDDEN_6).flatmap(address_6),
    FORBIDDEN_V4.map(lambda address: IPv6Address(f"::ffff:{address}")),
    FORBIDDEN_V4.map(lambda address: IPv6Address(f"64:ff9b::{address}")),
    FORBIDDEN_V4.map(lambda address: IPv6Address(f"::{address}")),
    FORBIDDEN_V4.map(lambda address: IPv6Address((0x2002 << 112) | (int(address) << 80) | 1)),
)
FORBIDDEN = st.one_of(FORBIDDEN_V4, FORBIDDEN_V6)
PUBLIC = st.sampled_from(["1.1.1.1", "8.8.8.8", "93.184.215.14", "2606:4700:4700::1111", "2a00:1450:4001:800::200e"])


@st.composite
def forms(draw: st.DrawFn, addresses: st.SearchStrategy[IPv4Address]) -> str:
    """One of the many ways to write an IPv4 address as a URL's host."""
    address = draw(addresses)
    number, parts = int(address), [int(part) for part in str(address).split(".")]
    in_base = draw(st.sampled_from(["{}", "0x{:x}", "0X{:X}", "0{:o}", "00000{:o}", "{:03}"]))
    kept = draw(st.integers(1, 4))
    tail = number & ((1 << (8 * (5 - kept))) - 1)
    short = ".".join([*(in_base.format(part) for part in parts[: kept - 1]), in_base.format(tail)])
    return draw(
        st.sampled_from(
            [
                str(address), short, str(number), hex(number), f"0{number:o}", str(number + (1 << 32)),
                str(address).translate(WIDE_DIGITS), str(address).translate(RINGED_DIGITS), f"{address}.",
                f"{address}..",
                f"[::ffff:{address}]", f"[::{address}]", f"[64:ff9b::{address}]",
                f"[0:0:0:0:0:FFFF:{address}]",
                quote(str(address)).replace(".", "%2e"),
                f"user@{address}", f"8.8.8.8@{address}", f"8.8.8.8\\@{address}",
                f"{address}#@8.8.8.8", f"{parts[0]}.{parts[1]}\u200b.{parts[2]}.{parts[3]}",
                f"{parts[0]}.\u00ad{parts[1]}.{parts[2]}.{parts[3]}",
            ]
        )
    )  # fmt: skip


THIS_MACHINE = forms(st.one_of(address_4("127.0.0.0/8"), st.just(IPv4Address("0.0.0.0"))))
NAMES = st.sampled_from(
    [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
        "ｌｏｃａｌｈｏｓｔ",
        "loc\u00adalhost",
        "[::1]",
        "[0::1]",
        "[::]",
    ]
)


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    """On every address of this machine; `accept` raises BlockingIOError as long as nobody has connected."""
    with socket.create_server(("0.0.0.0", 0), backlog=64) as listening:
        listening.setblocking(False)
        yield listening


@pytest.fixture(scope="module")
def redirector() -> Iterator[Place]:
    """Leads on `hops` times within itself, then to `to`."""

    def answer(asked: Asked) -> Answer:
        parts = urlsplit(asked.path)
        hops, to = int(parts.path.removeprefix("/")), parse_qs(parts.query)["to"][0]
        location = f"/{hops - 1}?{parts.query}" if hops else to
        return Answer(status=302, headers={"location": location.encode().decode("latin-1")})

    with web_place(answer) as place:
        yield place


def no_connection(listening: socket.socket) -> bool:
    try:
        connection, _ = listening.accept()
    except BlockingIOError:
        return True
    connection.close()
    return False


def outcome(client: WebClient, url: str) -> type[Exception] | None:
    try:
        asyncio.run(client.request("GET", url, max_bytes=1000))
    except ToolError as error:
        return type(error)
    return None


class Wire(httpx.AsyncBaseTransport):
    """Instead of the network: notes which addresses are connected to and answers at once."""

    def __init__(self) -> None:
        self.reached: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.reached.append(request.url.host)
        return httpx.Response(200, stream=httpx.ByteStream(b"hello"))


def test_listener_detects_connections(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    with socket.create_connection(("127.0.0.1", port)):
        assert not no_connection(listener)
    assert no_connection(listener)


@given(host=st.one_of(THIS_MACHINE, NAMES), scheme=st.sampled_from(["http", "https", "HTTP"]))
def test_no_spelling_of_this_machine_connects(listener: socket.socket, host: str, scheme: str) -> None:
    """Forbidden addresses: every encoding."""
    port = listener.getsockname()[1]
    error = outcome(WebClient(AddressGuard(), total_s=5), f"{scheme}://{host}:{port}/")
    assert no_connection(listener)
    assert error is AddressNotAllowed


@given(host=st.one_of(THIS_MACHINE, NAMES), hops=st.integers(0, 4))
def test_no_redirect_reaches_this_machine(listener: socket.socket, redirector: Place, host: str, hops: int) -> None:
    """Forbidden addresses: redirects."""
    to = quote(f"http://{host}:{listener.getsockname()[1]}/", safe="", errors="replace")
    before = redirector.connections
    client = WebClient(AddressGuard([f"127.0.0.1:{redirector.port}"]), total_s=5)
    error = outcome(client, f"{redirector.url}/{hops}?to={to}")
    assert no_connection(listener)
    assert redirector.connections - before == hops + 1, "the chain was followed up to its last, forbidden step"
    assert error is not None, "an address that httpx cannot read either is no valid answer"


@given(address=FORBIDDEN)
def test_no_forbidden_address_is_public_or_reached(address: IPv4Address | IPv6Address) -> None:
    """Forbidden addresses: the ranges."""
    assert not is_public(address)
    host = f"[{address}]" if address.version == 6 else str(address)
    wire = Wire()
    assert outcome(WebClient(AddressGuard(), transport=lambda: wire), f"http://{host}/") is AddressNotAllowed
    assert wire.reached == []


@given(number=st.integers(0, 2**32 - 1))
def test_public_addresses_are_global_for_the_standard_library(number: int) -> None:
    """Forbidden addresses: the ranges, against another implementation."""
    if is_public(IPv4Address(number)):
        assert IPv4Address(number).is_global


@given(good=st.lists(PUBLIC, max_size=3), bad=st.lists(FORBIDDEN.map(str), max_size=2), data=st.data())
def test_name_with_one_forbidden_address_is_not_reached(good: list[str], bad: list[str], data: st.DataObject) -> None:
    """Forbidden addresses: what DNS answers."""
    answers = data.draw(st.permutations([*good, *bad]))

    async def resolve(host: str, port: int) -> list[str]:
        return answers

    wire = Wire()
    error = outcome(WebClient(AddressGuard(resolve=resolve), transport=lambda: wire), "http://any.example/")
    if bad:
        assert (error, wire.reached) == (AddressNotAllowed, [])
    elif good:
        assert (error, wire.reached) == (None, [answers[0]])
    else:
        assert (error, wire.reached) == (ToolError, [])


@given(first=PUBLIC, later=FORBIDDEN.map(str))
def test_name_changing_address_after_check_is_not_resolved_again(first: str, later: str) -> None:
    """Forbidden addresses: DNS rebinding."""
    answers = itertools.chain([[first]], itertools.repeat([later]))

    async def resolve(host: str, port: int) -> list[str]:
        return next(answers)

    wire = Wire()
    client = WebClient(AddressGuard(resolve=resolve), transport=lambda: wire)
    assert outcome(client, "http://rebind.example/") is None
    assert wire.reached == [first]
    assert outcome(client, "http://rebind.example/") is AddressNotAllowed
    assert wire.reached == [first]
