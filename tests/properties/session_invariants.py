"""Invariants of every idle session, whatever was sent and however often its server died."""

from collections.abc import Sequence

from onyx_jupyter.sessions.conversation import conversation
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.sessions.run_order import begun_runs, joined_ids, placed, stranded_messages, waiting_messages


def check_session(entries: Sequence[Entry], messages: Sequence[str]) -> dict[str, str]:
    """Nothing waits, each run has one end, each message one place; returns message → outcome of its run."""
    assert waiting_messages(entries) == []
    assert stranded_messages(entries) == []
    runs = begun_runs(entries)
    outcomes = {}
    for run_id, lines in runs.items():
        ends = [line.meta["outcome"] for line in lines if line.kind == "run_end"]
        assert len(ends) == 1, f"run {run_id} ended {len(ends)} times"
        outcomes[run_id] = ends[0]
    heard = [m.content for m in conversation(entries, "no run") if m.role == "user"]
    assert sorted(heard) == sorted(messages), "a message is not in the conversation exactly once"
    joined = [message_id for entry in entries for message_id in joined_ids(entry)]
    assert len(joined) == len(set(joined))
    found = {}
    for entry in placed(entries):
        if entry.role == "user":
            outcome = outcomes[entry.run_id or ""]
            if entry.is_steer and entry.id not in joined:
                assert outcome in ("aborted", "error"), f"{entry.content!r} never joined a run that ended {outcome}"
            found[entry.content] = outcome
    return found
