"""What a model sees after a compaction: the summary, what was carried over, and the newest part as it was."""

from itertools import count
from typing import Any

from onyx_jupyter.messages import Attachment, Message, ToolCall, Usage
from onyx_jupyter.protocols import Block, Compaction, Measured
from onyx_jupyter.sessions.compacted import compacted, to_meta
from onyx_jupyter.sessions.conversation import blocks, conversation, failed_compaction, measured
from onyx_jupyter.sessions.entry import Entry


class Writer:
    """Entries e1, e2, … in the order in which they are asked for."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._numbers = count(1)

    def add(self, role: str, content: str, run: str = "r1", **more: Any) -> str:
        meta = {"runId": run, **more.pop("meta", {})}
        entry_id = f"e{next(self._numbers)}"
        self.entries.append(Entry(entry_id, None, "", role, content, meta=meta, **more))  # type: ignore[arg-type]
        return entry_id

    def compaction(self, made: Compaction, run: str = "r1") -> str:
        return self.add("system", made.summary, run, meta={"kind": "compaction", **to_meta(made)})

    def seen(self, run: str = "r1") -> list[str]:
        return [message.content for message in conversation(self.entries, run)]


def steps(writer: Writer, names: str, run: str = "r1") -> list[str]:
    """A reply with one call and its result for each letter; the replies' ids."""
    ids = []
    for name in names:
        ids.append(writer.add("assistant", name, run, tool_calls=(ToolCall(name, "peek", {}),)))
        writer.add("tool", f"{name} result", run, tool_call_id=name)
    return ids


def test_summary_replaces_earlier_entries_and_rest_is_unchanged():
    writer = Writer()
    writer.add("user", "Never touch raw data.")
    _, second = steps(writer, "ab")
    writer.compaction(Compaction("Summary.", ("Never touch raw data.",), second))
    writer.add("assistant", "done")
    summary, *rest = writer.seen()
    assert "Summary." in summary
    assert "- Never touch raw data." in summary
    assert rest == ["b", "b result", "done"]
    assert len(writer.entries) == 7, "the transcript keeps everything"


def test_carried_message_stays_and_gap_is_not_refilled():
    writer = Writer()
    asked = writer.add("user", "the task")
    *_, fourth = steps(writer, "abcd")
    writer.compaction(Compaction("Summary.", (), fourth, (asked,)))
    assert writer.seen()[1:] == ["the task", "d", "d result"]
    assert [block.carried for block in blocks(writer.entries, "r1")] == [False, True, False]


def test_newest_compaction_applies_and_later_run_continues_from_it():
    writer = Writer()
    writer.add("user", "one")
    first, second = steps(writer, "ab")
    writer.compaction(Compaction("Old.", (), first))
    writer.compaction(Compaction("New.", (), second))
    writer.add("user", "two", "r2")
    summary, *rest = writer.seen("r2")
    assert "New." in summary
    assert "Old." not in summary
    assert rest == ["b", "b result", "two"]


def test_only_entries_before_compaction_are_shortened():
    writer = Writer()
    asked = writer.add("user", "x" * 5000)
    writer.add("user", "y" * 5000, "r2")
    writer.compaction(Compaction("", (), asked, longest_chars=400))
    writer.add("assistant", "z" * 5000)
    first, answer = writer.seen()
    assert len(first) <= 400
    assert first.startswith("xx")
    assert first.endswith("xx")
    assert answer == "z" * 5000
    assert writer.seen("r2")[-1] == "y" * 5000


def test_long_arguments_stay_an_object_and_images_are_dropped_with_short_limit():
    call = ToolCall("c", "write", {"text": "word " * 1000})
    reply = Message("assistant", "", (call,))
    result = Message("tool", "done", (), "c", attachments=(Attachment("image", "image/png", "AAAA"),))
    block = Block("e1", "r1", (reply, result))
    (short,) = compacted([block], Compaction("", (), "e1", (), 400), "s", {"e1"})
    assert len(str(short.messages[0].tool_calls[0].arguments)) < 500
    assert set(short.messages[0].tool_calls[0].arguments) == {"shortened"}
    assert short.messages[1].attachments == ()
    assert "picture" in short.messages[1].content
    (long,) = compacted([block], Compaction("", (), "e1", (), 16_000), "s", {"e1"})
    assert long == block


def test_compaction_with_lost_first_kept_entry_keeps_whole_conversation():
    writer = Writer()
    writer.add("user", "one")
    writer.compaction(Compaction("Summary.", (), "lost"))
    assert writer.seen() == ["one"]


def test_compaction_in_unknown_format_is_ignored():
    writer = Writer()
    writer.add("user", "one")
    writer.add("system", "Summary.", meta={"kind": "compaction", "firstKept": 7})
    assert writer.seen() == ["one"]


def test_latest_provider_count_of_same_model_is_used():
    writer = Writer()
    for model, estimate, counted in (("a", 10, 20), ("b", 11, 21), ("a", 12, 22), ("a", 13, 0)):
        writer.add("assistant", "x", usage=Usage(counted, 1), meta={"model": model, "estimate": estimate})
    assert measured(writer.entries, "a") == Measured(12, 22)
    assert measured(writer.entries, "b") == Measured(11, 21)
    assert measured(writer.entries, "c") is None


def test_failure_is_forgotten_after_successful_compaction():
    writer = Writer()
    first = writer.add("user", "one")
    writer.add("system", "", meta={"kind": "compaction_failed", "model": "a", "tokensBefore": 500})
    assert failed_compaction(writer.entries, "a") == 500
    assert failed_compaction(writer.entries, "b") == 0
    writer.compaction(Compaction("Summary.", (), first))
    assert failed_compaction(writer.entries, "a") == 0
