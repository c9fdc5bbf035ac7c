"""Plain text and Markdown, whose lines are the file's own. It guesses an encoding and refuses what is no text."""

from __future__ import annotations

import codecs
import re
from typing import BinaryIO

from onyx_jupyter.errors import DocumentUnreadable
from onyx_jupyter.ingest.document import Document, Section

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SNIFFED_BYTES = 8_192
_HEADING = re.compile(r"^ {0,3}#\s+(.+?)\s*#*\s*$", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n(?:---|\.\.\.)\n", re.DOTALL)
_TITLE = re.compile(r"^title:\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE)


def read_text(name: str, file: BinaryIO) -> Document:
    """The text as it is. Raises: DocumentUnreadable."""
    return Document([Section(decoded(file.read()), "plain")], own_lines=True)


def read_markdown(name: str, file: BinaryIO) -> Document:
    """The Markdown as it is; its title is that of the front matter or the first heading. Raises: DocumentUnreadable."""
    text = decoded(file.read())
    return Document([Section(text, "markdown")], title=_title(text), own_lines=True)


def decoded(data: bytes) -> str:
    """By its byte order mark, else UTF-8, else Windows' Western European. Raises: DocumentUnreadable."""
    if data.startswith(_UTF16):
        return data.decode("utf-16", "replace")
    if b"\0" in data[:_SNIFFED_BYTES]:
        raise DocumentUnreadable("It is no text but a binary file. Add a text, a PDF or a page that was made from it.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _title(text: str) -> str:
    text = text[:20_000].replace("\r\n", "\n")
    front = _FRONT_MATTER.match(text)
    found = (_TITLE.search(front[1]) if front else None) or _HEADING.search(text)
    return found[1] if found else ""
