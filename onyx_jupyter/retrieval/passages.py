"""Removes repeats between passages of one source that share lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onyx_jupyter.protocols.retrieval import Candidate, Chunk
from onyx_jupyter.retrieval.snippet import hits


def lines_of(chunk: Chunk) -> tuple[int, int]:
    """The lines that are shown for it: those of its parent passage, if it was cut from one."""
    return chunk.parent or (chunk.start_line, chunk.end_line)


def without_repeats(candidates: Sequence[Candidate], stems: Sequence[str]) -> list[Candidate | None]:
    """Each without what an earlier one also contains; None if nothing that matches is left.

    Best first: the best one keeps what it shares with others, and represents all children of one parent.
    """
    kept: list[Candidate | None] = []
    by_source: dict[tuple[str, str, str], list[Chunk]] = {}
    for candidate in candidates:
        before = by_source.setdefault((candidate.kind, candidate.agent, candidate.path), [])
        chunk = _rest(candidate.chunk, before, stems)
        if chunk is candidate.chunk:
            kept.append(candidate)
        else:
            kept.append(replace(candidate, chunk=chunk) if chunk else None)
        if chunk:
            before.append(candidate.chunk)
    return kept


def _rest(chunk: Chunk, before: Sequence[Chunk], stems: Sequence[str]) -> Chunk | None:
    rest = chunk
    for other in before:
        if chunk.parent is not None and chunk.parent == other.parent:
            return None
        if rest.start_line <= other.end_line and other.start_line <= rest.end_line:
            rest = _less(rest, other)
        if not rest.text.strip():
            return None
    lost_what_was_looked_for = rest is not chunk and hits(chunk.text, stems) and not hits(rest.text, stems)
    return None if lost_what_was_looked_for else rest


def _less(chunk: Chunk, other: Chunk) -> Chunk:
    """Without the overlap of its beginning and the other's end, or of its end and the other's beginning."""
    if chunk.text in other.text:
        return replace(chunk, text="")
    if (chunk.start_line, chunk.end_line) >= (other.start_line, other.end_line):
        shared = _shared(other.text, chunk.text)
        if shared:
            cut = chunk.text[:shared]
            rest = chunk.text[shared:]
            blank = len(rest) - len(rest.lstrip("\n"))
            return replace(chunk, text=rest[blank:], start_line=chunk.start_line + cut.count("\n") + blank)
    shared = _shared(chunk.text, other.text)
    if shared:
        rest = chunk.text[: len(chunk.text) - shared]
        text = rest.rstrip()
        lost = chunk.text[len(text) :].count("\n")
        return replace(chunk, text=text, end_line=max(chunk.start_line, chunk.end_line - lost))
    return chunk


def _shared(one: str, other: str) -> int:
    """The length of the longest end of `one` that is a beginning of `other`."""
    longest = min(len(one), len(other))
    return next((size for size in range(longest, 0, -1) if one.endswith(other[:size])), 0)
