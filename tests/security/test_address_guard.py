import asyncio
from ipaddress import ip_address

import pytest

from onyx_jupyter.errors import AddressNotAllowed, ToolError
from onyx_jupyter.security.address_guard import MAX_URL_CHARS, AddressGuard
from onyx_jupyter.security.addresses import is_public


def reached(guard: AddressGuard, url: str) -> list[str]:
    return list(asyncio.run(guard.addresses(guard.parse(url))))


def names(**answers: list[str]):
    async def resolve(host: str, port: int) -> list[str]:
        return answers[host.partition(".")[0]]

    return resolve


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("https://example.org:443/a?b=c#d", "https://example.org/a?b=c"),
        ("http://example.org:8080/ä b".replace(" ", "%20"), "http://example.org:8080/%C3%A4%20b"),
        ("https://exämple.org./?q=ü", "https://xn--exmple-cua.org/?q=%C3%BC"),
        ("http://ｅｘａｍｐｌｅ.org/", "http://example.org/"),
        ("http://[2606:4700:4700:0::1111]:81/", "http://[2606:4700:4700::1111]:81/"),
        ("http://my_host.example/", "http://my_host.example/"),
    ],
)
def test_url_has_one_normal_form(url: str, plain: str) -> None:
    assert AddressGuard().parse(url).url == plain
    assert AddressGuard().parse(plain).url == plain


@pytest.mark.parametrize(
    "url",
    [
        "", "example.org", "//example.org", "ftp://example.org/", "file:///etc/passwd", "http:/example.org",
        "javascript:alert(1)", "http://", "http://.", "http://a..b", "http://-a.org", "http://*.org", "http://a b.org",
        "http://example.org/\n", "http://example.org\\@x", "http://user@example.org/", "http://u:p@example.org/",
        "http://example.org:0/", "http://example.org:99999/", "http://example.org:80:80/", "http://[::1", "http://[x]/",
        "http://[fe80::1%25eth0]/", "http://1/", "http://0x7f.1/", "http://1.2.3/", "http://01.2.3.4/",
        "http://1.2.3.4.5/", "http://1.2.3.256/", "http://xn--/", "http://\ud800.org/", "http://example.org/\ud800",
        "http://" + "a" * 64 + ".org/", "http://example.org/" + "a" * MAX_URL_CHARS,
    ],
)  # fmt: skip
def test_malformed_url_is_rejected_without_quoting_it(url: str) -> None:
    with pytest.raises(AddressNotAllowed) as refused:
        AddressGuard().parse(url)
    assert len(str(refused.value)) < 200


def test_rejection_says_how_to_allow_the_address() -> None:
    with pytest.raises(AddressNotAllowed, match=r"tools\.web\.allowPrivate with 10\.0\.0\.7:8080\."):
        reached(AddressGuard(), "http://10.0.0.7:8080/")
    with pytest.raises(AddressNotAllowed, match=r"allowPrivate with \[::1\]:80\."):
        reached(AddressGuard(), "http://[::1]/")


@pytest.mark.parametrize(
    ("entry", "allowed", "refused"),
    [
        ("wiki.example", ["http://wiki.example/", "http://wiki.example:8080/"], ["http://other.example/"]),
        ("Wiki.Example:8080", ["http://wiki.example:8080/"], ["http://wiki.example/"]),
        ("10.0.0.0/8", ["http://10.1.2.3/", "http://wiki.example/"], ["http://192.168.0.1/"]),
        ("10.0.0.5", ["http://10.0.0.5:99/", "http://[::ffff:10.0.0.5]/"], ["http://10.0.0.6/"]),
        ("10.0.0.5:80", ["http://10.0.0.5/", "http://wiki.example/"], ["http://10.0.0.5:81/"]),
        ("[::1]:81", ["http://[::1]:81/"], ["http://[::1]/"]),
        ("fd00::/8", ["http://[fd00::1]/"], ["http://[fd00:ec2::254]/"]),
        ("169.254.0.0/16", ["http://169.254.1.1/"], ["http://169.254.169.254/"]),
        ("169.254.169.254", ["http://169.254.169.254/"], ["http://169.254.169.253/"]),
        ("not an entry:x", [], ["http://10.0.0.5/"]),
    ],
)
def test_only_allowed_addresses_are_reached(entry: str, allowed: list[str], refused: list[str]) -> None:
    guard = AddressGuard([entry], names(wiki=["10.0.0.5"], other=["10.0.0.6" if "/" not in entry else "172.16.0.1"]))
    for url in allowed:
        assert reached(guard, url)
    for url in refused:
        with pytest.raises(AddressNotAllowed):
            reached(guard, url)


def test_metadata_host_is_rejected_whatever_dns_says() -> None:
    guard = AddressGuard(resolve=names(metadata=["8.8.8.8"]))
    with pytest.raises(AddressNotAllowed):
        reached(guard, "http://metadata.google.internal./computeMetadata/v1/")


def test_suspicious_dns_answer_is_rejected() -> None:
    with pytest.raises(AddressNotAllowed):
        reached(AddressGuard(resolve=names(odd=["8.8.8.8", "nonsense"])), "http://odd.example/")


def test_unresolvable_name_is_reported() -> None:
    async def resolve(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    with pytest.raises(ToolError, match=r"The name nowhere\.example was not found"):
        reached(AddressGuard(resolve=resolve), "http://nowhere.example/")


@pytest.mark.parametrize("address", ["8.8.8.8", "::ffff:8.8.8.8", "64:ff9b::808:808", "2606:4700:4700::1111"])
def test_internet_addresses_are_public(address: str) -> None:
    assert is_public(ip_address(address))
