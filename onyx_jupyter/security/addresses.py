"""Which IP addresses are on the public internet.

Source: the IANA registries of special-purpose IPv4 and IPv6 addresses; RFC 4291, 6052 and 6890.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NOT_PUBLIC_4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.31.196.0/24",
            "192.52.193.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "192.175.48.0/24",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
        ),
    )
)
_PUBLIC_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments, Teredo and ORCHID among them
            "2001:db8::/32",
            "2002::/16",  # 6to4: leads to any IPv4 address
            "2620:4f:8000::/48",
            "3fff::/20",
        ),
    )
)
_EMBEDDED_IPV4 = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))  # IPv4-mapped, NAT64
METADATA = frozenset(
    map(
        ip_address,
        (
            "169.254.169.254",
            "169.254.170.2",
            "169.254.170.23",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd20:ce::254",
        ),
    )
)


def plain_address(address: Address) -> Address:
    """The IPv4 address embedded in an IPv6 one, if any, else the address itself."""
    if isinstance(address, IPv6Address):
        for carrier in _EMBEDDED_IPV4:
            if address in carrier:
                return IPv4Address(int(address) & 0xFFFFFFFF)
        return IPv6Address(int(address))  # without a zone
    return address


def is_public(address: Address) -> bool:
    """Whether anybody on the internet can reach it; false for all special purposes and clouds' metadata."""
    plain = plain_address(address)
    if plain in METADATA:
        return False
    if isinstance(plain, IPv4Address):
        return not any(plain in network for network in _NOT_PUBLIC_4)
    return plain in _PUBLIC_6 and not any(plain in network for network in _NOT_PUBLIC_6)
