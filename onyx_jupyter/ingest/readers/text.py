"""Reads plain text and Markdown, with the file's own lines. It guesses the encoding and refuses what is not text."""

from __future__ import annotations

import codecs
import re
from typing import BinaryIO

from onyx_jupyter.errors import DocumentUnreadable
from onyx_jupyter.ingest.document import Document, Section

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SNIFFED_BYTES = 8_192
_LOST = "\ufffd"
_HEADING = re.compile(r"^ {0,3}#\s+(.+?)\s*#*\s*$", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n(?:---|\.\.\.)\n", re.DOTALL)
_TITLE = re.compile(r"^title:\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE)


def read_text(name: str, file: BinaryIO) -> Document:
    """The text unchanged. Raises: DocumentUnreadable."""
    text, note = decoded_with_note(file.read())
    return Document([Section(text, "plain")], own_lines=True, note=note)


def read_markdown(name: str, file: BinaryIO) -> Document:
    """The Markdown unchanged; the title is from the front matter or the first heading. Raises: DocumentUnreadable."""
    text, note = decoded_with_note(file.read())
    return Document([Section(text, "markdown")], title=_title(text), own_lines=True, note=note)


def decoded(data: bytes) -> str:
    """Decodes by the byte order mark, else as UTF-8, else as Windows-1252. Raises: DocumentUnreadable."""
    return decoded_with_note(data)[0]


def decoded_with_note(data: bytes) -> tuple[str, str | None]:
    """The text, and a note if parts of it could not be decoded. Raises: DocumentUnreadable."""
    text, lost = _decoded(data)
    if not lost:
        return text, None
    return text, f"{lost} of its bytes are not valid in its encoding and could not be read. Save it again as UTF-8."


def _decoded(data: bytes) -> tuple[str, int]:
    """The text, and the number of replacement characters in it."""
    if data.startswith(_UTF16):
        return _replaced(data, "utf-16")
    if b"\0" in data[:_SNIFFED_BYTES]:
        raise DocumentUnreadable("It is a binary file, not text. Add a text, PDF or HTML version of it.")
    try:
        return data.decode("utf-8-sig"), 0
    except UnicodeDecodeError:
        text, lost = _replaced(data, "utf-8-sig")
    # In another encoding, hardly anything beyond ASCII is valid UTF-8 by chance.
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore")) - lost
    return (text, lost) if beyond_ascii > lost else _replaced(data, "cp1252")


def _replaced(data: bytes, encoding: str) -> tuple[str, int]:
    text = data.decode(encoding, "replace")
    return text, text.count(_LOST)


def _title(text: str) -> str:
    text = text[:20_000].replace("\r\n", "\n")
    front = _FRONT_MATTER.match(text)
    found = (_TITLE.search(front[1]) if front else None) or _HEADING.search(text)
    return found[1] if found else ""
