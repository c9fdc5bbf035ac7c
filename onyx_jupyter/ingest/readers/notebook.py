"""Reads a notebook's Markdown, code and text outputs, cell by cell. It runs nothing and reads no pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, BinaryIO

from onyx_jupyter.errors import DocumentUnreadable
from onyx_jupyter.ingest.document import Document, Form, Place, Section
from onyx_jupyter.ingest.readers.text import decoded
from onyx_jupyter.retrieval.chunking import HEADING_SEPARATOR

MAX_OUTPUT_CHARS = 4_000
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.+?)\s*#*\s*$", re.MULTILINE)
_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?^ {0,3}\1", re.MULTILINE | re.DOTALL)
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_TEXT_TYPES = ("text/markdown", "text/plain", "text/latex")


def read_notebook(name: str, file: BinaryIO) -> Document:
    """A section per cell, under the headings of the Markdown above it. Raises: DocumentUnreadable."""
    try:
        notebook = json.loads(decoded(file.read()))
    except ValueError as error:
        raise DocumentUnreadable(
            "It is not a notebook: its content is not JSON. Open it in JupyterLab to see what is wrong."
        ) from error
    cells = _cells(notebook)
    if cells is None:
        raise DocumentUnreadable(
            "It is not a notebook: it has no cells. Open it in JupyterLab to see what it contains."
        )
    sections: list[Section] = []
    headings: list[tuple[int, str]] = []
    title = ""
    for number, cell in enumerate(cells, start=1):
        if not isinstance(cell, dict):
            continue
        cell_id = cell.get("id")
        place = Place(cell=number, cell_id=cell_id if isinstance(cell_id, str) else None)
        source = _joined(cell.get("source", cell.get("input")))
        if cell.get("cell_type") in ("markdown", "heading"):
            sections.append(Section(source, "markdown", place, _path(_above(headings, source))))
            headings = _after(headings, source)
            title = title or next((words for level, words in headings if level == 1), "")
        else:
            text = "\n\n".join(part for part in (source, _outputs(cell.get("outputs"))) if part.strip())
            form: Form = "code" if cell.get("cell_type") == "code" else "plain"
            sections.append(Section(text, form, place, _path(headings)))
    return Document(sections, title=title)


def _cells(notebook: Any) -> list[Any] | None:
    """The cells, also of the oldest formats, which had worksheets."""
    if not isinstance(notebook, dict):
        return None
    sheets = notebook.get("worksheets")
    if isinstance(sheets, list):
        found = [sheet["cells"] for sheet in sheets if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)]
        return [cell for cells in found for cell in cells]
    cells = notebook.get("cells")
    return cells if isinstance(cells, list) else None


def _above(headings: list[tuple[int, str]], source: str) -> list[tuple[int, str]]:
    """The headings above a Markdown cell: its own first one ends those of its level."""
    first = next(iter(_headings(source)), None)
    return [one for one in headings if first is None or one[0] < first[0]]


def _after(headings: list[tuple[int, str]], source: str) -> list[tuple[int, str]]:
    for level, words in _headings(source):
        headings = [*(one for one in headings if one[0] < level), (level, words)]
    return headings


def _headings(source: str) -> list[tuple[int, str]]:
    return [(len(match[1]), match[2]) for match in _HEADING.finditer(_FENCED.sub("", source))]


def _path(headings: list[tuple[int, str]]) -> str:
    return HEADING_SEPARATOR.join(words for _, words in headings)


def _outputs(outputs: Any) -> str:
    found = [_output(output) for output in outputs if isinstance(output, dict)] if isinstance(outputs, list) else []
    return "\n".join(text for text in found if text.strip())


def _output(output: Mapping[str, Any]) -> str:
    kind = output.get("output_type")
    if kind == "stream":
        text = _joined(output.get("text"))
    elif kind in ("error", "pyerr"):
        text = f"{output.get('ename')}: {output.get('evalue')}"
    else:
        data = output.get("data", output)
        found = (_joined(data.get(name)) for name in _TEXT_TYPES) if isinstance(data, dict) else iter(())
        text = next((text for text in found if text), "")
    text = _COLOURS.sub("", text)
    left = len(text) - MAX_OUTPUT_CHARS
    return text if left <= 0 else f"{text[:MAX_OUTPUT_CHARS]}\n[… {left} more characters of output]"


def _joined(source: Any) -> str:
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""
