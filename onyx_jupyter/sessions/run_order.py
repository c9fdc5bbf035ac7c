"""Which run each line of a transcript belongs to, and in which order runs began. It never touches the disk.

A message can stand in the file far from where it counts: it waited behind a run, it joined one, or a restart gave it a
run of its own. The lines are only ever appended, so these three are read from the lines that came later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from onyx_jupyter.sessions.entry import Entry

_ENDED_FOR_GOOD = ("final", "error", "aborted")


def placed(entries: Sequence[Entry]) -> Sequence[Entry]:
    """The same lines, with every message that was given a run of its own as that run's first one."""
    moved = {
        message_id: entry
        for entry in entries
        if entry.kind == "requeued" and entry.run_id and isinstance(message_id := entry.meta.get("messageId"), str)
    }
    if not moved:
        return entries
    return [_own_message(entry, moved[entry.id]) if entry.id in moved else entry for entry in entries]


def begun_runs(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Run id → its lines, in the order in which the runs began; those that still wait are left out.

    A run begins with its message, or where that had to wait, with its first line behind it.
    """
    begun: dict[str, list[Entry]] = {}
    waiting: dict[str, list[Entry]] = {}
    for entry in placed(entries):
        sort_in(entry, begun, waiting)
    return begun


def sort_in(entry: Entry, begun: dict[str, list[Entry]], waiting: dict[str, list[Entry]]) -> None:
    """Puts the next of the placed lines where it belongs: into a run that has begun, or one that waits."""
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
    """Runs that have a message and no end, oldest first."""
    runs: dict[str, None] = {}
    for entry in placed(entries):
        if entry.role == "user" and entry.run_id and not entry.is_steer:
            runs[entry.run_id] = None
        elif entry.kind == "run_end" and entry.run_id:
            runs.pop(entry.run_id, None)
    return list(runs)


def waiting_messages(entries: Sequence[Entry]) -> list[Entry]:
    """The messages whose runs have neither begun nor ended, in the order in which they came."""
    begun = begun_runs(entries)
    return [entry for entry in placed(entries) if entry.is_queued and entry.run_id and entry.run_id not in begun]


def joined_ids(entry: Entry) -> Sequence[str]:
    """The messages that joined their run at this line; none where it is another kind of line."""
    ids = entry.meta.get("messageIds") if entry.kind == "steer_joined" else None
    return [item for item in ids if isinstance(item, str)] if isinstance(ids, list) else []


def unjoined_messages(entries: Iterable[Entry], run_id: str) -> list[Entry]:
    """What the user sent to this run that has no place in it, in the order in which it came."""
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
    """All that the user sent to this run, in the order in which it came."""
    return [entry for entry in placed(entries) if entry.role == "user" and entry.run_id == run_id]


def stranded_messages(entries: Sequence[Entry]) -> list[Entry]:
    """What the user sent to runs that a kill or a shutdown ended before it could join them.

    After an error or a Stop it stays with the run that was ended: nothing goes on by itself then.
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
