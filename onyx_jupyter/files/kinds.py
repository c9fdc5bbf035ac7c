"""Determines a file's kind from its first bytes: text in some encoding, a picture, or something else."""

from __future__ import annotations

import codecs
import mimetypes
from dataclasses import dataclass

SNIFFED_BYTES = 65_536

_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_NAMED = (
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive (also .xlsx, .docx, .npz)"),
    (b"\x1f\x8b", "gzip archive"),
    (b"PAR1", "Parquet table"),
    (b"ARROW1", "Arrow table"),
    (b"\x89HDF\r\n\x1a\n", "HDF5 file"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"\x93NUMPY", "NumPy array"),
    (b"\x7fELF", "program"),
)
_MARKS = (  # the longer first: UTF-32's mark begins with UTF-16's
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """`encoding` for a text, `image` (a mime type) for a picture; both None for anything else, described by `words`."""

    words: str
    encoding: str | None = None
    image: str | None = None


def kind_of(name: str, start: bytes) -> Kind:
    """The kind of a file with that name and these first bytes (`SNIFFED_BYTES` of them, or all)."""
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            return Kind("text", encoding=encoding)
    image = next((mime for magic, mime in _IMAGES if start.startswith(magic)), None)
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        image = "image/webp"
    if image is not None:
        return Kind(f"{image.removeprefix('image/').upper()} picture", image=image)
    named = next((words for magic, words in _NAMED if start.startswith(magic)), None)
    if named is not None or b"\0" in start:
        return Kind(named or mimetypes.guess_type(name)[0] or "binary file")
    return Kind("text", encoding="utf-8" if _is_utf8(start) else "latin-1")


def _is_utf8(start: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start, final=len(start) < SNIFFED_BYTES)
    except UnicodeDecodeError:
        return False
    return True
