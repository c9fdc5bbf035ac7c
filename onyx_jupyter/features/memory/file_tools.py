"""The tools that search, read and append to the agent's memory files. They never change existing text."""

from __future__ import annotations

import json
from datetime import date

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import InvalidArguments, ToolError
from onyx_jupyter.memory.targets import MemoryTarget, memory_target
from onyx_jupyter.messages import Label, Link, ToolResult
from onyx_jupyter.processes.output_buffer import OutputBuffer
from onyx_jupyter.protocols import SearchFilter, ToolPreview
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import tool

# What was said but never noted is found by session search; the tool's definition has no room to say so.
NOTHING_NOTED = (
    "Your notes have nothing on this. Through more_tools: sessions_search (past conversations), knowledge_search "
    "(documents)."
)
UNDATED = "since and until find only daily notes: MEMORY.md and other undated files were left out."


class MemorySearchArguments(Arguments):
    query: str = Field(min_length=1, max_length=1000)
    limit: int | None = Field(default=None, ge=1, le=50)
    min_score: float | None = Field(default=None, ge=0, le=1)
    since: str | None = Field(default=None, description="YYYY-MM-DD")
    until: str | None = None
    paths: list[str] | None = Field(default=None, min_length=1, max_length=20)


@tool(
    name="memory_search",
    activity=Activity("search_memory", "query"),
    arguments=MemorySearchArguments,
    description="Searches all your notes. Cite what you use as path:line.",
    risk="read",
    family="memory",
)
async def memory_search_tool(arguments: MemorySearchArguments, context: ToolContext) -> ToolResult:
    """Searches the agent's memory and the shared memory, by words and by meaning."""
    if context.memory_search is None:
        raise ToolError("Memory cannot be searched here. Read MEMORY.md with memory_get.")
    answer = await context.memory_search.search(
        arguments.query, only=_only(arguments), limit=arguments.limit, min_score=arguments.min_score
    )
    results = [
        {
            "path": found.path,
            "startLine": found.start_line,
            "endLine": found.end_line,
            "heading": found.heading,
            "score": found.score,
            "snippet": found.snippet,
        }
        for found in answer.found
    ]
    undated = UNDATED if arguments.since or arguments.until else None
    said = " ".join(filter(None, (answer.note, *(() if results else (undated, NOTHING_NOTED)))))
    note = {"note": said} if said else {}
    found = json.dumps({"results": results, **note}, ensure_ascii=False)
    return ToolResult(found, origin="memory", external="found in your notes")


def _only(arguments: MemorySearchArguments) -> SearchFilter:
    """Raises: InvalidArguments for an invalid date, since not every provider accepts a date format in a schema."""
    since, until, paths = _day("since", arguments.since), _day("until", arguments.until), arguments.paths
    if since and until and until < since:
        raise InvalidArguments(f"`until` ({until}) is before `since` ({since}), so no day lies between them.")
    return SearchFilter(
        paths=[path.removeprefix("onyx:") for path in paths] if paths is not None else None, since=since, until=until
    )


def _day(name: str, given: str | None) -> date | None:
    try:
        return date.fromisoformat(given) if given is not None else None
    except ValueError as error:
        raise InvalidArguments(f"`{name}` is {given!r}, which is not a date. Write it as YYYY-MM-DD.") from error


class MemoryGetArguments(Arguments):
    path: str = Field(description="A Markdown file of your workspace: MEMORY.md, USER.md, memory/2026-01-31.md …")
    from_: int | None = Field(default=None, alias="from", ge=1, description="First line, counted from 1.")
    lines: int | None = Field(default=None, ge=1, description="How many lines.")


@tool(
    name="memory_get",
    activity=Activity("read_memory", "path", "path", opens=("memory", "file")),
    arguments=MemoryGetArguments,
    description="Reads a file of your memory: MEMORY.md, USER.md, or a day's notes under memory/.",
    risk="read",
    family="memory",
    deferred=True,
    at_a_glance="{path, from?, lines?}",
)
async def memory_get_tool(arguments: MemoryGetArguments, context: ToolContext) -> ToolResult:
    """Reads a memory file or some of its lines."""
    text = await context.memory.read(arguments.path, start_line=arguments.from_ or 1, line_count=arguments.lines)
    buffer = OutputBuffer(context.max_output_bytes)
    buffer.add(text.encode("utf-8", "replace"))
    return ToolResult(
        output=buffer.text(context.max_output_bytes) or "(empty)",
        origin="memory",
        external=arguments.path,
        truncated=buffer.total_bytes > context.max_output_bytes,
    )


class MemoryWriteArguments(Arguments):
    content: str = Field(min_length=1, max_length=50_000, description="Markdown: one line or a few.")
    target: str | None = Field(
        default=None,
        description="'MEMORY.md#Section'; default: today's notes.",
    )


async def _write_preview(arguments: MemoryWriteArguments, context: ToolContext) -> ToolPreview:
    target = _target(arguments, context)
    where = f"{target.path}#{target.section}" if target.section else target.path
    place = "the day's notes" if target.is_daily else where
    in_words = f'"{target.section}" in {target.path}' if target.section else target.path
    return ToolPreview(
        summary=f"Add to {in_words}" if arguments.target else "Add to today's notes",
        details={"path": where, "content": arguments.content},
        grant=f"memory_write {json.dumps('daily' if target.is_daily else where, ensure_ascii=False)}",
        grant_text=f"everything added to {place}",
    )


@tool(
    name="memory_write",
    activity=Activity("write_memory"),
    arguments=MemoryWriteArguments,
    description=(
        "Adds to your memory, never changes it: lasting facts and preferences to a section of MEMORY.md, today's "
        "events to today's notes."
    ),
    risk="write",
    family="memory",
    preview=_write_preview,
)
async def memory_write_tool(arguments: MemoryWriteArguments, context: ToolContext) -> ToolResult:
    """Appends to today's notes or to a section of MEMORY.md."""
    path = await context.memory.write(arguments.content, arguments.target, session_key=context.session_key)
    label = Label("write_memory", links=(Link("memory", path),))
    return ToolResult(output=f"Added to {path}.", origin="own", label=label)


def _target(arguments: MemoryWriteArguments, context: ToolContext) -> MemoryTarget:
    return memory_target(arguments.target, context.clock.now().astimezone())
