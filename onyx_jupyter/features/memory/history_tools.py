"""The tool that shows earlier versions of a memory file and restores them. The replaced state is kept as a version."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import InvalidArguments, NotFound, ToolError
from onyx_jupyter.files.diff import unified_diff
from onyx_jupyter.messages import Risk, ToolResult, head_and_tail
from onyx_jupyter.protocols import ExactScope, FileVersion, ToolPreview
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import tool

MAX_VERSIONS = 50
# The share of a result's limit; the JSON around the diff and its escapes need the rest.
_DIFF_SHARE = 0.7


class MemoryHistoryArguments(Arguments):
    path: str = Field(min_length=1, description="MEMORY.md, memory/2026-01-31.md …")
    action: Literal["list", "diff", "restore"] = "list"
    version: int | None = Field(default=None, ge=1, description="For diff (with the current file) and restore.")


async def _history_preview(arguments: MemoryHistoryArguments, context: ToolContext) -> ToolPreview:
    number = _number(arguments)
    diff, *_ = await _change(arguments.path, number, context, back=True)
    if not diff:
        raise ToolError(f"{arguments.path} is the same as in version {number}: there is nothing to restore.")
    return ToolPreview(
        summary=f"Restore {arguments.path} to version {number}",
        details={"path": arguments.path, "version": number, "diff": diff},
        grant=f"memory_history restore {json.dumps([arguments.path, number], ensure_ascii=False)}",
        grant_text=f"restoring {arguments.path} to version {number}",
        exactly=ExactScope(facts={"diff": diff}),
        must_ask="it takes what was written since out of the memory",
    )


def _history_risk(arguments: MemoryHistoryArguments) -> Risk:
    return "write" if arguments.action == "restore" else "read"


@tool(
    name="memory_history",
    activity=Activity(
        "list_versions", "path", "path", when=(("action", "restore", "restore_version"),), opens=("memory",)
    ),
    arguments=MemoryHistoryArguments,
    description="Earlier versions of a memory file: list them, diff one with the current file, restore one.",
    risk="read",
    family="memory",
    deferred=True,
    preview=_history_preview,
    risk_of=_history_risk,
)
async def memory_history_tool(arguments: MemoryHistoryArguments, context: ToolContext) -> ToolResult:
    """Lists, compares and restores the versions of one memory file."""
    try:
        return await _label_of_restore(arguments, context)
    except NotFound as error:
        raise ToolError(str(error)) from error


async def _label_of_restore(arguments: MemoryHistoryArguments, context: ToolContext) -> ToolResult:
    path = arguments.path
    if arguments.action == "list":
        return _versions_result(await context.memory.versions(path))
    number = _number(arguments)
    diff, version, now = await _change(path, number, context, back=arguments.action == "restore")
    if arguments.action == "diff":
        diff = head_and_tail(diff, int(context.max_result_chars * _DIFF_SHARE))
        return _versions_result([version], diff=diff)
    await context.memory.restore(path, number, author="agent", based_on=now.checksum, session_key=context.session_key)
    return _versions_result((await context.memory.versions(path))[-1:])


async def _change(path: str, number: int, context: ToolContext, *, back: bool) -> tuple[str, FileVersion, FileVersion]:
    """The diff from that version to the current file (reversed with `back`), and both versions. Raises: ToolError."""
    versions = await context.memory.versions(path)
    version = next((one for one in versions if one.number == number), None)
    if version is None:
        raise ToolError(f"There is no version {number} of {path}. List the versions first.")
    then = (await context.memory.version_content(path, number)).text
    now = (await context.memory.version_content(path, versions[-1].number)).text
    diff = await asyncio.to_thread(unified_diff, *((now, then) if back else (then, now)))
    return diff, version, versions[-1]


def _number(arguments: MemoryHistoryArguments) -> int:
    if arguments.version is None:
        raise InvalidArguments(f"`version` is missing: {arguments.action} needs one. action list shows them.")
    return arguments.version


def _versions_result(versions: Sequence[FileVersion], **more: str) -> ToolResult:
    """Newest first."""
    items = [_item(version) for version in reversed(versions[-MAX_VERSIONS:])]
    left_out = max(0, len(versions) - MAX_VERSIONS)
    facts: dict[str, Any] = {"versions": items} | more | ({"older": left_out} if left_out else {})
    told = json.dumps(facts, ensure_ascii=False)
    return ToolResult(told, truncated=left_out > 0, origin="memory", external="versions of your notes")


def _item(version: FileVersion) -> dict[str, Any]:
    facts = {
        "version": version.number,
        "at": version.at,
        "author": version.author,
        "session": version.session_key,
        "bytes": version.size_bytes,
        "restored": version.restored,
        "deleted": True if not version.checksum else None,
    }
    return {name: value for name, value in facts.items() if value is not None}
