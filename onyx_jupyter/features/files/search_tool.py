"""The tool that searches files for lines matching a regular expression, with a time limit."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import StorageError
from onyx_jupyter.features.files.paths import PATH, reading_preview, reading_risk, written_by
from onyx_jupyter.files.content import missing, reading
from onyx_jupyter.files.search import Findings, Search
from onyx_jupyter.files.walk import Found, walk
from onyx_jupyter.messages import Risk, ToolResult
from onyx_jupyter.protocols import ToolPreview
from onyx_jupyter.security.credential_files import holds_credentials
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import tool

LIMIT_S = 10.0
_NOTE_CHARS = 800
_NAMED = 5


class SearchArguments(Arguments):
    pattern: str = Field(min_length=1, max_length=1_000, description="A regular expression; (?i) ignores case.")
    path: str | None = Field(default=None, description=f"Folder or file. {PATH} Default: the server's root.")
    glob: str | None = Field(default=None, min_length=1, max_length=200, description="Only matching files: *.py")


async def _search_preview(arguments: SearchArguments, context: ToolContext) -> ToolPreview:
    return await asyncio.to_thread(reading_preview, "search", arguments.path or "", context)


async def _search_risk_here(arguments: SearchArguments, context: ToolContext) -> Risk:
    return await asyncio.to_thread(reading_risk, arguments.path or "", context)


@tool(
    name="search",
    activity=Activity("search_files", "pattern", "code"),
    arguments=SearchArguments,
    description=(
        "Searches files and notebook cells for a regular expression; returns file:line:text. Skips hidden, binary, "
        "very large and ignored files (.gitignore)."
    ),
    risk="read",
    family="fs",
    preview=_search_preview,
    risk_here=_search_risk_here,
)
async def search_tool(arguments: SearchArguments, context: ToolContext) -> ToolResult:
    """Searches text files and notebook cells in a thread; `regex` gives up on a catastrophic pattern."""
    cancelled = threading.Event()
    try:
        return await asyncio.to_thread(_search, arguments, context, cancelled)
    finally:
        cancelled.set()  # a thread cannot be stopped from outside, so it checks this


def _search(arguments: SearchArguments, context: ToolContext, cancelled: threading.Event) -> ToolResult:
    search = Search(
        arguments.pattern,
        max_chars=max(500, context.max_result_chars - _NOTE_CHARS),
        deadline=time.monotonic() + min(LIMIT_S, context.timeout_s),
        is_cancelled=cancelled.is_set,
    )
    path = arguments.path or ""
    real = context.paths.resolve(path)
    asking: list[Path] = []
    files = (file for file in _files(arguments, real, asking, context) if _is_named(file, arguments.glob))
    try:
        found = search.run(files, context.paths.shown)
    except FileNotFoundError as error:
        raise missing(path, real) from error
    except OSError as error:
        raise StorageError(f"{path!r} could not be searched: {error.strerror or error}.") from error
    text, notes = "\n".join(found.lines), _notes(found, asking, context)
    tail = "".join(f"\n{note}" for note in notes) if text else "\n".join(["Nothing found.", *notes])
    is_cut = found.stopped is not None
    return ToolResult(text + tail, truncated=is_cut, own_tail=tail, **written_by(real, context))


def _files(arguments: SearchArguments, real: Path, asking: list[Path], context: ToolContext) -> Iterator[Found]:
    """Adds to `asking` the files of a folder that are skipped because reading them needs an approval."""
    if real.is_dir() or not real.exists():
        for file in walk(real, context.paths):
            if not holds_credentials("", file.path):
                yield file
            elif _is_named(file, arguments.glob):
                asking.append(file.path)
        return
    with reading(arguments.path or "", real, context.paths) as descriptor:
        size_bytes = os.fstat(descriptor).st_size

        def read(limit_bytes: int) -> bytes:
            with os.fdopen(os.dup(descriptor), "rb") as file:
                return file.read(limit_bytes)

        yield Found(real, size_bytes, read)


def _is_named(file: Found, glob: str | None) -> bool:
    return glob is None or PurePosixPath(file.path.as_posix()).match(glob)


def _notes(found: Findings, asking: Sequence[Path], context: ToolContext) -> list[str]:
    notes = [found.stopped] if found.stopped else []
    if found.too_large:
        notes.append(f"{found.too_large} files over 5 MB were skipped.")
    if found.too_slow:
        notes.append(f"In {found.too_slow} files the pattern took too long; make it simpler.")
    if asking:
        names = ", ".join(map(context.paths.shown, asking[:_NAMED])) + (" …" if len(asking) > _NAMED else "")
        count = "1 file that holds" if len(asking) == 1 else f"{len(asking)} files that hold"
        notes.append(f"Skipped: {count} credentials ({names}). To see one, use read, which asks the user.")
    return [f"[{' '.join(notes)} {found.files} files were searched.]"] if notes else []
