"""Cuts a text into passages that can be found on their own."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from onyx_jupyter.protocols.retrieval import Chunk
from onyx_jupyter.retrieval.boundaries import LINES, PROSE, line_starts, pieces, sentence_starts
from onyx_jupyter.retrieval.markdown_blocks import Block, markdown_blocks, plain_blocks
from onyx_jupyter.text_tokens import token_weight

HEADING_SEPARATOR = " › "
CONTEXT_SEPARATOR = " · "
_WORD = re.compile(r"\w")
_RULES = 2  # incremented whenever the same text and size yield other chunks
_MAX_CONTEXT_CHARS = 300
# `%B` would depend on the machine's locale.
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


@dataclass(frozen=True, slots=True)
class ChunkSize:
    """In tokens as `text_tokens` counts them; the overlap is the most that a chunk repeats of the one before."""

    max_tokens: int = 400
    overlap_tokens: int = 80

    def __post_init__(self) -> None:
        if not 0 <= self.overlap_tokens < self.max_tokens:
            raise ValueError(f"The overlap ({self.overlap_tokens}) has to be less than a chunk ({self.max_tokens}).")


NOTE_SIZE = ChunkSize(400, 80)
PARENT_SIZE = ChunkSize(1024, 0)
CHILD_SIZE = ChunkSize(256, 51)


def fingerprint(*sizes: ChunkSize) -> str:
    """Changes whenever the same text would be cut differently, so that old index entries are recognized."""
    return f"rules {_RULES}: " + ", ".join(f"{size.max_tokens}/{size.overlap_tokens}" for size in sizes)


def chunk_markdown(text: str, *, title: str = "", day: date | None = None, size: ChunkSize = NOTE_SIZE) -> list[Chunk]:
    """Cuts by headings first, then by paragraphs, items, fences and rows; only parts that are too long are cut within.

    A chunk is under one heading path, which is in its context after `day` and `title`.
    """
    return _Cut(text, title, day, markdown=True).chunks(size)


def chunk_children(
    text: str,
    *,
    title: str = "",
    markdown: bool = True,
    parent: ChunkSize = PARENT_SIZE,
    child: ChunkSize = CHILD_SIZE,
) -> list[Chunk]:
    """Small chunks, which match well, each with the lines of the large one around it, which reads well."""
    return _Cut(text, title, None, markdown=markdown).children(parent, child)


def passage_context(title: str = "", headings: Sequence[str] = (), day: date | None = None) -> str:
    """What a passage needs to be understood: the day, the title, the headings."""
    parts = [format_day(day) if day else "", title, HEADING_SEPARATOR.join(headings)]
    return CONTEXT_SEPARATOR.join(part for part in parts if part)[:_MAX_CONTEXT_CHARS]


def format_day(day: date) -> str:
    """The day as written in file names and as a user writes it."""
    return f"{day.isoformat()}, {day.day} {_MONTHS[day.month - 1]} {day.year}"


@dataclass(frozen=True, slots=True)
class _Atom:
    """A part of a block that is never cut, unless an overlap begins at one of its sentences."""

    start: int
    end: int
    block: Block


class _Cut:
    """One text being cut; offsets are into the text with `\\n` as its line ending."""

    def __init__(self, text: str, title: str, day: date | None, *, markdown: bool) -> None:
        self._text = text.replace("\r\n", "\n")
        self._title = title
        self._day = day
        self._line_starts = [0, *line_starts(self._text)]
        self._blocks = markdown_blocks(self._text) if markdown else plain_blocks(self._text)

    def chunks(self, size: ChunkSize) -> list[Chunk]:
        found = []
        for section in self._sections():
            atoms = self._atoms(section, size.max_tokens)
            found += [self._chunk(start, group) for start, group in self._packed(atoms, size)]
        return found

    def children(self, parent: ChunkSize, child: ChunkSize) -> list[Chunk]:
        found = []
        for section in self._sections():
            atoms = self._atoms(section, child.max_tokens)
            for _, family in self._packed(atoms, parent):
                lines = (self._line(family[0].start), self._line(family[-1].end - 1))
                found += [self._chunk(start, group, lines) for start, group in self._packed(family, child)]
        return found

    def _sections(self) -> Iterator[list[Block]]:
        """Headings with the text below them. A heading without text joins what follows if that is under it.

        Other headings without text form a section of their own: else what follows would be found and cited as theirs.
        """
        empty: list[Block] = []
        section: list[Block] = []
        has_text = False
        for block in self._blocks:
            if block.kind == "heading" and has_text:
                yield from filter(None, (empty, section))
                empty, section, has_text = [], [], False
            elif block.kind == "heading" and not _leads_to(section, block):
                empty += section
                section = []
            section.append(block)
            has_text = has_text or (block.kind != "heading" and bool(_WORD.search(self._text, block.start, block.end)))
        yield from filter(None, (empty, section) if has_text else (empty + section,))

    def _atoms(self, section: Sequence[Block], max_tokens: int) -> list[_Atom]:
        return [
            _Atom(start, end, block)
            for block in section
            for start, end in pieces(
                self._text, block.start, block.end, max_tokens, PROSE if block.kind == "prose" else LINES
            )
        ]

    def _packed(self, atoms: Sequence[_Atom], size: ChunkSize) -> Iterator[tuple[int, list[_Atom]]]:
        """Groups of as many atoms as fit, and where each chunk begins: before its first atom if it overlaps."""
        start, group, weight = atoms[0].start, [atoms[0]], self._weight(atoms[0].start, atoms[0].end)
        for atom in atoms[1:]:
            added = self._weight(group[-1].end, atom.end)
            if weight + added <= size.max_tokens:
                group.append(atom)
                weight += added
                continue
            yield start, group
            start = self._overlap_start(start, group, atom, size)
            group, weight = [atom], self._weight(start, atom.end)
        yield start, group

    def _overlap_start(self, start: int, group: Sequence[_Atom], following: _Atom, size: ChunkSize) -> int:
        """The earliest start of an atom or a sentence that repeats no more than allowed and still fits."""
        last = group[-1]
        points = [atom.start for atom in group[1:]]
        if last.block.kind == "prose":
            points += [last.start + point for point in sentence_starts(self._text[last.start : last.end])]
        end = last.end
        for point in points:
            if (
                start < point < end
                and self._weight(point, end) <= size.overlap_tokens
                and self._weight(point, following.end) <= size.max_tokens
            ):
                return point
        return following.start

    def _chunk(self, start: int, group: Sequence[_Atom], parent: tuple[int, int] | None = None) -> Chunk:
        first, last = group[0], group[-1]
        end = start + len(self._text[start : last.end].rstrip())
        headings = last.block.headings
        context = passage_context(self._title, headings, self._day)
        if first.block.table_head and first.block.table_head not in self._text[start:end]:
            context = CONTEXT_SEPARATOR.join(part for part in (context, first.block.table_head) if part)
        return Chunk(
            self._text[start:end],
            self._line(start),
            self._line(max(start, end - 1)),
            HEADING_SEPARATOR.join(headings),
            context[:_MAX_CONTEXT_CHARS],
            parent=parent,
        )

    def _weight(self, start: int, end: int) -> float:
        return token_weight(self._text[start:end])

    def _line(self, offset: int) -> int:
        return bisect_right(self._line_starts, offset)


def _leads_to(section: Sequence[Block], heading: Block) -> bool:
    """Whether the last heading of the section, if any, is among the ancestors of `heading`."""
    above = next((block.headings for block in reversed(section) if block.kind == "heading"), ())
    return not above or (len(above) < len(heading.headings) and heading.headings[: len(above)] == above)
