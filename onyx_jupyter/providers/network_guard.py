"""The switch that forbids real providers, for tests and demonstrations. Loopback stays allowed."""

from __future__ import annotations

import ipaddress
import os
from urllib.parse import urlsplit

from onyx_jupyter.errors import ModelError

FORBID_VARIABLE = "ONYX_FORBID_PROVIDERS"


def check_allowed(base_url: str | None, provider_title: str) -> None:
    """Raises: ModelError (refused) if the switch is on and the address is not on this machine."""
    if os.environ.get(FORBID_VARIABLE, "") in ("", "0") or (base_url is not None and is_loopback(base_url)):
        return
    raise ModelError(
        "refused",
        f"{provider_title} was not called: {FORBID_VARIABLE} forbids providers outside this machine.",
        hint=f"Unset {FORBID_VARIABLE}, or use a model on this machine (“Local models…”, or a baseUrl on 127.0.0.1).",
    )


def is_loopback(url: str) -> bool:
    """Whether the address stays on this machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, or no address at all
        return False
