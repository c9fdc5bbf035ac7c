"""Finds the part of a conversation that was not searched for memories yet, and what a person said in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from onyx_jupyter.sessions.entry import CONSOLIDATION, Entry
from onyx_jupyter.sessions.run_order import placed


@dataclass(frozen=True, slots=True)
class SpokenEntry:
    """What a person said, or the assistant to them.

    `own` is False for an answer given after something was brought in (by a tool, or sent along): it may only pass that
    on.
    """

    entry: Entry
    own: bool


@dataclass(frozen=True, slots=True)
class Unconsolidated:
    """The part still to be searched, up to the entry `up_to` and its run `run_id`.

    `messages` counts the messages in it, `user_text` the characters of the person's own messages.
    """

    spoken: tuple[SpokenEntry, ...] = ()
    up_to: str = ""
    run_id: str = ""
    messages: int = 0
    user_text: int = 0


def unconsolidated(entries: Sequence[Entry]) -> Unconsolidated:
    """The part after the newest consolidation, up to the first message whose run is in progress or waits.

    Only runs in which a person spoke count, not those sent by a schedule, another session, a cell or a program.
    """
    begin = _begin(entries)
    part = list(_ended(placed(entries[begin:])))
    if not part:
        return Unconsolidated()
    persons = {entry.run_id for entry in (*entries[:begin], *part) if is_of_person(entry)}
    brought_in = next((place for place, entry in enumerate(entries) if _brings_in(entry)), len(entries))
    spoken = tuple(
        SpokenEntry(entry, entry.role == "user" or place < brought_in)
        for place, entry in enumerate(part, start=begin)
        if (entry.role == "assistant" or is_of_person(entry)) and entry.run_id in persons and entry.content.strip()
    )
    run_id = next((entry.run_id for entry in reversed(part) if entry.run_id in persons), "")
    words = sum(len(one.entry.content.strip()) for one in spoken if one.entry.role == "user")
    return Unconsolidated(spoken, part[-1].id, run_id or "", len(spoken), words)


def unfinished_plan(entries: Sequence[Entry]) -> Entry | None:
    """The newest consolidation, if it planned something that no note reports as done yet."""
    newest = next((entry for entry in reversed(entries) if entry.kind == CONSOLIDATION), None)
    plan = newest.meta.get("plan") if newest is not None else None
    if newest is None or not isinstance(plan, Mapping) or not (plan.get("operations") or plan.get("history")):
        return None
    notes = (entry.meta.get("data") for entry in entries if entry.kind == "note" and entry.is_background)
    told = {data.get("id") for data in notes if isinstance(data, Mapping)}
    return None if newest.meta.get("note") in told else newest


def is_of_person(entry: Entry) -> bool:
    """Whether it is marked as typed by a person; what a cell or a program sent may come from anywhere."""
    return entry.role == "user" and entry.origin.is_person


def _begin(entries: Sequence[Entry]) -> int:
    """The index at which the part begins that no consolidation has seen."""
    for place in range(len(entries) - 1, -1, -1):
        if entries[place].kind == CONSOLIDATION:
            seen = entries[place].meta.get("upTo")
            return next((at + 1 for at in range(place, -1, -1) if entries[at].id == seen), place + 1)
    return 0


def _ended(part: Sequence[Entry]) -> Iterator[Entry]:
    """The entries before the first message of a run that has not ended."""
    over = {entry.run_id for entry in part if entry.kind == "run_end"}
    for entry in part:
        if entry.role == "user" and entry.run_id is not None and entry.run_id not in over:
            return
        yield entry


def _brings_in(entry: Entry) -> bool:
    """Whether answers after this entry may only pass on content from elsewhere."""
    if entry.role == "user":
        return bool(entry.context) or not is_of_person(entry)
    return entry.role == "tool"
