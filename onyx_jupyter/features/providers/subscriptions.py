"""Signing in to subscriptions: with a code for GitHub Copilot; the others have programs of their own that do it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.acp.registry import KNOWN_AGENTS
from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import InvalidRequest, OnyxError
from onyx_jupyter.operations.dependencies import Key
from onyx_jupyter.protocols import ModelInfo
from onyx_jupyter.providers.known_providers import COPILOT, PROGRAM_SUBSCRIPTIONS, provider_title
from onyx_jupyter.providers.subscriptions.copilot import Copilot
from onyx_jupyter.providers.subscriptions.device_flow import DeviceCode, DeviceFlow, SignInFailed
from onyx_jupyter.providers.subscriptions.program_logins import login_of
from onyx_jupyter.security.credential_store import CredentialStore

log = logging.getLogger(__name__)
UPDATED = "subscriptions.updated"
PROGRAMS = ("claude-subscription", "codex")
"""`chatgpt` is another name of `codex`."""
NO_CLIENT_ID = (
    "GitHub wants to know the app that signs in: set providers.copilot.clientId to the client id of an OAuth app. "
    "Without one, acp/copilot uses Copilot through GitHub's own program."
)


@dataclass(frozen=True, slots=True)
class _Pending:
    code: DeviceCode
    ends_s: float
    task: asyncio.Task[None]


class Subscriptions:
    """`changed` is called when a sign-in was stored or removed, `report` with each
    new state and its message.

    `agents` returns the agents that can be chosen.
    """

    def __init__(
        self,
        configured: Configured,
        store: CredentialStore,
        copilot: Copilot,
        clock: Clock,
        agents: Callable[[], Awaitable[Sequence[ModelInfo]]],
        changed: Callable[[], None],
        report: Callable[[str, str], None],
    ) -> None:
        self._configured = configured
        self._store = store
        self._copilot = copilot
        self._clock = clock
        self._agents = agents
        self._changed = changed
        self._report = report
        self._pending: _Pending | None = None
        self._beginning = asyncio.Lock()
        self._ended: tuple[str, str] | None = None
        self._account: str | None = None

    async def begin(self, name: str) -> dict[str, Any]:
        """The code to enter, in wire format; the one that is already waited for if there is one.

        Raises: InvalidRequest, ModelError.
        """
        _check(name)
        self._configured.check_model(f"{name}/")
        own = self._configured.settings.config.providers.get(name)
        if own is None or own.client_id is None:
            raise InvalidRequest(NO_CLIENT_ID, field="name")
        async with self._beginning:
            if self._pending is None:
                import httpx

                flow = self._copilot.device_flow(own.client_id)
                client = httpx.AsyncClient()
                try:
                    code = await flow.begin(client)
                except BaseException:
                    await client.aclose()
                    raise
                task = asyncio.create_task(self._wait(flow, code, client), name="onyx sign-in")
                self._pending = _Pending(code, self._clock.monotonic() + code.expires_in_s, task)
                self._ended = None
                self._tell("pending")
            return self._code(self._pending)

    async def cancel(self, name: str) -> None:
        """Ends the waiting, if there is any. Raises: InvalidRequest."""
        _check(name)
        await self.close()
        await self._reread()  # it may have been stored a moment ago
        self._tell("signed_in" if name in self._configured.provider_keys else "signed_out")

    async def sign_out(self, name: str) -> None:
        """Forgets the sign-in. Raises: InvalidRequest, NotFound, StorageError."""
        _check(name)
        await self.close()
        await asyncio.to_thread(self._store.remove, name)
        self._account = self._ended = None
        await self._reread()
        self._tell("signed_out")

    async def close(self) -> None:
        """Waits for nobody any more."""
        if (pending := self._pending) is not None:
            pending.task.cancel()
            await asyncio.gather(pending.task, return_exceptions=True)
            self._pending = None

    async def parts(self, *, refresh: bool) -> dict[str, dict[str, Any]]:
        """What the cards say of each subscription, in wire format, by the provider's name."""
        if refresh:
            await self._ask_account()
        offered = {model.id for model in await self._agents()}
        programs = {name: await asyncio.to_thread(_program, name, offered) for name in PROGRAMS}
        return {COPILOT: self._copilot_part(), **programs}

    def _copilot_part(self) -> dict[str, Any]:
        own = self._configured.settings.config.providers.get(COPILOT)
        part: dict[str, Any] = {"kind": "device", "needsClientId": own is None or own.client_id is None}
        if self._pending is not None:
            return part | {"state": "pending", "code": self._code(self._pending)}
        if COPILOT in self._configured.provider_keys:
            return part | {"state": "signed_in"} | ({"account": self._account} if self._account else {})
        state, message = self._ended or ("signed_out", "")
        return part | {"state": state} | ({"message": message} if message else {})

    async def _ask_account(self) -> None:
        key = self._configured.provider_keys.get(COPILOT)
        if key is None or self._account is not None:
            return
        import httpx

        async with httpx.AsyncClient() as client:
            self._account = await self._copilot.account(client, key.value)

    async def _wait(self, flow: DeviceFlow, code: DeviceCode, client: Any) -> None:
        try:
            async with aclosing(client):
                token = await flow.token(client, code)
                await asyncio.to_thread(self._store.put, COPILOT, token)
                self._account = await self._copilot.account(client, token)
        except SignInFailed as failed:
            self._ended = failed.end, str(failed)
        except OnyxError as error:
            self._ended = "failed", " ".join(filter(None, (str(error), error.hint)))
        except Exception as error:
            log.error("The sign-in ended with %s", type(error).__name__)  # its text may quote the token
            self._ended = "failed", "The sign-in failed. Sign in again."
        self._pending = None
        if self._ended is None:
            await self._reread()
        self._tell(*(self._ended or ("signed_in", "")))

    async def _reread(self) -> None:
        await self._configured.read()
        self._changed()

    def _code(self, pending: _Pending) -> dict[str, Any]:
        left_s = max(0, round(pending.ends_s - self._clock.monotonic()))
        code = pending.code
        return {"userCode": code.user_code, "verificationUri": code.verification_uri, "expiresInS": left_s}

    def _tell(self, state: str, message: str = "") -> None:
        self._report(state, message)


def _check(name: str) -> None:
    if name in PROGRAM_SUBSCRIPTIONS:
        agent = KNOWN_AGENTS[PROGRAM_SUBSCRIPTIONS[name]]
        raise InvalidRequest(
            f"`name`: sign in to {provider_title(name)} with `{agent.sign_in}` in a terminal of this server.",
            field="name",
        )
    if name != COPILOT:
        raise InvalidRequest(f"`name`: {name} is not a subscription that you sign in to here.", field="name")


def _program(name: str, offered: set[str]) -> dict[str, Any]:
    """Looks at the disk."""
    agent = KNOWN_AGENTS[PROGRAM_SUBSCRIPTIONS[name]]
    if f"acp/{agent.name}" not in offered:
        message = f"{agent.command[0]} was not found. Install it with `{agent.install}`, then refresh."
        return {"kind": "program", "state": "not_installed", "message": message}
    login = login_of(agent.name, os.environ)
    if login is None:
        message = f"Run `{agent.sign_in}` in a terminal of this server and sign in there, then refresh."
        return {"kind": "program", "state": "signed_out", "message": message}
    return {"kind": "program", "state": "signed_in"} | ({"account": login.account} if login.account else {})


SUBSCRIPTIONS: Key[Subscriptions] = Key("subscriptions")
