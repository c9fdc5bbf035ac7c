"""Users' decisions about the instructions of projects: `trusted-project-files.json`.

Each decision applies to one version of one file.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from onyx_jupyter.clock import Clock, timestamp
from onyx_jupyter.errors import StorageError
from onyx_jupyter.project.instructions import Instructions
from onyx_jupyter.storage.shared_document import SharedDocument

log = logging.getLogger(__name__)
Decision = Literal["trusted", "declined"]
MAX_ENTRIES = 1000


class DecidedFile(BaseModel):
    """One content of one file. `text` is how a trusted one read, so that the next version can be compared with it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str
    digest: str
    decision: Decision
    text: str
    at: str
    by: str


class _DecisionsFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    files: list[DecidedFile] = []


class ProjectDecisions:
    """For each file, the newest trusted content and every declined one. For threads, not the event loop."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._clock = clock
        self._file = SharedDocument(path, _DecisionsFile(), if_damaged="project instructions must be trusted again")

    def of(self, real: Path) -> Sequence[DecidedFile]:
        """The decisions about that file; empty if they cannot be read: then the user is asked again."""
        try:
            return [entry for entry in self._file.read().files if entry.path == str(real)]
        except StorageError as error:
            log.error("No project instructions are trusted: %s", error)
            return ()

    def add(self, found: Instructions, decision: Decision, by: str) -> None:
        """Records the decision for this content of this file. Raises: StorageError."""
        entry = DecidedFile(
            path=str(found.real),
            digest=found.digest,
            decision=decision,
            text=found.text if decision == "trusted" else "",
            at=timestamp(self._clock.now()),
            by=by,
        )

        def is_superseded(old: DecidedFile) -> bool:
            is_former = old.decision == decision == "trusted"
            return old.path == entry.path and (is_former or old.digest == entry.digest)

        def with_entry(old: _DecisionsFile) -> _DecisionsFile:
            others = [item for item in old.files if not is_superseded(item)]
            return _DecisionsFile(files=[*others, entry][-MAX_ENTRIES:])

        self._file.change(with_entry)
