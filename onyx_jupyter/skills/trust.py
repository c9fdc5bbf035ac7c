"""Which versions of which skills a person has trusted: `trusted-skills.json`. It never trusts anything by itself."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from onyx_jupyter.clock import Clock, timestamp
from onyx_jupyter.errors import StorageError
from onyx_jupyter.events import to_camel
from onyx_jupyter.skills.skill import Skill
from onyx_jupyter.storage.atomic_write import write_text_atomically
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.shared_lock import SharedLock

log = logging.getLogger(__name__)
MAX_ENTRIES = 1000


class TrustedSkill(BaseModel):
    """One version that counts: `text` is how it read, so that the next version can be compared with it."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)

    path: str
    name: str
    digest: str
    text: str
    at: str
    by: str


class _TrustFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    skills: list[TrustedSkill] = []


class TrustStore:
    """The newest trusted version of each file; the same content counts wherever it lies. For threads, not the loop."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._lock = SharedLock(path)
        self._seen: tuple[int, ...] | None = None
        self._entries: Sequence[TrustedSkill] = ()

    def entries(self) -> Sequence[TrustedSkill]:
        """Anew where the file has changed; nothing where it cannot be read: then all is asked again."""
        try:
            with self._lock.threads:
                return self._read()
        except StorageError as error:
            log.error("No skill counts as trusted: %s", error)
            return ()

    def add(self, skill: Skill, by: str) -> TrustedSkill:
        """Trusts this very version in place of former ones of its file. Raises: StorageError."""
        entry = TrustedSkill(
            path=str(skill.path),
            name=skill.name,
            digest=skill.digest,
            text=skill.text,
            at=timestamp(self._clock.now()),
            by=by,
        )
        self._change(lambda old: [*(item for item in old if item.path != entry.path), entry][-MAX_ENTRIES:])
        return entry

    def _change(self, change: Callable[[Sequence[TrustedSkill]], list[TrustedSkill]]) -> None:
        with self._lock.held():
            text = _TrustFile(skills=change(self._read())).model_dump_json(by_alias=True, indent=2)
            write_text_atomically(self._path, f"{text}\n")

    def _read(self) -> Sequence[TrustedSkill]:
        try:
            with disk_errors("read", self._path):
                status = self._path.stat()
                seen = (status.st_ino, status.st_size, status.st_mtime_ns)
                if seen != self._seen:
                    self._entries = self._parse(self._path.read_bytes())
                    self._seen = seen
        except StorageError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
            self._entries, self._seen = (), None
        return self._entries

    def _parse(self, text: bytes) -> Sequence[TrustedSkill]:
        try:
            return tuple(_TrustFile.model_validate_json(text).skills)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_context=False, include_input=False)[0]["msg"]
            log.error("%s is damaged (%s): each skill is asked for again", self._path, problem)
            return ()
