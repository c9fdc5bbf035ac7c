"""Onyx without a web server, on a home in a temporary folder: what the agent itself costs. It draws on no test."""

from __future__ import annotations

import asyncio
import hashlib
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from onyx_jupyter.app.onyx import Onyx
from onyx_jupyter.config.paths import Home
from onyx_jupyter.features.sessions.conversations import CONVERSATIONS
from onyx_jupyter.operations.host import Host
from onyx_jupyter.operations.keys import STREAMS
from onyx_jupyter.protocols import Embeddings, Models
from onyx_jupyter.providers.settings import ModelsSettings
from onyx_jupyter.runs.streamed_event import StreamedEvent
from onyx_jupyter.server.frames import encode_event
from onyx_jupyter.toolsets.tool import Tool
from onyx_jupyter.toolsets.toolset import FixedToolset

TEMPLATES = Path(__file__).parents[1] / "workspace"
SKILLS = Path(__file__).parents[1] / "notebooks" / "skills"


class House:
    """One Onyx and one watcher that only waits for the ends of runs."""

    def __init__(self, onyx: Onyx) -> None:
        self.onyx = onyx
        self._ends: dict[str, asyncio.Future[Mapping[str, Any]]] = {}

    async def session(self) -> str:
        """A new session that is watched."""
        key = await self.onyx.get(CONVERSATIONS).create_session(None, None, None)
        self.onyx.get(STREAMS).watch(key, self._receive)
        return key

    async def run(self, key: str, message: str) -> Mapping[str, Any]:
        """Sends and waits for `chat.final`. Raises: RuntimeError for any other end."""
        run_id = (await self.onyx.get(CONVERSATIONS).send(key, message)).run_id
        end = await self._ends.setdefault(run_id, asyncio.get_running_loop().create_future())
        self._ends.pop(run_id, None)
        if end["event"] != "chat.final":
            raise RuntimeError(str(end))
        return end

    def _receive(self, told: StreamedEvent) -> None:
        frame = told.encoded(encode_event)  # as each connection has it made
        if told.name in ("chat.final", "chat.error", "chat.aborted"):
            event = json.loads(frame)
            run_id = event["data"]["runId"]
            ended = self._ends.setdefault(run_id, asyncio.get_running_loop().create_future())
            if not ended.done():
                ended.set_result(event)


@asynccontextmanager
async def house(
    configuration: Mapping[str, Any],
    open_models: Callable[[ModelsSettings], Models],
    tools: Callable[[], Sequence[Tool[Any]]],
    embeddings: Embeddings | None = None,
) -> AsyncIterator[House]:
    """Everything that a server has behind its socket, closed and removed at the end.

    `embeddings` stand in the place of those that the configuration asks for.
    """
    with tempfile.TemporaryDirectory(prefix="onyx-bench-") as folder:
        home, root = Home(Path(folder) / "onyx"), Path(folder) / "root"
        home.root.mkdir()
        root.mkdir()
        home.config_file.write_text(json.dumps(configuration))
        host = Host(
            home,
            root,
            None,  # type: ignore[arg-type] - nothing measured here reaches a notebook
            templates=TEMPLATES,
            open_models=open_models,
            toolsets=[FixedToolset("bench", tools())],
            environment={},
            packaged_skills=SKILLS,
            recorded_skills=_recorded,
            embeddings=embeddings,
        )
        onyx = Onyx(host)
        await onyx.ready()
        try:
            yield House(onyx)
        finally:
            await onyx.close()


def _recorded() -> Mapping[str, str]:
    """As an installer records the packaged skills."""
    files = (path for path in SKILLS.rglob("*") if path.is_file())
    return {path.relative_to(SKILLS).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
