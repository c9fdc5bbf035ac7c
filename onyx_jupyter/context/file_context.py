"""A file or folder attached to a message, as text of bounded length. Nothing outside of the roots is read."""

from __future__ import annotations

import contextlib
import csv
import io
import os
from itertools import islice
from pathlib import Path

from onyx_jupyter.files.content import missing, reading, size
from onyx_jupyter.files.kinds import SNIFFED_BYTES, Kind, kind_of
from onyx_jupyter.messages import head_and_tail
from onyx_jupyter.security.path_guard import PathGuard

TABLE_ROWS = 5
FOLDER_NAMES = 50
_TABLES = {".csv": ",", ".tsv": "\t"}
_CELL_CHARS = 60
_COLUMNS = 40
_BYTES_PER_CHAR = 4


def file_text(path: str, paths: PathGuard, max_chars: int) -> str:
    """Text, shortened in the middle; for a table its first rows; for anything else its kind and size.

    Blocks; call it in a thread. Raises: ToolError (PathNotAllowed, nothing there), StorageError.
    """
    real = paths.resolve(path)
    if real.is_dir():
        return _folder(real, paths)
    with reading(path, real, paths) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
        size_bytes = os.fstat(descriptor).st_size
        start = file.read(SNIFFED_BYTES)
        kind = kind_of(real.name, start)
        if kind.encoding is None:
            way = "Use read to see it." if kind.image else "Load it with code."
            return f"[{kind.words}, {size(size_bytes)}. {way}]"
        if real.suffix.lower() == ".ipynb":
            return f"[Notebook, {size(size_bytes)}. Use the notebook tools to read it.]"
        if (separator := _TABLES.get(real.suffix.lower())) is not None:
            return _table(start, kind, separator, size_bytes)
        return _text(file, kind, size_bytes, max_chars)


def _text(file: io.BufferedReader, kind: Kind, size_bytes: int, max_chars: int) -> str:
    encoding = kind.encoding or "utf-8"
    limit_bytes = max_chars * _BYTES_PER_CHAR
    file.seek(0)
    if size_bytes <= limit_bytes:
        return head_and_tail(file.read(limit_bytes).decode(encoding, "replace"), max_chars) or "[The file is empty.]"
    beginning = file.read(limit_bytes).decode(encoding, "replace")[:max_chars]
    return f"{beginning}\n[… only the beginning: the file is {size(size_bytes)} …]"


def _table(start: bytes, kind: Kind, separator: str, size_bytes: int) -> str:
    """The header and a few rows; a row that the sample cuts off is left out."""
    whole = size_bytes <= len(start)
    sample = start if whole else start[: start.rfind(b"\n") + 1] or start
    lines = io.StringIO(sample.decode(kind.encoding or "utf-8", "replace"), newline="")
    rows = _rows(lines, separator)
    columns = max((len(row) for row in rows), default=0)
    shown = [" | ".join(_short(cell) for cell in row[:_COLUMNS]) for row in rows[: TABLE_ROWS + 1]]
    more = ["…"] if len(rows) > TABLE_ROWS + 1 or not whole else []
    wide = f", the first {_COLUMNS} shown" if columns > _COLUMNS else ""
    return "\n".join([f"[Table of {columns} columns{wide}, {size(size_bytes)}; header and first rows:]", *shown, *more])


def _rows(lines: io.StringIO, separator: str) -> list[list[str]]:
    rows: list[list[str]] = []
    with contextlib.suppress(csv.Error):  # an unterminated cell, or one that is too long
        rows.extend(islice(csv.reader(lines, delimiter=separator), TABLE_ROWS + 2))
    return rows


def _short(cell: str) -> str:
    line = " ".join(cell.split())
    return line if len(line) <= _CELL_CHARS else f"{line[: _CELL_CHARS - 1]}…"


def _folder(real: Path, paths: PathGuard) -> str:
    try:
        with paths.folder(real) as folder:
            names = sorted(
                f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name for entry in folder.entries()
            )
    except FileNotFoundError as error:
        raise missing(str(real), real) from error
    more = [f"[… {len(names) - FOLDER_NAMES} more …]"] if len(names) > FOLDER_NAMES else []
    return "\n".join([f"[Folder, {len(names)} inside:]", *names[:FOLDER_NAMES], *more])
