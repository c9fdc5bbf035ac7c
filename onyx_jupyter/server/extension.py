"""The Jupyter server extension: registers the handlers, and loads Onyx itself when the first client connects.

If Onyx was used before, it is loaded soon after the server started, since there may be unfinished work.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from jupyter_server.extension.application import ExtensionApp
from traitlets import Any, Dict, Union, default

from onyx_jupyter.server.drive.handlers import drive_handlers
from onyx_jupyter.server.not_served import NotServed
from onyx_jupyter.server.refusals import Refusals
from onyx_jupyter.server.rest import HealthHandler
from onyx_jupyter.server.socket import SocketHandler
from onyx_jupyter.server.uploads import KnowledgeUploadHandler

if TYPE_CHECKING:
    from types import ModuleType

    from onyx_jupyter.config.ceiling import Ceiling
    from onyx_jupyter.server.service import Service


# The first seconds belong to Jupyter and to the page.
START_AFTER_S = 3.0


class OnyxApp(ExtensionApp):
    """`onyx/ws`, `onyx/health` and Onyx's files under Jupyter's base URL."""

    name = "onyx_jupyter"
    extension_url = "/lab"
    load_other_extensions = True

    ceiling = Union(
        [Dict(), Any()],  # anything but a dict is refused with our own message
        help="""
        Limits on what the assistant may do, regardless of what users configure, choose or allow. All keys are optional.
        deny: tools and families that nobody may use, such as ["exec", "group:web"].
        modes: which of ["ask", "agent", "auto"] users may choose; "ask" is required.
        providers: allowed providers, by name at the usual address ("local", "ollama") or by address
        ("https://gateway.example/v1"); all others are refused.
        allowAlways: False removes "Always" from the answers to an approval.
        If it contains an error, Onyx does not serve anyone.
        """,
    ).tag(config=True)

    _service: Service | None = None
    _problem: str | None = None
    _loading: asyncio.Lock
    _starting: asyncio.Task[None] | None = None
    _refusals: Refusals

    def initialize_handlers(self) -> None:
        """Called by Jupyter while the server starts."""
        self._loading = asyncio.Lock()
        self._refusals = Refusals()
        self._disable_if(self._unknown_options())
        if self._problem is None and self.ceiling != {}:
            self._read_ceiling()
        doors = {"service": self.service, "refusals": self._refusals}
        self.handlers.extend(
            [
                (r"onyx/ws", SocketHandler, doors),
                (r"onyx/health", HealthHandler, doors),
                (r"onyx/knowledge/uploads", KnowledgeUploadHandler, doors),
                *drive_handlers(doors),
            ]
        )

    async def service(self) -> Service:
        """The only service of this server, built on first use: its imports run in a thread. Raises: NotServed."""
        async with self._loading:
            if self._service is None and self._problem is None:
                await self._build(await asyncio.to_thread(_import_service))
            if self._service is None:
                raise NotServed(self._problem or "Onyx could not be started.")
            return self._service

    async def _start_jupyter_server_extension(self, serverapp: object) -> None:
        """Called by Jupyter when the server is up."""
        if self._problem is None:
            self._starting = asyncio.create_task(self._resume_if_used(), name="onyx start")

    async def stop_extension(self) -> None:
        """Called by Jupyter when the server shuts down."""
        if self._starting is not None:
            self._starting.cancel()
        await self._refusals.close()
        if self._service is not None:
            await self._service.close()

    async def _resume_if_used(self) -> None:
        await asyncio.sleep(START_AFTER_S)
        try:
            if await asyncio.to_thread(_was_used):
                await (await self.service()).start()
        except NotServed:
            pass  # it is in the log, and every client gets it
        except Exception:
            self.log.exception("Onyx could not resume what an earlier server left unfinished")

    @default("ceiling")
    def _no_restrictions(self) -> dict[str, object]:
        return {}

    def _unknown_options(self) -> str | None:
        """A misspelt `c.OnyxApp.cieling` would forbid nothing, without anybody noticing."""
        unknown = sorted(set(self.config.get(type(self).__name__, {})) - set(self.trait_names(config=True)))
        return f"c.OnyxApp.{unknown[0]}: unknown option. Did you mean c.OnyxApp.ceiling?" if unknown else None

    def _read_ceiling(self) -> Ceiling | None:
        from onyx_jupyter.config.ceiling import (
            read_ceiling,  # pydantic, which a server without a ceiling does not need
        )
        from onyx_jupyter.errors import ConfigError

        try:
            return read_ceiling(self.ceiling)
        except ConfigError as error:
            self._disable_if(str(error))
            return None

    async def _build(self, module: ModuleType) -> None:
        from onyx_jupyter.errors import ConfigError
        from onyx_jupyter.server.packages import installed_packages

        ceiling = self._read_ceiling()
        if ceiling is None:
            return
        try:
            packages = await asyncio.to_thread(installed_packages, ceiling)
            self._service = module.Service(self.serverapp, ceiling, packages)
        except ConfigError as error:
            self._disable_if(str(error))

    def _disable_if(self, problem: str | None) -> None:
        if problem is not None:
            self._problem = problem
            self.log.error("Onyx serves no one until this is corrected and the server is restarted. %s", problem)


def _was_used() -> bool:
    """Whether there is a session or a file of scheduled jobs."""
    from onyx_jupyter.config.paths import Home

    home = Home.from_environment()
    return (home.schedule / "jobs.json").exists() or any(home.sessions.glob("*/*.jsonl"))


def _import_service():  # type: ignore[no-untyped-def]
    import onyx_jupyter.server.service as module

    return module
