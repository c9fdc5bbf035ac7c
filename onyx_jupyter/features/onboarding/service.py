"""Onboarding of each agent: keeps the answers, drafts the files, and writes them once they were seen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from onyx_jupyter.agents.agents import AgentParts, Agents
from onyx_jupyter.clock import Clock, timestamp
from onyx_jupyter.errors import MemoryConflict, ToolError
from onyx_jupyter.memory.folder import NO_FILE
from onyx_jupyter.onboarding.documents import PATHS, TITLES, lines_of_file, revised
from onyx_jupyter.onboarding.progress import Progress, progress_file
from onyx_jupyter.onboarding.questions import SOUL, USER
from onyx_jupyter.operations.dependencies import Key
from onyx_jupyter.sessions.store import SessionStore
from onyx_jupyter.storage.atomic_write import make_private_folder
from onyx_jupyter.storage.shared_document import SharedDocument
from onyx_jupyter.storage.versions import checksum_of

ONBOARDING: Key[Onboarding] = Key("onboarding")
UPDATED = "onboarding.updated"


@dataclass(frozen=True, slots=True)
class Draft:
    """A file now (empty if there is none) and as it would be. `based_on` is its checksum, `NO_FILE` without one.

    With a `problem` the file can't be read, and is left as it is.
    """

    path: str
    before: str
    after: str
    based_on: str
    problem: str | None = None

    @property
    def checksum(self) -> str:
        return checksum_of(self.after.encode())


class Onboarding:
    """`folder` holds the answers, a file an agent; `broadcast` sends an event to every client."""

    def __init__(
        self,
        folder: Path,
        agents: Agents,
        sessions: SessionStore,
        broadcast: Callable[[str, dict[str, object]], None],
        clock: Clock,
    ) -> None:
        self._folder = folder
        self._agents = agents
        self._sessions = sessions
        self._broadcast = broadcast
        self._clock = clock
        self._files: dict[str, SharedDocument[Progress]] = {}

    def agent_id(self, agent_id: str | None) -> str:
        """The default agent's for None. Raises: NotFound."""
        return self._agents.agent(agent_id).config.id

    async def progress(self, agent_id: str) -> Progress:
        """Raises: StorageError."""
        return await asyncio.to_thread(self._file(agent_id).read)

    async def change(self, agent_id: str, change: Callable[[Progress], Progress]) -> Progress:
        """The new progress, on disk on return. Raises: InvalidRequest, StorageError."""
        changed = await asyncio.to_thread(self._change, agent_id, change)
        self._broadcast(UPDATED, {"agentId": agent_id})
        return changed

    async def is_offered(self, agent_id: str, progress: Progress) -> bool:
        """Whether it was begun and not finished, or nobody has used this home or said anything about themselves."""
        if progress.written_at is not None or progress.is_begun:
            return progress.is_begun
        agent = self._agents.agent(agent_id)
        return await asyncio.to_thread(lambda: self._is_untouched(agent))

    async def drafts(self, agent_id: str) -> Sequence[Draft]:
        """The files that would change. Raises: NotFound, StorageError."""
        return await self._drafts(agent_id, await self.progress(agent_id))

    async def write(self, agent_id: str, shown: Sequence[tuple[str, str, str]]) -> Sequence[str]:
        """Writes the files if each is as it was shown: (path, `based_on`, `checksum`). Returns their paths.

        Raises: MemoryConflict before anything is written, or if one is saved by someone else meanwhile; ToolError,
        StorageError.
        """
        progress = await self.progress(agent_id)
        drafts = {draft.path: draft for draft in await self._drafts(agent_id, progress) if draft.problem is None}
        seen = {path: (based_on, checksum) for path, based_on, checksum in shown}
        for path in {**drafts, **seen}:
            draft = drafts.get(path)
            if draft is None or seen.get(path) != (draft.based_on, draft.checksum):
                raise MemoryConflict(path, draft.based_on if draft else NO_FILE)
        memory = self._agents.agent(agent_id).memory
        for draft in drafts.values():
            await memory.replace(draft.path, draft.after, based_on=draft.based_on, author="user")
            wrote = partial(Progress.with_written, path=draft.path, lines=lines_of_file(progress, draft.path))
            await asyncio.to_thread(self._change, agent_id, wrote)
        at = timestamp(self._clock.now())
        await self.change(agent_id, lambda now: now.done(at))
        return list(drafts)

    async def _drafts(self, agent_id: str, progress: Progress) -> Sequence[Draft]:
        agent = self._agents.agent(agent_id)
        drafts = [await self._draft(agent, path, progress) for path in PATHS]
        return [draft for draft in drafts if draft.problem or draft.after != draft.before]

    async def _draft(self, agent: AgentParts, path: str, progress: Progress) -> Draft:
        memory = agent.memory
        try:
            based_on = await asyncio.to_thread(lambda: memory.state(memory.folder.resolve(path)))
            found = await memory.content(path) if based_on else None
            if based_on is None:
                raise ToolError(f"{path} is a link to something that is not a memory file.")
        except ToolError as error:
            return Draft(path, "", "", NO_FILE, str(error))
        before, based_on = (found.text, found.checksum) if found else ("", NO_FILE)
        template = await asyncio.to_thread(_template, agent.templates, path)
        return Draft(path, before, revised(path, before, template, progress), based_on)

    def _file(self, agent_id: str) -> SharedDocument[Progress]:
        return self._files.setdefault(agent_id, progress_file(self._folder / f"{agent_id}.json"))

    def _change(self, agent_id: str, change: Callable[[Progress], Progress]) -> Progress:
        make_private_folder(self._folder)
        file = self._file(agent_id)
        file.change(change)
        return file.read()

    def _is_untouched(self, agent: AgentParts) -> bool:
        if self._sessions.files():
            return False
        return all(_text(agent.workspace / path) in ("", _template(agent.templates, path)) for path in (USER, SOUL))


def _template(templates: Path, path: str) -> str:
    return TITLES.get(path) or _text(templates / path)


def _text(file: Path) -> str:
    """Empty if it can't be read."""
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
