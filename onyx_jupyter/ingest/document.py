"""A document as a reader gives it: its text in sections, each with its place. It opens no file and cuts nothing."""

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
    """Where in a document, counted from 1, where lines say nothing: the page of a PDF, the cell of a notebook."""

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
    """What `str` made of a place; None for other words."""
    if page := _PAGE.fullmatch(words):
        return Place(page=int(page[1]))
    if cell := _CELL.fullmatch(words):
        return Place(cell=int(cell[1]), cell_id=cell[2])
    return None


@dataclass(frozen=True, slots=True)
class Section:
    """A part that is cut by itself: a page, a cell, a definition. `heading` is the path of headings it lies under."""

    text: str
    form: Form
    place: Place = NOWHERE
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """What a reader found. The sections' texts one after the other, each from a new line on, are the whole text.

    `own_lines`: its lines are those of the file, so that one can look there; else they are of the text that was drawn
    from it. `note` says what could not be read of it.
    """

    sections: Sequence[Section]
    title: str = ""
    own_lines: bool = False
    note: str | None = None

    @property
    def text(self) -> str:
        """The whole of it, with `\\n` at the ends of lines."""
        return "\n".join(section.text for section in self.sections)
