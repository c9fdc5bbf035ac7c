"""The sign-in of programs without a browser of their own: a person enters a short code on a page of the provider.

Source: RFC 8628, "OAuth 2.0 Device Authorization Grant".
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from onyx_jupyter.errors import ModelError

if TYPE_CHECKING:
    import httpx

SignInEnd = Literal["denied", "expired", "failed"]
_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_DEFAULT_INTERVAL_S = 5.0
_SLOWER_S = 5.0
_MAX_FAILURES = 3
_MAX_EXPIRES_S = 3600.0


class SignInFailed(Exception):
    """A sign-in that ended without a token; the message is for people."""

    def __init__(self, end: SignInEnd, message: str) -> None:
        super().__init__(message)
        self.end = end


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """What a person enters where. `secret` proves to the provider who is waiting for them."""

    user_code: str
    verification_uri: str
    expires_in_s: float
    interval_s: float
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class DeviceFlow:
    """The addresses of one provider, named `title`, and the app that asks."""

    title: str
    code_url: str
    token_url: str
    client_id: str
    scope: str

    async def begin(self, client: httpx.AsyncClient) -> DeviceCode:
        """Raises: ModelError."""
        try:
            answer = await self._post(client, self.code_url, {"client_id": self.client_id, "scope": self.scope})
            if error := answer.get("error"):
                said = str(answer.get("error_description") or error)[:300]
                hint = "Check the client id of the app, and that its device flow is enabled."
                raise ModelError("refused", f"{self.title} refused to begin the sign-in: {said}", hint=hint)
            code = DeviceCode(
                str(answer["user_code"]),
                str(answer["verification_uri"]),
                min(float(answer.get("expires_in") or _MAX_EXPIRES_S), _MAX_EXPIRES_S),
                float(answer.get("interval") or _DEFAULT_INTERVAL_S),
                str(answer["device_code"]),
            )
        except (KeyError, TypeError, ValueError):
            raise ModelError("bad_response", f"{self.title} gave no sign-in code.", hint="Try again.") from None
        if urlsplit(code.verification_uri).scheme not in ("https", "http"):
            raise ModelError("bad_response", f"{self.title} gave no page to sign in on.")
        return code

    async def token(
        self, client: httpx.AsyncClient, code: DeviceCode, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> str:
        """Waits until the person has decided. Raises: SignInFailed."""
        interval_s, waited_s, failures = code.interval_s, 0.0, 0
        body = {"client_id": self.client_id, "device_code": code.secret, "grant_type": _GRANT}
        while waited_s < code.expires_in_s:
            await sleep(interval_s)
            waited_s += interval_s
            try:
                answer = await self._post(client, self.token_url, body)
            except (ModelError, TypeError, ValueError):
                failures += 1  # a page of a proxy, or a connection that failed: the code still holds
                if failures == _MAX_FAILURES:
                    raise SignInFailed("failed", f"{self.title} could not be reached. Sign in again.") from None
                continue
            failures = 0
            if token := answer.get("access_token"):
                return str(token)
            match answer.get("error"):
                case "authorization_pending":
                    pass
                case "slow_down":
                    interval_s = max(float(answer.get("interval") or 0), interval_s + _SLOWER_S)
                case "expired_token":
                    break
                case "access_denied":
                    raise SignInFailed("denied", "The sign-in was declined.")
                case error:
                    said = str(answer.get("error_description") or error)[:300]
                    raise SignInFailed("failed", f"{self.title} ended the sign-in: {said}")
        raise SignInFailed("expired", "The code has expired. Sign in again for a new one.")

    async def _post(self, client: httpx.AsyncClient, url: str, body: Mapping[str, str]) -> dict[str, Any]:
        """GitHub answers errors with 200, RFC 8628 with 400. Raises: ModelError, ValueError, TypeError."""
        import httpx

        try:
            response = await client.post(url, data=dict(body), headers={"Accept": "application/json"})
        except httpx.HTTPError as error:
            raise ModelError("unavailable", f"{self.title} could not be reached ({type(error).__name__}).") from None
        answer = response.json()
        if not isinstance(answer, dict):
            raise TypeError("not an object")
        return answer
