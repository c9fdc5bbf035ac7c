"""Which part of a conversation is still to be looked through for memories, and whose words it holds."""

from typing import Any

from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.sessions.unconsolidated import unconsolidated, unfinished_plan


def line(entry_id: str, role: Any, content: str = "", **meta: Any) -> Entry:
    return Entry(entry_id, None, "2026-01-01T00:00:00.000Z", role, content, meta=meta)


def turn(run: str, *between: Entry, **meta: Any) -> list[Entry]:
    """What was said, typed unless `meta` says otherwise, the answer, and the end of the run."""
    return [
        line(f"{run}u", "user", f"say {run}", **{"runId": run, "typed": True, **meta}),
        *between,
        line(f"{run}a", "assistant", f"answer {run}", runId=run),
        line(f"{run}e", "system", kind="run_end", runId=run, outcome="final"),
    ]


def ids(entries: list[Entry]) -> list[str]:
    return [one.entry.id for one in unconsolidated(entries).spoken]


def test_ended_runs_are_pending_and_active_ones_are_not():
    going = [line("Cu", "user", "say C", runId="C", typed=True), line("Ca", "assistant", "half", runId="C")]
    part = unconsolidated([*turn("A"), *turn("B"), *going])
    assert [one.entry.id for one in part.spoken] == ["Au", "Aa", "Bu", "Ba"]
    assert (part.up_to, part.run_id, part.messages, part.user_text) == ("Be", "B", 4, 10)


def test_only_entries_after_last_consolidation_are_pending():
    done = line("K", "system", kind="consolidation", upTo="Ae")
    assert ids([*turn("A"), *turn("B"), done]) == ["Bu", "Ba"]
    assert ids([*turn("A"), done, *turn("B")]) == ["Bu", "Ba"]
    assert ids([*turn("A"), line("K", "system", kind="consolidation", upTo="gone"), *turn("B")]) == ["Bu", "Ba"]


def test_note_about_older_run_ends_nothing():
    done = line("K", "system", kind="consolidation", upTo="Ae")
    note = line("N", "system", "Remembered", kind="note", note="memory", runId="A")
    other = line("M", "system", "Repaired", kind="note", note="repaired", runId="A")
    assert ids([*turn("A"), done, note, other, *turn("B")]) == ["Bu", "Ba"]


def test_runs_without_typed_message_are_skipped():
    sent = [
        *turn("A", **{"from": {"sessionKey": "x"}}),
        *turn("B", kernel={"kernelId": "k"}),
        *turn("C", interactive=False),
        *turn("D", typed=False),
        *turn("F", typed="yes"),
        *(line(entry.id, entry.role, entry.content, **{**entry.meta, "typed": None}) for entry in turn("G")),
        line("Hu", "user", "say H", runId="H"),
        line("He", "system", kind="run_end", runId="H"),
    ]
    assert unconsolidated(sent).user_text == 0
    assert ids([*sent, *turn("E")]) == ["Eu", "Ea"]
    brought = unconsolidated([*turn("D", typed=False), *turn("E")]).spoken
    assert [one.own for one in brought] == [True, False], "an answer may only pass on what a program sent"


def test_answers_after_first_external_content_are_not_own():
    tool = line("At", "tool", "seen", runId="A")
    found = {one.entry.id: one.own for one in unconsolidated([*turn("0"), *turn("A", tool), *turn("B")]).spoken}
    assert found == {"0u": True, "0a": True, "Au": True, "Aa": False, "Bu": True, "Ba": False}
    format_attachments = turn("A", context=[{"type": "file", "path": "a.txt", "text": "…"}])
    assert [one.own for one in unconsolidated(format_attachments).spoken] == [True, False]


def test_plan_is_unfinished_until_noted():
    plan = line("K", "system", kind="consolidation", upTo="Ae", note="N", plan={"operations": [{}], "history": ""})
    told = line("T", "system", kind="note", note="memory", data={"id": "N"})
    assert unfinished_plan([*turn("A"), plan]) is plan
    assert unfinished_plan([*turn("A"), plan, told]) is None
    empty = line("K", "system", kind="consolidation", upTo="Ae", note="N", plan={"operations": [], "history": ""})
    assert unfinished_plan([plan, empty]) is None
    assert unfinished_plan(turn("A")) is None
