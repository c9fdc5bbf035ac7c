"""The supported kinds of files and their readers; `reader_of` is the one list. A reader never opens a file by its name.

Each reader gets a name, which determines the kind, and an open file; it raises DocumentUnreadable with a message for
the user.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import BinaryIO

from onyx_jupyter.errors import DocumentUnreadable
from onyx_jupyter.ingest.document import Document, Section
from onyx_jupyter.ingest.readers.code import CODE_SUFFIXES, read_code
from onyx_jupyter.ingest.readers.notebook import read_notebook
from onyx_jupyter.ingest.readers.page import read_page
from onyx_jupyter.ingest.readers.pdf import read_pdf
from onyx_jupyter.ingest.readers.table import read_delimited, read_parquet
from onyx_jupyter.ingest.readers.text import read_markdown, read_text

READERS_VERSION = 2  # incremented whenever the same file would yield another text
MAX_FILE_BYTES = 50_000_000
MAX_TEXT_CHARS = 8_000_000
MAX_TEXT_LINES = 200_000


@dataclass(frozen=True, slots=True)
class Reader:
    """`sampled`: it reads only a part of the file, so that the file's size does not matter."""

    kind: str
    suffixes: frozenset[str]
    read: Callable[[str, BinaryIO], Document]
    sampled: bool = False


_TEXT = frozenset(
    [
        ".txt",
        ".text",
        ".rst",
        ".adoc",
        ".org",
        ".tex",
        ".bib",
        ".log",
        ".json",
        ".jsonl",
        ".ndjson",
        ".yaml",
        ".yml",
        ".toml",
        ".ini",
        ".cfg",
        ".conf",
        ".properties",
        ".xml",
        ".srt",
        ".vtt",
        ".eml",
    ]
)
READERS: Sequence[Reader] = (
    Reader("Markdown", frozenset({".md", ".markdown", ".mdx", ".qmd", ".rmd"}), read_markdown),
    Reader("text", _TEXT, read_text),
    Reader("HTML", frozenset({".html", ".htm", ".xhtml"}), read_page),
    Reader("PDF", frozenset({".pdf"}), read_pdf),
    Reader("notebook", frozenset({".ipynb"}), read_notebook),
    Reader("table", frozenset({".csv", ".tsv", ".tab"}), read_delimited, sampled=True),
    Reader("table", frozenset({".parquet", ".pq"}), read_parquet, sampled=True),
    Reader("code", CODE_SUFFIXES, read_code),
)
_BY_SUFFIX = {suffix: reader for reader in READERS for suffix in reader.suffixes}
_OF_THE_REST = Reader("text", frozenset(), read_text)


def reader_of(name: str) -> Reader | None:
    """The reader of files with such a name; a name without a suffix (README) counts as text."""
    suffix = PurePosixPath(name).suffix.lower()
    return _BY_SUFFIX.get(suffix) if suffix else _OF_THE_REST


def is_sampled(name: str) -> bool:
    """Whether only a part of such a file is read, whatever its size."""
    reader = reader_of(name)
    return reader is not None and reader.sampled


def read_document(name: str, file: BinaryIO) -> Document:
    """Reads the text of that open file. Blocks. Raises: DocumentUnreadable for any bad content; OSError of the disk.

    A file of an unknown kind is tried as text, and refused if it is not. Raises MemoryError if memory is limited.
    """
    check_size(name, file)
    reader = reader_of(name) or _OF_THE_REST
    try:
        document = reader.read(name, file)
    except (DocumentUnreadable, MemoryError, OSError):
        raise
    except Exception as error:  # a library met unexpected bytes
        raise DocumentUnreadable(
            f"It could not be read as {reader.kind}: {_short(error)}. Open it in its own program and save it again."
        ) from error
    return _checked(document)


def check_size(name: str, file: BinaryIO) -> None:
    """Raises DocumentUnreadable if it is too large to be read; a sampled file never is."""
    reader = reader_of(name) or _OF_THE_REST
    size_bytes = file.seek(0, 2)
    file.seek(0)
    if size_bytes > MAX_FILE_BYTES and not reader.sampled:
        raise DocumentUnreadable(
            f"It is {size_bytes // 1_000_000} MB; the limit is {MAX_FILE_BYTES // 1_000_000} MB. Split it, "
            "or add only the part that matters."
        )


def _checked(document: Document) -> Document:
    """The document with line endings and characters that the index can store. Raises: DocumentUnreadable."""
    sections = [_clean(section) for section in document.sections]
    sections = [section for section in sections if document.own_lines or section.text.strip()]
    document = replace(document, sections=sections, title=" ".join(document.title.split())[:300])
    if not any(section.text.strip() for section in sections):
        raise DocumentUnreadable("It contains no text.")
    text = document.text
    lines = text.count("\n") + 1
    if len(text) > MAX_TEXT_CHARS or lines > MAX_TEXT_LINES:
        raise DocumentUnreadable(
            f"It has {lines} lines and {len(text)} characters of text; the limits are {MAX_TEXT_LINES} lines "
            f"and {MAX_TEXT_CHARS} characters. Split it, or add only the part that matters."
        )
    return document


def _clean(section: Section) -> Section:
    text = section.text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return replace(section, text=text.encode("utf-8", "replace").decode("utf-8"))


def _short(error: Exception) -> str:
    words = " ".join(str(error).split()) or type(error).__name__
    return words[:200].rstrip(".")
