"""Which run each line of a transcript belongs to, and in which order runs began.

A message can be in the file far from where it counts: it waited behind a run, joined one, or got a run of its own from
a restart. Lines are only ever appended, so these three are derived from later lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from onyx_jupyter.sessions.entry import Entry

_ENDED_FOR_GOOD = ("final", "error", "aborted")


def placed(entries: Sequence[Entry]) -> Sequence[Entry]:
    """The same lines, with every message that got a run of its own moved into it as its first line."""
    moved = {
        message_id: entry
        for entry in entries
        if entry.kind == "requeued" and entry.run_id and isinstance(message_id := entry.meta.get("messageId"), str)
    }
    if not moved:
        return entries
    return [_own_message(entry, moved[entry.id]) if entry.id in moved else entry for entry in entries]


def begun_runs(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Run id → its lines, in the order in which the runs began; waiting runs are left out.

    A run begins with its message, or if that had to wait, with the first line after it.
    """
    begun: dict[str, list[Entry]] = {}
    waiting: dict[str, list[Entry]] = {}
    for entry in placed(entries):
        sort_in(entry, begun, waiting)
    return begun


def sort_in(entry: Entry, begun: dict[str, list[Entry]], waiting: dict[str, list[Entry]]) -> None:
    """Adds the next placed line to its run, begun or waiting."""
    run_id = entry.run_id
    if run_id is None or entry.kind == "requeued":
        return
    if run_id not in begun:
        if entry.is_queued or entry.is_steer:
            waiting.setdefault(run_id, []).append(entry)
            return
        begun[run_id] = waiting.pop(run_id, [])
    begun[run_id].append(entry)


def unfinished_runs(entries: Sequence[Entry]) -> list[str]:
    """Runs with a message and no end, oldest first."""
    runs: dict[str, None] = {}
    for entry in placed(entries):
        if entry.role == "user" and entry.run_id and not entry.is_steer:
            runs[entry.run_id] = None
        elif entry.kind == "run_end" and entry.run_id:
            runs.pop(entry.run_id, None)
    return list(runs)


def waiting_messages(entries: Sequence[Entry]) -> list[Entry]:
    """The messages whose runs have neither begun nor ended, in order of arrival."""
    begun = begun_runs(entries)
    return [entry for entry in placed(entries) if entry.is_queued and entry.run_id and entry.run_id not in begun]


def joined_ids(entry: Entry) -> Sequence[str]:
    """The ids of the messages that joined their run at this line; empty for other kinds of lines."""
    ids = entry.meta.get("messageIds") if entry.kind == "steer_joined" else None
    return [item for item in ids if isinstance(item, str)] if isinstance(ids, list) else []


def unjoined_messages(entries: Iterable[Entry], run_id: str) -> list[Entry]:
    """The user's messages to this run that have no place in it, in order of arrival."""
    unjoined: dict[str, Entry] = {}
    joined: set[str] = set()
    for entry in entries:
        if entry.run_id != run_id:
            continue
        joined.update(joined_ids(entry))
        if entry.is_steer:
            unjoined[entry.id] = entry
    return [entry for entry_id, entry in unjoined.items() if entry_id not in joined]


def messages_of(run_id: str, entries: Sequence[Entry]) -> list[Entry]:
    """All of the user's messages to this run, in order of arrival."""
    return [entry for entry in placed(entries) if entry.role == "user" and entry.run_id == run_id]


def stranded_messages(entries: Sequence[Entry]) -> list[Entry]:
    """The user's messages to runs that a kill or a shutdown ended before they could join.

    After an error or a Stop they stay with the ended run: nothing continues by itself then.
    """
    lines = placed(entries)
    over = {e.run_id for e in lines if e.kind == "run_end" and e.meta.get("outcome") in _ENDED_FOR_GOOD}
    runs = dict.fromkeys(e.run_id for e in lines if e.is_steer and e.run_id and e.run_id not in over)
    found = [message for run_id in runs if run_id for message in unjoined_messages(lines, run_id)]
    order = {id(entry): place for place, entry in enumerate(lines)}
    return sorted(found, key=lambda entry: order[id(entry)])


def _own_message(message: Entry, requeued: Entry) -> Entry:
    meta = {name: value for name, value in message.meta.items() if name != "steer"}
    return replace(message, meta={**meta, "runId": requeued.run_id, "queued": True})
