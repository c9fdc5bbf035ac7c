"""Caches the runs in a list of entries, and what was made of them, while lines are only appended.

A conversation is read again for every step, and nearly all of it is the same as a step before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import NamedTuple

from onyx_jupyter.protocols import Block
from onyx_jupyter.sessions.entry import COMPACTION, Entry
from onyx_jupyter.sessions.run_order import placed, sort_in


class _Made(NamedTuple):
    run: list[Entry]
    length: int
    is_continued: bool
    blocks: Sequence[Block]


class KeptRuns:
    """The cache of one transcript. Another list (a file that was read again) or a message that moves resets it."""

    _entries: Sequence[Entry]
    _count: int
    _begun: dict[str, list[Entry]]
    _waiting: dict[str, list[Entry]]
    _blocks: dict[str, _Made]
    _seen: dict[int, Set[str]]
    _compactions: list[int]
    _call_ids: set[str]

    def __init__(self) -> None:
        self._rebuild([])

    def begun(self, entries: Sequence[Entry]) -> dict[str, list[Entry]]:
        """Like `begun_runs`, but only reads the new lines. The lists belong to this object."""
        self._catch_up(entries)
        return self._begun

    def compactions(self, entries: Sequence[Entry]) -> Sequence[int]:
        """The indices of the compactions, oldest first."""
        self._catch_up(entries)
        return self._compactions

    def call_ids(self, entries: Sequence[Entry]) -> Set[str]:
        """The id of every call in these entries. The set belongs to this object."""
        self._catch_up(entries)
        return self._call_ids

    def blocks(
        self, run_id: str, is_continued: bool, make: Callable[[Sequence[Entry], bool], list[Block]]
    ) -> list[Block]:
        """The blocks of a run, rebuilt if its lines have changed."""
        run = self._begun[run_id]
        made = self._blocks.get(run_id)
        if made is None or made.run is not run or (made.length, made.is_continued) != (len(run), is_continued):
            made = self._blocks[run_id] = _Made(run, len(run), is_continued, make(run, is_continued))
        return list(made.blocks)

    def seen(self, place: int, make: Callable[[], Set[str]]) -> Set[str]:
        """The entries that a model had seen before the compaction at that index."""
        if place not in self._seen:
            self._seen[place] = make()
        return self._seen[place]

    def _catch_up(self, entries: Sequence[Entry]) -> None:
        new = entries[self._count :]
        if entries is not self._entries or any(entry.kind == "requeued" for entry in new):
            self._rebuild(entries)
            new = placed(entries)
        for place, entry in enumerate(new, start=self._count):
            sort_in(entry, self._begun, self._waiting)
            self._call_ids.update(call.id for call in entry.tool_calls)
            if entry.kind == COMPACTION:
                self._compactions.append(place)
        self._count = len(entries)

    def _rebuild(self, entries: Sequence[Entry]) -> None:
        self._entries, self._count = entries, 0
        self._begun, self._waiting, self._blocks, self._seen = {}, {}, {}, {}
        self._compactions, self._call_ids = [], set()
