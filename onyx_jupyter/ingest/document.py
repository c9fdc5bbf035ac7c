"""A document as a reader returns it: its text in sections, each with its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Form = Literal["markdown", "plain", "code"]

_CELL = re.compile(r"Cell (\d+)(?: \[(.+)\])?")
_PAGE = re.compile(r"Page (\d+)")


@dataclass(frozen=True, slots=True)
class Place:
    """The place in a document if line numbers don't apply, from 1: the page of a PDF, the cell of a notebook."""

    page: int | None = None
    cell: int | None = None
    cell_id: str | None = None

    def __str__(self) -> str:
        if self.page is not None:
            return f"Page {self.page}"
        if self.cell is None:
            return ""
        return f"Cell {self.cell} [{self.cell_id}]" if self.cell_id else f"Cell {self.cell}"


NOWHERE = Place()


def place_from(words: str) -> Place | None:
    """Parses the `str` of a place; None for other text."""
    if page := _PAGE.fullmatch(words):
        return Place(page=int(page[1]))
    if cell := _CELL.fullmatch(words):
        return Place(cell=int(cell[1]), cell_id=cell[2])
    return None


@dataclass(frozen=True, slots=True)
class Section:
    """A part that is cut separately: a page, a cell, a definition. `heading` is the path of headings above it."""

    text: str
    form: Form
    place: Place = NOWHERE
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """What a reader found. The sections' texts, joined by line breaks, are the whole text.

    `own_lines`: its lines are those of the file; otherwise they are lines of the text extracted from it. `note` says
    what could not be read.
    """

    sections: Sequence[Section]
    title: str = ""
    own_lines: bool = False
    note: str | None = None

    @property
    def text(self) -> str:
        """The whole text, with `\\n` as line ending."""
        return "\n".join(section.text for section in self.sections)
