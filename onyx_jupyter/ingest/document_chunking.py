"""Cuts a document into the passages that are indexed: small ones are matched, the larger ones around them returned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from onyx_jupyter.ingest.document import Document, Place, Section, place_from
from onyx_jupyter.protocols.retrieval import Chunk
from onyx_jupyter.retrieval.chunking import (
    CHILD_SIZE,
    HEADING_SEPARATOR,
    PARENT_SIZE,
    chunk_children,
    fingerprint,
    passage_context,
)
from onyx_jupyter.text_tokens import token_weight

_RULES = 1  # incremented whenever the same document would be cut differently
_LINES_REPEATED = 3  # lines of code, at the beginning of the next passage


def chunking_fingerprint(readers_version: int) -> str:
    """Changes whenever the same file would yield other passages."""
    return f"documents {_RULES}, readers {readers_version}, {fingerprint(PARENT_SIZE, CHILD_SIZE)}"


def cut(document: Document, title: str) -> list[Chunk]:
    """Passages with line numbers in the whole text; a page or a cell comes first in their heading path.

    `title` is used if the document has none of its own.
    """
    chunks: list[Chunk] = []
    first_line = 1
    for section in document.sections:
        found = _of_section(section, document.title or title)
        chunks += [_moved(chunk, first_line - 1, _headings(section, chunk)) for chunk in found]
        first_line += section.text.count("\n") + 1
    return chunks


def place_and_heading(heading: str) -> tuple[Place | None, str]:
    """The page or cell at the beginning of a passage's heading path, and the rest of the path."""
    first, _, rest = heading.partition(HEADING_SEPARATOR)
    place = place_from(first)
    return (place, rest) if place else (None, heading)


def _of_section(section: Section, title: str) -> list[Chunk]:
    if section.form == "code":
        return list(_code_chunks(section, title))
    above = HEADING_SEPARATOR.join(part for part in (title, section.heading) if part)
    return chunk_children(section.text, title=above, markdown=section.form == "markdown")


def _code_chunks(section: Section, title: str) -> Iterator[Chunk]:
    """Groups of lines up to the size of a child; a definition larger than a parent is split into several."""
    lines = section.text.split("\n")
    context = passage_context(title, (section.heading,) if section.heading else ())
    for first, end in _groups(lines, 0, len(lines), PARENT_SIZE.max_tokens, 0):
        parent = _without_blank_ends(lines, first, end)
        if parent is None:
            continue
        for start, stop in _groups(lines, first, end, CHILD_SIZE.max_tokens, _LINES_REPEATED):
            kept = _without_blank_ends(lines, start, stop)
            if kept is None:
                continue
            text = "\n".join(lines[kept[0] : kept[1]])
            lines_of_parent = (parent[0] + 1, parent[1])
            for part in _parts(text):
                yield Chunk(part, kept[0] + 1, kept[1], "", context, parent=lines_of_parent)


def _groups(lines: list[str], start: int, end: int, max_tokens: int, repeated: int) -> Iterator[tuple[int, int]]:
    """Groups of consecutive lines, as many as fit, at least one each."""
    first, weight = start, 0.0
    for place in range(start, end):
        added = token_weight(lines[place] + "\n")
        if place > first and weight + added > max_tokens:
            yield first, place
            back = max(first + 1, place - repeated)
            first, weight = back, sum(token_weight(line + "\n") for line in lines[back:place])
            if weight + added > max_tokens:
                first, weight = place, 0.0
        weight += added
    if first < end:
        yield first, end


def _without_blank_ends(lines: list[str], start: int, end: int) -> tuple[int, int] | None:
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return (start, end) if start < end else None


def _parts(text: str) -> Iterator[str]:
    """The text itself, but a single line that is too long in several parts."""
    if token_weight(text) <= CHILD_SIZE.max_tokens or "\n" in text:
        yield text
        return
    yield from (chunk.text for chunk in chunk_children(text, markdown=False))


def _headings(section: Section, chunk: Chunk) -> str:
    return HEADING_SEPARATOR.join(part for part in (str(section.place), section.heading, chunk.heading) if part)


def _moved(chunk: Chunk, lines: int, heading: str) -> Chunk:
    parent = (chunk.parent[0] + lines, chunk.parent[1] + lines) if chunk.parent else None
    return replace(
        chunk, start_line=chunk.start_line + lines, end_line=chunk.end_line + lines, parent=parent, heading=heading
    )
