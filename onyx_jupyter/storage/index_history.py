"""What servers have done to one collection, for the others on the same home. It decides nothing, and may be lost.

`<name>.history.json` beside the tables: in which order the ways of cutting sources came up, and when the embedder was
changed by whom. Two servers that want different things would else make the index anew in turn, for ever.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from onyx_jupyter.clock import Clock, IdSource
from onyx_jupyter.errors import StorageError
from onyx_jupyter.storage.atomic_write import make_private_folder, write_text_atomically

# Another server's change stays for so long, and for twice as long after each further one of a day.
STAYS_S = 600.0
DAY_S = 86_400.0
_CHANGES = 16
_CHUNKINGS = 32


class Change(BaseModel):
    """`at_s` is since 1970, `by` names the server that made the index anew for its embedder."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at_s: float
    by: str


class History(BaseModel):
    """What the file holds, the oldest first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    chunkings: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()


class IndexHistory:
    """As one server sees it. All of it blocks; a file that cannot be read or written is an empty one."""

    def __init__(self, folder: Path, name: str, clock: Clock) -> None:
        self._file = folder / f"{name}.history.json"
        self._clock = clock
        self._me = IdSource(clock).new()

    def newer_than(self, chunking: str) -> frozenset[str]:
        """The ways of cutting that came up after this one, which is noted with its first use.

        What a newer version of Onyx has cut is left as it is by an older one that still runs.
        """
        history = self._read()
        if chunking not in history.chunkings:
            known = (*history.chunkings, chunking)[-_CHUNKINGS:]
            self._write(history.model_copy(update={"chunkings": known}))
            return frozenset()
        return frozenset(history.chunkings[history.chunkings.index(chunking) + 1 :])

    def changed(self) -> None:
        """This server has just made the index anew for another embedder."""
        history = self._read()
        change = Change(at_s=self._clock.now().timestamp(), by=self._me)
        self._write(history.model_copy(update={"changes": (*history.changes, change)[-_CHANGES:]}))

    def wait_s(self) -> float:
        """For how long the index is left to the embedder that another server has chosen for it."""
        now_s = self._clock.now().timestamp()
        recent = [change for change in self._read().changes if abs(now_s - change.at_s) < DAY_S]
        if not recent or recent[-1].by == self._me:
            return 0.0
        stays_s = min(STAYS_S * 2.0 ** (len(recent) - 1), DAY_S)
        return min(max(0.0, recent[-1].at_s + stays_s - now_s), DAY_S)

    def _read(self) -> History:
        try:
            return History.model_validate_json(self._file.read_bytes())
        except (OSError, ValidationError):
            return History()

    def _write(self, history: History) -> None:
        try:
            make_private_folder(self._file.parent)
            write_text_atomically(self._file, history.model_dump_json(indent=1) + "\n")
        except StorageError:
            return
