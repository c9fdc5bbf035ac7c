"""Reads the text of a PDF, page by page. It reads no pictures, so a scan has no text."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, BinaryIO

from onyx_jupyter.errors import DocumentUnreadable
from onyx_jupyter.ingest.document import Document, Place, Section

if TYPE_CHECKING:
    from pypdf import PdfReader

MAX_PAGES = 5_000


def read_pdf(name: str, file: BinaryIO) -> Document:
    """A section per page. Raises: DocumentUnreadable if it is encrypted, or has no text; MemoryError."""
    import pypdf

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it warns of each oddity that it repairs
    reader = pypdf.PdfReader(file, strict=False)
    _open(reader)
    count = len(reader.pages)
    if count > MAX_PAGES:
        raise DocumentUnreadable(f"It has {count} pages; the limit is {MAX_PAGES}. Split it.")
    sections, broken = [], []
    for number in range(1, count + 1):
        try:
            text = reader.pages[number - 1].extract_text()
        except MemoryError:  # not the page's fault: with more memory, or in a fresh process, it can be read
            raise
        except Exception:  # a page that can't be read must not lose the others
            broken.append(number)
            continue
        sections.append(Section(text.strip("\n"), "plain", Place(page=number)))
    if not any(section.text.strip() for section in sections):
        raise DocumentUnreadable(
            "None of its pages could be read. Open it in its own program and save it again."
            if broken
            else "It contains no text, so it is probably a scan. Run text recognition (OCR) on it first."
        )
    return Document(sections, title=_title(reader), note=_note(broken, count))


def _open(reader: PdfReader) -> None:
    from pypdf.errors import DependencyError

    if not reader.is_encrypted:
        return
    try:
        opened = reader.decrypt("")
    except (DependencyError, NotImplementedError):
        opened = None
    if not opened:
        raise DocumentUnreadable("It is encrypted. Save a copy without a password and add that.")


def _title(reader: PdfReader) -> str:
    try:
        found = reader.metadata.title if reader.metadata else None
    except Exception:  # damaged metadata says nothing about the text
        return ""
    return found if isinstance(found, str) else ""


def _note(broken: list[int], count: int) -> str | None:
    if not broken:
        return None
    named = ", ".join(map(str, broken[:10])) + (" …" if len(broken) > 10 else "")
    return f"{len(broken)} of {count} pages could not be read: {named}."
