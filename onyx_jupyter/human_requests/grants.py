"""What people have permanently allowed: `grants.json`, shared by all servers on one home."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from onyx_jupyter.clock import Clock, IdSource, timestamp
from onyx_jupyter.errors import NotFound, StorageError
from onyx_jupyter.events import to_camel
from onyx_jupyter.storage.atomic_write import write_text_atomically
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.shared_lock import SharedLock

log = logging.getLogger(__name__)


class Grant(BaseModel):
    """One exact thing that an agent may do unasked; `digest` binds it, `what` says it in words."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", strict=True, frozen=True)

    id: str
    agent_id: str
    tool: str
    what: str
    digest: str
    created_at: str
    by: str


class _GrantsFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    schema_version: Literal[1] = 1
    grants: list[Grant]


class GrantStore:
    """The grants as currently on disk: another server's count at once, and revoking one affects the next call.

    A damaged file grants nothing. It is renamed to `grants.json.damaged`, and `problem` says so until it is gone.
    """

    def __init__(
        self, path: Path, clock: Clock, ids: IdSource, *, redact: Callable[[str], str], on_change: Callable[[], None]
    ) -> None:
        self._path = path
        self._clock = clock
        self._ids = ids
        self._redact = redact
        self._on_change = on_change
        self._lock = SharedLock(path)
        self._seen: tuple[int, ...] = ()
        self._grants: tuple[Grant, ...] = ()

    def new(self, agent_id: str, tool: str, what: str, digest: str, by: str) -> Grant:
        """A grant that counts once `add` has written it."""
        now = timestamp(self._clock.now())
        return Grant(
            id=self._ids.new(),
            agent_id=agent_id,
            tool=tool,
            what=self._redact(what),
            digest=digest,
            created_at=now,
            by=by,
        )

    async def covering(self, agent_id: str, digests: Iterable[str]) -> Sequence[Grant] | None:
        """The agent's grants for these, one each; None if one of them has none, or the file is unusable."""
        try:
            granted = {grant.digest: grant for grant in await self.list() if grant.agent_id == agent_id}
        except StorageError as error:
            log.error("No grants are in effect: %s", error)
            return None
        found = [granted.get(digest) for digest in digests]
        grants = [grant for grant in found if grant is not None]
        return grants if grants and len(grants) == len(found) else None

    async def list(self) -> Sequence[Grant]:
        """All grants, oldest first. Raises: StorageError."""
        return await asyncio.to_thread(self._read)

    async def add(self, grants: Sequence[Grant]) -> None:
        """Grants are on disk when it returns; those that the agent already has stay unchanged. Raises: StorageError."""
        await asyncio.to_thread(self._change, lambda old: [*old, *_new_ones(old, grants)])
        self._on_change()

    async def revoke(self, grant_id: str) -> Grant:
        """Removes the grant and returns it. Raises: NotFound, StorageError."""
        revoked: list[Grant] = []

        def without(old: Sequence[Grant]) -> Sequence[Grant]:
            revoked.extend(grant for grant in old if grant.id == grant_id)
            return [grant for grant in old if grant.id != grant_id]

        await asyncio.to_thread(self._change, without)
        if not revoked:
            raise NotFound(
                f"There is no grant {grant_id!r}. It may have been revoked already; grants.list shows all grants."
            )
        self._on_change()
        return revoked[0]

    async def problem(self) -> str | None:
        """Why existing grants do not count, or None."""
        try:
            await self.list()
        except StorageError as error:
            return str(error)
        damaged = sorted(path.name for path in self._path.parent.glob(f"{self._path.name}.damaged*"))
        if not damaged:
            return None
        return f"{self._path.name} was damaged and was moved to {damaged[-1]}. Onyx asks again for what it allowed."

    def _change(self, change: Callable[[Sequence[Grant]], Sequence[Grant]]) -> None:
        with self._lock.held():
            old = self._read()
            new = change(old)
            if list(new) != list(old):
                text = _GrantsFile(grants=list(new)).model_dump_json(by_alias=True, indent=2)
                write_text_atomically(self._path, f"{text}\n")

    def _read(self) -> Sequence[Grant]:
        """Rereads the file if it has changed. Raises: StorageError."""
        with self._lock.threads:
            seen = self._version()
            if seen != self._seen:
                self._grants = self._parse(self._text()) if seen else ()
                self._seen = seen
            return self._grants

    def _version(self) -> tuple[int, ...]:
        try:
            with disk_errors("read", self._path):
                status = self._path.stat()
        except StorageError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return ()
            raise
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _text(self) -> bytes:
        with disk_errors("read", self._path):
            return self._path.read_bytes()

    def _parse(self, text: bytes) -> tuple[Grant, ...]:
        try:
            return tuple(_GrantsFile.model_validate_json(text).grants)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_context=False, include_input=False)[0]["msg"]
        self._quarantine(problem)
        return ()

    def _quarantine(self, problem: str) -> None:
        """Renames the file to the first free name beside it, so that its contents can be inspected."""
        with self._lock.held(), disk_errors("move aside", self._path):
            try:
                _GrantsFile.model_validate_json(self._text())
            except ValidationError:
                names = (f"{self._path.name}.damaged{number or ''}" for number in range(10_000))
                aside = next(path for path in map(self._path.with_name, names) if not path.exists())
                self._path.rename(aside)
                log.error("%s is damaged (%s), so no grants are in effect. Moved to %s", self._path, problem, aside)


def _new_ones(old: Sequence[Grant], grants: Sequence[Grant]) -> list[Grant]:
    had = {(grant.agent_id, grant.digest) for grant in old}
    return [grant for grant in grants if (grant.agent_id, grant.digest) not in had]
