"""Cuts a conversation into passages: each turn is one, found together with what was said before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from onyx_jupyter.protocols.retrieval import Chunk
from onyx_jupyter.retrieval.chunking import NOTE_SIZE, ChunkSize, chunk_markdown, passage_context

_TURNS_BEFORE = 2
_MAX_PREVIOUS_TURN_CHARS = 400


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said; `line` is its place in the source, counted from 1."""

    speaker: str
    text: str
    line: int


def chunk_turns(
    turns: Sequence[Turn], *, title: str = "", day: date | None = None, size: ChunkSize = NOTE_SIZE
) -> list[Chunk]:
    """One chunk per turn, or several for a long one, each with the two turns before as context."""
    context = passage_context(title, (), day)
    said: list[str] = []
    chunks: list[Chunk] = []
    for turn in turns:
        if not turn.text.strip():
            continue
        text = f"{turn.speaker}: {turn.text.strip()}" if turn.speaker else turn.text.strip()
        before = "\n".join(one[-_MAX_PREVIOUS_TURN_CHARS:] for one in said[-_TURNS_BEFORE:])
        chunks += [
            replace(one, start_line=turn.line, end_line=turn.line, context=context, before=before)
            for one in chunk_markdown(text, size=size)
        ]
        said.append(text)
    return chunks
