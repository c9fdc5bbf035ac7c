"""The history of one collection, shared by all servers on the same home. It may be lost.

`<name>.history.json` beside the tables records the order in which chunkings appeared, and when which server changed the
embedder. Without it, two servers with different configurations would rebuild the index in turn, forever.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from onyx_jupyter.clock import Clock, IdSource
from onyx_jupyter.errors import StorageError
from onyx_jupyter.storage.atomic_write import write_text_atomically
from onyx_jupyter.storage.shared_lock import SharedLock

# Another server's change holds this long, and twice as long after each further one within a day.
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


class _Versioned(BaseModel):
    """What a file of any version says."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    schema_version: int


class IndexHistory:
    """The history as seen by one server. All methods block.

    A lost or damaged file counts as empty. A file that is temporarily unreadable, or was written by a newer Onyx, stays
    as it is, and what was read before remains valid.
    """

    def __init__(self, folder: Path, name: str, clock: Clock) -> None:
        self._file = folder / f"{name}.history.json"
        self._lock = SharedLock(self._file)
        self._clock = clock
        self._server_id = IdSource(clock).new()
        self._known = History()

    def newer_than(self, chunking: str) -> frozenset[str]:
        """The chunkings that appeared after this one, which is recorded on first use.

        An older Onyx that still runs leaves alone what a newer one has cut.
        """
        if chunking not in self._read().chunkings:
            self._change(lambda history: _with_chunking(history, chunking))
        known = self._known.chunkings
        return frozenset(known[known.index(chunking) + 1 :]) if chunking in known else frozenset()

    def changed(self) -> None:
        """Records that this server has just rebuilt the index for another embedder."""
        change = Change(at_s=self._clock.now().timestamp(), by=self._server_id)
        self._change(lambda history: history.model_copy(update={"changes": (*history.changes, change)[-_CHANGES:]}))

    def wait_s(self) -> float:
        """How long the index is left to the embedder that another server has chosen for it."""
        now_s = self._clock.now().timestamp()
        recent = [change for change in self._read().changes if abs(now_s - change.at_s) < DAY_S]
        if not recent or recent[-1].by == self._server_id:
            return 0.0
        stays_s = min(STAYS_S * 2.0 ** (len(recent) - 1), DAY_S)
        return min(max(0.0, recent[-1].at_s + stays_s - now_s), DAY_S)

    def _read(self) -> History:
        self._known = self._on_disk() or self._known
        return self._known

    def _change(self, changed: Callable[[History], History]) -> None:
        """One server at a time; if the disk refuses, nothing is recorded."""
        try:
            with self._lock.held():
                before = self._on_disk()
                if before is not None:
                    history = changed(before)
                    write_text_atomically(self._file, history.model_dump_json(indent=1) + "\n")
                    self._known = history
        except StorageError:
            return

    def _on_disk(self) -> History | None:
        """None if the file exists but can't be read."""
        try:
            content = self._file.read_bytes()
        except FileNotFoundError:
            return History()
        except OSError:
            return None
        try:
            return History.model_validate_json(content)
        except ValidationError:
            return None if _is_newer(content) else History()


def _with_chunking(history: History, chunking: str) -> History:
    if chunking in history.chunkings:
        return history
    return history.model_copy(update={"chunkings": (*history.chunkings, chunking)[-_CHUNKINGS:]})


def _is_newer(content: bytes) -> bool:
    try:
        return _Versioned.model_validate_json(content).schema_version > 1
    except ValidationError:
        return False
