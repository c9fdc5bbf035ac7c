"""The tools that write and edit files inside the allowed roots. They refuse notebooks and replace files atomically."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import InvalidArguments, StorageError, ToolError
from onyx_jupyter.features.files.paths import PATH, is_notebook
from onyx_jupyter.files.content import Content, load, size
from onyx_jupyter.files.diff import unified_diff
from onyx_jupyter.files.replace import NoUniqueMatch, replace_once
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.protocols import ExactScope, ToolPreview
from onyx_jupyter.security.credential_files import holds_credentials
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.instruction_files import why_asked
from onyx_jupyter.toolsets.tool import tool

MAX_CONTENT_CHARS = 5_000_000
_PRIVATE_FILE, _PRIVATE_FOLDER = 0o600, 0o700
_CRLF = "CRLF line ends"
_FILE, _FOLDER = 0o666, 0o777  # minus the umask, as in any editor


class WriteArguments(Arguments):
    path: str = Field(min_length=1, description=PATH)
    content: str = Field(max_length=MAX_CONTENT_CHARS, description="The file's whole new content.")


async def _write_preview(arguments: WriteArguments, context: ToolContext) -> ToolPreview:
    return await asyncio.to_thread(_preview_write, arguments, context)


@tool(
    name="write",
    activity=Activity("write_file", "path", "path", opens=("file",)),
    arguments=WriteArguments,
    description="Writes a whole file, new or replacing the old one; creates missing folders. Use edit for a part.",
    risk="write",
    family="fs",
    preview=_write_preview,
)
async def write_tool(arguments: WriteArguments, context: ToolContext) -> ToolResult:
    """Creates or replaces a whole file, atomically."""
    return await asyncio.to_thread(_write, arguments, context)


class EditArguments(Arguments):
    path: str = Field(min_length=1, description=PATH)
    old_text: str = Field(min_length=1, max_length=MAX_CONTENT_CHARS)
    new_text: str = Field(max_length=MAX_CONTENT_CHARS)


async def _edit_preview(arguments: EditArguments, context: ToolContext) -> ToolPreview:
    return await asyncio.to_thread(_preview_edit, arguments, context)


@tool(
    name="edit",
    activity=Activity("edit_file", "path", "path", opens=("file",)),
    arguments=EditArguments,
    description=(
        "Replaces one passage of a text file. oldText must be exact (without read's line numbers) and occur once. "
        "Line endings and encoding are kept."
    ),
    risk="write",
    family="fs",
    preview=_edit_preview,
)
async def edit_tool(arguments: EditArguments, context: ToolContext) -> ToolResult:
    """Replaces one passage; keeps encoding and line endings."""
    return await asyncio.to_thread(_edit, arguments, context)


@dataclass(frozen=True, slots=True)
class _Edit:
    """What an edit would do to the current file."""

    real: Path
    state: str | None
    content: Content
    text: str
    data: bytes
    first_line: int
    last_line: int


def _preview_write(arguments: WriteArguments, context: ToolContext) -> ToolPreview:
    real, data = _target(arguments.path, context), _utf8(arguments.content)
    context.memory.state(real)  # raises before the approval if it is too large to keep a version of
    shown = context.paths.shown(real)
    details: dict[str, Any] = {"path": shown}
    if real.exists():
        details |= _replacing(arguments, real, len(data), context)
        summary = f"Replace the content of {shown}"
    else:
        details |= {"content": arguments.content}
        summary = f"Write the new file {shown}"
    return _preview("write", summary, details, shown, why_asked(real, context))


def _replacing(arguments: WriteArguments, real: Path, size_bytes: int, context: ToolContext) -> dict[str, Any]:
    """The diff if the old content is text; otherwise the whole new content and what is lost."""
    try:
        old = load(arguments.path, real, context.paths)
    except ToolError as error:
        return {"content": arguments.content, "replaces": str(error)}
    found: dict[str, Any] = {"diff": unified_diff(old.text, arguments.content)}
    if ends := _changed_ends(old.text, arguments.content):
        found["lineEnds"] = ends
    if (old.encoding, old.mark) != ("utf-8", b"") and size_bytes:
        found["encoding"] = f"{old.encoding}{' with a byte order mark' if old.mark else ''} becomes utf-8"
    return found


def _write(arguments: WriteArguments, context: ToolContext) -> ToolResult:
    real, data = _target(arguments.path, context), _utf8(arguments.content)
    existed, state = real.exists(), context.memory.state(real)
    _store(arguments.path, real, data, state, context)
    done = "Replaced the content of" if existed else "Wrote the new file"
    what = f"{_lines(arguments.content)}, {size(len(data))}"
    return ToolResult(f"{done} {context.paths.shown(real)}: {what}.", origin="own")


def _preview_edit(arguments: EditArguments, context: ToolContext) -> ToolPreview:
    edit = _plan(arguments, context)
    shown = context.paths.shown(edit.real)
    details = {"path": shown, "diff": unified_diff(edit.content.text, edit.text)}
    if ends := _changed_ends(edit.content.text, edit.text):
        details["lineEnds"] = ends
    return _preview("edit", f"Edit {shown}", details, shown, why_asked(edit.real, context))


def _edit(arguments: EditArguments, context: ToolContext) -> ToolResult:
    edit = _plan(arguments, context)
    _store(arguments.path, edit.real, edit.data, edit.state, context)
    lines = f"line {edit.first_line}" + (f" to {edit.last_line}" if edit.last_line != edit.first_line else "")
    return ToolResult(f"Edited {context.paths.shown(edit.real)}: the new text is in {lines}.", origin="own")


def _plan(arguments: EditArguments, context: ToolContext) -> _Edit:
    if arguments.old_text == arguments.new_text:
        raise InvalidArguments("`oldText` and `newText` are the same: nothing would change.")
    real = _target(arguments.path, context)
    state = context.memory.state(real)  # before reading the text, so that a save in between is detected
    content = load(arguments.path, real, context.paths)
    try:
        replaced = replace_once(content.text, arguments.old_text, arguments.new_text)
    except NoUniqueMatch as error:
        if holds_credentials(arguments.path, real):  # the error would show contents that need an approval to read
            raise NoUniqueMatch(
                "oldText does not occur exactly once. Read the file first, which asks the user."
            ) from error
        raise
    return _Edit(
        real,
        state,
        content,
        replaced.text,
        content.encoded(replaced.text),
        replaced.first_line,
        replaced.last_line,
    )


def _target(path: str, context: ToolContext) -> Path:
    """Returns the real path of a file that may be changed. Raises: ToolError."""
    real = context.paths.resolve(path)
    if is_notebook(path, real):
        raise ToolError(
            f"{path!r} is a notebook: it may be open, and its cells have ids. "
            "Use notebook_insert_cell and notebook_edit_cell."
        ).mark_message_safe()
    if real.is_dir() or path.endswith(("/", "\\")):
        raise ToolError(f"{path!r} is a folder, not a file.").mark_message_safe()
    return real


def _store(path: str, real: Path, data: bytes, state: str | None, context: ToolContext) -> None:
    """`state` is the checksum of the memory file that the new content is based on."""
    private = context.paths.in_workspace(real)
    make_mode, mode = (_PRIVATE_FOLDER, _PRIVATE_FILE) if private else (_FOLDER, _FILE)
    try:
        writing = context.memory.writing(real, data, author="agent", session_key=context.session_key, based_on=state)
        with writing as refuse_other, context.paths.folder(real.parent, make_mode=make_mode) as folder:
            folder.replace(real.name, data, mode, check=None if state is None else refuse_other)
    except NotADirectoryError as error:
        raise ToolError(f"{path!r} cannot be written: a part of the path is a file or a link, not a folder.") from error
    except PermissionError as error:
        raise ToolError(f"{path!r} cannot be written: permission denied.") from error
    except OSError as error:
        raise StorageError(f"{path!r} could not be written: {error.strerror or error}.") from error


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArguments("`content` contains half of a surrogate pair, which no file can store.") from error


def _changed_ends(old: str, new: str) -> str:
    """Describes changed line endings, which a line diff does not show."""
    before, after = _ends(old), _ends(new)
    if before == after or not after:
        return ""
    return f"{before} become {after}" if before else _CRLF if after == _CRLF else ""


def _ends(text: str) -> str:
    windows = text.count("\r\n")
    unix = text.count("\n") - windows
    return "mixed line ends" if windows and unix else _CRLF if windows else "LF line ends" if unix else ""


def _lines(text: str) -> str:
    count = text.count("\n") + (not text.endswith("\n") and bool(text))
    return "1 line" if count == 1 else f"{count} lines"


def _preview(tool: str, summary: str, details: Mapping[str, Any], shown: str, must_ask: str) -> ToolPreview:
    return ToolPreview(
        summary,
        details,
        grant=f"{tool} {json.dumps(shown, ensure_ascii=False)}",
        grant_text=f"every {tool} of {shown}",
        exactly=ExactScope({"path": shown}, without=("path",)),
        must_ask=must_ask,
    )
