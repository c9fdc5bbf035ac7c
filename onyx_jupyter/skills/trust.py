"""The versions of skills that a person has trusted: `trusted-skills.json`. It never trusts anything by itself."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from onyx_jupyter.clock import Clock, timestamp
from onyx_jupyter.errors import StorageError
from onyx_jupyter.events import to_camel
from onyx_jupyter.skills.skill import Skill
from onyx_jupyter.storage.shared_document import SharedDocument

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
    """The newest trusted version of each file; the same content is trusted anywhere. For threads, not the loop."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._clock = clock
        self._file = SharedDocument(path, _TrustFile(), if_damaged="each skill must be trusted again")

    def entries(self) -> Sequence[TrustedSkill]:
        """Reads again if the file has changed; empty if it can't be read: then every skill is asked for again."""
        try:
            return self._file.read().skills
        except StorageError as error:
            log.error("No skills are trusted: %s", error)
            return ()

    def add(self, skill: Skill, by: str) -> TrustedSkill:
        """Trusts exactly this version, replacing former ones of its file. Raises: StorageError."""
        entry = TrustedSkill(
            path=str(skill.path),
            name=skill.name,
            digest=skill.digest,
            text=skill.text,
            at=timestamp(self._clock.now()),
            by=by,
        )

        def with_entry(old: _TrustFile) -> _TrustFile:
            others = [item for item in old.skills if item.path != entry.path]
            return _TrustFile(skills=[*others, entry][-MAX_ENTRIES:])

        self._file.change(with_entry)
        return entry
