"""GitHub Copilot: GitHub's sign-in, and the short-lived tokens that it is exchanged for.

A token is kept in memory alone. It names the address of the chat, which differs between plans.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onyx_jupyter._version import __version__
from onyx_jupyter.clock import Clock, SystemClock
from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.addressing import SIGN_IN
from onyx_jupyter.providers.network_guard import check_allowed, is_loopback
from onyx_jupyter.providers.subscriptions.device_flow import DeviceFlow

if TYPE_CHECKING:
    import httpx

TITLE = "GitHub Copilot"
# Copilot wants to know the editor; a name of another one would be a lie.
HEADERS: Mapping[str, str] = {
    "User-Agent": f"onyx-jupyter/{__version__}",
    "Editor-Version": f"onyx-jupyter/{__version__}",
    "Editor-Plugin-Version": f"onyx-jupyter/{__version__}",
}
_TIMEOUT_S = 15.0
_RENEW_BEFORE_S = 120.0
_DEFAULT_LIFE_S = 1500.0


@dataclass(frozen=True, slots=True)
class CopilotAddresses:
    """GitHub's services. Tests replace them."""

    code: str = "https://github.com/login/device/code"
    token: str = "https://github.com/login/oauth/access_token"
    exchange: str = "https://api.github.com/copilot_internal/v2/token"
    user: str = "https://api.github.com/user"
    chat: str = "https://api.githubcopilot.com"


@dataclass(frozen=True, slots=True)
class CopilotToken:
    """`ends_s` is on the clock's `monotonic`."""

    value: str = field(repr=False)
    address: str
    ends_s: float


class Copilot:
    """The tokens of each sign-in, which models with the same one share."""

    def __init__(self, addresses: CopilotAddresses | None = None, clock: Clock | None = None) -> None:
        self.addresses = addresses or CopilotAddresses()
        self._clock = clock or SystemClock()
        self._tokens: dict[str, CopilotToken] = {}
        self._exchanging = asyncio.Lock()

    def device_flow(self, client_id: str) -> DeviceFlow:
        """Raises: ModelError (refused) if real providers are forbidden."""
        check_allowed(self.addresses.code, TITLE)
        return DeviceFlow("GitHub", self.addresses.code, self.addresses.token, client_id, "read:user")

    async def token(
        self, client: httpx.AsyncClient, oauth_token: str, *, refused: CopilotToken | None = None
    ) -> CopilotToken:
        """The one at hand, unless it ends soon or is the `refused` one. Raises: ModelError."""
        name = hashlib.sha256(oauth_token.encode()).hexdigest()
        async with self._exchanging:
            token = self._tokens.get(name)
            if token is None or token is refused or token.ends_s - _RENEW_BEFORE_S <= self._clock.monotonic():
                token = self._tokens[name] = await self._exchange(client, oauth_token)
            return token

    async def account(self, client: httpx.AsyncClient, oauth_token: str) -> str | None:
        """The name of GitHub's user; None if GitHub does not say it."""
        try:
            response = await self._get(client, self.addresses.user, oauth_token)
            login = response.json()["login"] if response.is_success else None
        except (ModelError, KeyError, TypeError, ValueError):
            return None
        return str(login)[:100] if login else None

    async def _exchange(self, client: httpx.AsyncClient, oauth_token: str) -> CopilotToken:
        response = await self._get(client, self.addresses.exchange, oauth_token)
        if response.status_code == 401:
            raise ModelError("authentication", "GitHub no longer accepts the sign-in.", hint=SIGN_IN, permanent=True)
        if response.status_code in (403, 404):
            raise ModelError(
                "authentication",
                "GitHub does not give this sign-in access to Copilot.",
                hint="The account needs a Copilot plan, and GitHub must allow the app that signed in to use it. "
                "acp/copilot uses Copilot through GitHub's own program.",
                permanent=True,
            )
        try:
            if not response.is_success:
                raise ValueError
            return self._token(response.json())
        except (KeyError, TypeError, ValueError):
            raise ModelError(
                "unavailable" if response.is_server_error else "bad_response",
                f"GitHub gave no token for Copilot (HTTP {response.status_code}).",
                hint="Ask again later.",
            ) from None

    def _token(self, answer: Mapping[str, Any]) -> CopilotToken:
        """Raises: KeyError, TypeError, ValueError."""
        life_s = float(answer.get("refresh_in") or _DEFAULT_LIFE_S) + _RENEW_BEFORE_S
        address = str((answer.get("endpoints") or {}).get("api") or self.addresses.chat)
        if not address.startswith("https://") and not is_loopback(address):
            raise ValueError("not encrypted")
        check_allowed(address, TITLE)
        return CopilotToken(str(answer["token"]), address, self._clock.monotonic() + life_s)

    async def _get(self, client: httpx.AsyncClient, url: str, oauth_token: str) -> httpx.Response:
        """Raises: ModelError."""
        import httpx

        check_allowed(url, TITLE)
        headers = {**HEADERS, "Accept": "application/json", "Authorization": f"token {oauth_token}"}
        try:
            return await client.get(url, headers=headers, timeout=_TIMEOUT_S)
        except httpx.HTTPError as error:
            raise ModelError("unavailable", f"GitHub could not be reached ({type(error).__name__}).") from None
