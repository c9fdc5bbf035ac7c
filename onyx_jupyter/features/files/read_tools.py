"""The tools that read files and list folders inside the allowed roots."""

from __future__ import annotations

import asyncio
import base64
import io
import os
from pathlib import Path

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import StorageError, ToolError
from onyx_jupyter.features.files.paths import PATH, notebook_path, reading_preview, reading_risk, written_by
from onyx_jupyter.files.content import missing, reading, size
from onyx_jupyter.files.kinds import SNIFFED_BYTES, Kind, kind_of
from onyx_jupyter.files.lines import LineOutOfRange, page
from onyx_jupyter.messages import Attachment, Risk, ToolResult
from onyx_jupyter.protocols import ToolPreview
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import tool

MAX_IMAGE_BYTES = 5_000_000
MAX_ENTRIES = 500
_NOTE_CHARS = 500


class ReadArguments(Arguments):
    path: str = Field(min_length=1, description=PATH)
    from_: int | None = Field(default=None, ge=1, alias="from", description="First line, counted from 1.")
    lines: int | None = Field(default=None, ge=1, description="How many lines; default: as many as fit.")
    column: int | None = Field(default=None, ge=1, description="For a very long line: the character to start at.")


async def _read_preview(arguments: ReadArguments, context: ToolContext) -> ToolPreview:
    return await asyncio.to_thread(reading_preview, "read", arguments.path, context)


async def _read_risk_here(arguments: ReadArguments, context: ToolContext) -> Risk:
    return await asyncio.to_thread(reading_risk, arguments.path, context)


@tool(
    name="read",
    activity=Activity("read_file", "path", "path", opens=("file",)),
    arguments=ReadArguments,
    description=(
        "Reads a file: each line after its number and a tab. Long files come in pages; continue with `from`. Images "
        "(PNG, JPEG, GIF, WebP) are shown to you. For notebooks use notebook_read."
    ),
    risk="read",
    family="fs",
    preview=_read_preview,
    risk_here=_read_risk_here,
)
async def read_tool(arguments: ReadArguments, context: ToolContext) -> ToolResult:
    """Returns text with line numbers, an image as an image, and for anything else only its type.

    Each line is prefixed with its number and a tab, as in `cat -n`; the rest is the line's exact text, as `edit`
    needs it.
    """
    return await asyncio.to_thread(_read, arguments, context)


class ListArguments(Arguments):
    path: str | None = Field(default=None, description=f"{PATH} Default: the server's root.")


@tool(
    name="list",
    activity=Activity("list_folder", "path", "path", otherwise="/"),
    arguments=ListArguments,
    description="Lists a folder: subfolders first, then files with their sizes.",
    risk="read",
    family="fs",
)
async def list_tool(arguments: ListArguments, context: ToolContext) -> ToolResult:
    """Lists one folder, without its subfolders' contents."""
    return await asyncio.to_thread(_list, arguments.path or "", context)


def _read(arguments: ReadArguments, context: ToolContext) -> ToolResult:
    path, real = arguments.path, context.paths.resolve(arguments.path)
    notebook = notebook_path(real, context)
    if notebook is not None and real.exists():
        raise ToolError(f"{path!r} is a notebook. Use notebook_read with path {notebook!r}.").mark_message_safe()
    with reading(path, real, context.paths) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
        size_bytes = os.fstat(descriptor).st_size
        kind = kind_of(real.name, file.read(SNIFFED_BYTES))
        file.seek(0)
        if kind.image is not None:
            return _image(path, real, kind, size_bytes, file, context)
        if kind.encoding is None:
            what = f"{path} is not text but a {kind.words}, {size(size_bytes)}."
            return ToolResult(f"{what} Load it with code in a notebook or a program.", origin="own")
        return _lines(arguments, real, kind.encoding, size_bytes, file, context)


def _lines(
    arguments: ReadArguments, real: Path, encoding: str, size_bytes: int, file: io.BufferedReader, context: ToolContext
) -> ToolResult:
    try:
        found = page(
            file,
            encoding,
            size_bytes,
            first=arguments.from_ or 1,
            count=arguments.lines,
            column=arguments.column or 1,
            max_chars=max(500, context.max_result_chars - _NOTE_CHARS),
        )
    except LineOutOfRange as error:
        count = f"{arguments.path!r} has {error.count} lines, so none from {arguments.from_} on."
        raise ToolError(count).mark_message_safe() from error
    notes = [found.note or (f"{arguments.path} is empty." if not found.text else "")]
    if encoding not in ("utf-8", "utf-8-sig"):
        notes.append(f"[Stored as {encoding}.]")
    lead = "\n" if found.text else ""
    tail = lead.join(["", "\n".join(said)]) if (said := [note for note in notes if note]) else ""
    writer = written_by(real, context)
    return ToolResult(found.text + tail, truncated=bool(found.note), own_tail=tail, **writer)


def _image(
    path: str, real: Path, kind: Kind, size_bytes: int, file: io.BufferedReader, context: ToolContext
) -> ToolResult:
    if size_bytes > MAX_IMAGE_BYTES:
        raise ToolError(
            f"{path!r} is a {kind.words} of {size(size_bytes)}; up to {size(MAX_IMAGE_BYTES)} can be shown. "
            "Make a smaller copy with code, then read that."
        )
    data = base64.b64encode(file.read(MAX_IMAGE_BYTES)).decode()
    picture = Attachment("image", kind.image or "", data, real.name)
    return ToolResult(f"{path}: {kind.words}, {size(size_bytes)}.", attachments=(picture,), origin="own")


def _list(path: str, context: ToolContext) -> ToolResult:
    real = context.paths.resolve(path)
    try:
        with context.paths.folder(real) as folder:
            entries = [(entry.name, *_described(entry)) for entry in folder.entries()]
    except FileNotFoundError as error:
        raise missing(path, real) from error
    except NotADirectoryError as error:
        raise ToolError(f"{path!r} is a file, not a folder. Use read.").mark_message_safe() from error
    except OSError as error:
        raise StorageError(f"{path!r} could not be listed: {error.strerror or error}.") from error
    entries.sort(key=lambda entry: (not entry[1], entry[0].casefold(), entry[0]))
    folders = sum(is_folder for _, is_folder, _ in entries)
    shown, used = [], 0
    for name, _, details in entries[:MAX_ENTRIES]:
        line = f"{_one_line(name)}{details}"
        used += len(line) + 1
        if used > context.max_result_chars - _NOTE_CHARS:
            break
        shown.append(line)
    left_out = len(entries) - len(shown)
    place = "The server’s root" if real == context.server_root.resolve() else context.paths.shown(real)
    head = f"{place}: {folders} folders, {len(entries) - folders} files"
    more = [f"[{left_out} more are left out. Find names with search or a program.]"] if left_out else []
    tail = "\n" + "\n".join(more) if more else ""
    text = "".join(f"{line}\n" for line in shown).removesuffix("\n")
    head = f"{head}\n" if shown else head
    return ToolResult(head + text + tail, truncated=left_out > 0, own_head=head, own_tail=tail)


def _described(entry: os.DirEntry[str]) -> tuple[bool, str]:
    """Whether it is a folder, and the text shown after its name."""
    try:
        if entry.is_symlink():
            return False, " (link)"
        if entry.is_dir(follow_symlinks=False):
            return True, "/"
        return False, f"  {size(entry.stat(follow_symlinks=False).st_size)}"
    except OSError:
        return False, ""


def _one_line(name: str) -> str:
    return name if name.isprintable() else repr(name)
