"""A conversation as passages."""

from datetime import date

from onyx_jupyter.retrieval.chunking import ChunkSize
from onyx_jupyter.retrieval.conversation_chunking import Turn, chunk_turns
from onyx_jupyter.text_tokens import text_tokens


def test_turn_is_a_passage_with_date_and_preceding_turns() -> None:
    turns = [Turn("User", "Where is Mo?", 3), Turn("Onyx", "In the garden.", 5), Turn("User", "Since when?", 8)]
    chunks = chunk_turns(turns, title="Cats", day=date(2026, 1, 2))
    assert [(chunk.text, chunk.start_line, chunk.end_line) for chunk in chunks] == [
        ("User: Where is Mo?", 3, 3),
        ("Onyx: In the garden.", 5, 5),
        ("User: Since when?", 8, 8),
    ]
    assert {chunk.context for chunk in chunks} == {"2026-01-02, 2 January 2026 · Cats"}
    assert [chunk.before for chunk in chunks] == [
        "",
        "User: Where is Mo?",
        "User: Where is Mo?\nOnyx: In the garden.",
    ]


def test_only_two_preceding_turns_are_added_truncated_to_their_ends() -> None:
    turns = [Turn("", "first", 1), Turn("", "second", 2), Turn("", "x" * 5000 + " end", 3), Turn("", "last", 4)]
    before = chunk_turns(turns)[-1].before
    assert before.startswith("second\n")
    assert before.endswith("x end")
    assert len(before) < 500


def test_long_turn_becomes_several_passages_and_empty_one_none() -> None:
    turns = [Turn("Onyx", "A sentence of some words. " * 50, 7), Turn("User", "  ", 8)]
    chunks = chunk_turns(turns, size=ChunkSize(40, 10))
    assert len(chunks) > 5
    assert {(chunk.start_line, chunk.end_line) for chunk in chunks} == {(7, 7)}
    assert all(text_tokens(chunk.text) <= 40 for chunk in chunks)
