"""The instruction file of the project in the server's root, and the user's decisions about it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import InvalidRequest, NotFound, ProjectFileChanged
from onyx_jupyter.operations.dependencies import Key
from onyx_jupyter.project.decisions import Decision, ProjectDecisions
from onyx_jupyter.project.instructions import Instructions, read_instructions
from onyx_jupyter.runs.audit_trail import AuditTrail

UPDATED = "project.updated"
State = Literal["new", "changed", "trusted", "declined", "unusable"]
PROJECT_FILES: Key[ProjectFiles] = Key("project files")


@dataclass(frozen=True, slots=True)
class JudgedFile:
    """The current file, with the user's decision about exactly this content.

    `changed`: other content was trusted before; `trusted_text` is that content.
    """

    found: Instructions
    state: State
    trusted_text: str | None = None


class ProjectFiles:
    """The server's project files. `workspaces` are the agents' own folders, whose files need no trust."""

    def __init__(
        self,
        root: Path,
        decisions: Path,
        workspaces: Callable[[], Mapping[str, Path]],
        clock: Clock,
        audit: AuditTrail,
        broadcast: Callable[[str, dict[str, object]], None],
    ) -> None:
        self._root = root.resolve()
        self._decisions = ProjectDecisions(decisions, clock)
        self._workspaces = workspaces
        self._audit = audit
        self._broadcast = broadcast
        self._is_loaded = False
        self._seen: tuple[State, str] | None = None

    @property
    def folder(self) -> str:
        """The name of the project's folder."""
        return self._root.name or str(self._root)

    async def files(self) -> Sequence[JudgedFile]:
        """The files to trust or decline, decided or not; empty if the root is the only workspace of all agents."""
        judged = await self._refresh()
        own = await asyncio.to_thread(lambda: {place.resolve() for place in self._workspaces().values()})
        return [] if judged is None or own == {self._root} else [judged]

    async def instructions(self) -> Instructions | None:
        """The current instructions, if the user trusts exactly this content."""
        judged = await self._refresh()
        return judged.found if judged is not None and judged.state == "trusted" else None

    async def trust(self, path: str, digest: str, by: str) -> None:
        """Trusts the file: it guides the agents as long as its content stays the same.

        Raises: NotFound, ProjectFileChanged if its content has changed, InvalidRequest if it cannot be used,
        StorageError.
        """
        found = await self._named(path, digest)
        await self._audit.project_trusted(str(found.real), digest, by)
        await self._decide(found, "trusted", by)

    async def decline(self, path: str, digest: str, by: str) -> None:
        """Declines the file: it loses any trust, is not used, and is not asked about again. Raises: as `trust`."""
        found = await self._named(path, digest)
        await self._decide(found, "declined", by)  # a restriction takes effect first and is audited afterwards
        await self._audit.project_declined(str(found.real), digest, by)

    async def _named(self, path: str, digest: str) -> Instructions:
        found = await asyncio.to_thread(read_instructions, self._root)
        if found is None or path != found.name:
            raise NotFound(f"There is no {path!r} with instructions in {self._root}.")
        if found.problem is not None:
            raise InvalidRequest(f"`path`: {found.name} cannot be used. {found.problem}", field="path")
        if found.digest != digest:
            raise ProjectFileChanged(f"{found.name} has changed since it was shown. Review it again.")
        return found

    async def _decide(self, found: Instructions, decision: Decision, by: str) -> None:
        await asyncio.to_thread(self._decisions.add, found, decision, by)
        await self._refresh()

    async def _refresh(self) -> JudgedFile | None:
        """Reads the current file; broadcasts an event if it has changed since the last look."""
        judged = await asyncio.to_thread(self._judged)
        seen = (judged.state, judged.found.digest) if judged is not None else None
        is_news = self._is_loaded and seen != self._seen
        self._is_loaded, self._seen = True, seen
        if is_news:
            self._broadcast(UPDATED, {})
        return judged

    def _judged(self) -> JudgedFile | None:
        found = read_instructions(self._root)
        if found is None:
            return None
        if found.problem is not None:
            return JudgedFile(found, "unusable")
        said = self._decisions.of(found.real)
        for entry in said:
            if entry.digest == found.digest:
                return JudgedFile(found, entry.decision)
        former = next((entry.text for entry in said if entry.decision == "trusted"), None)
        return JudgedFile(found, "new" if former is None else "changed", former)
