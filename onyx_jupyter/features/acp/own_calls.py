"""The calls of an agent's own tools, as entries of the conversation and as cards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onyx_jupyter.acp.mcp_server import SERVER_NAME
from onyx_jupyter.acp.translate import AgentCall, FileDiff
from onyx_jupyter.activities import OBJECT_CHARS
from onyx_jupyter.errors import PathNotAllowed
from onyx_jupyter.files.diff import unified_diff
from onyx_jupyter.messages import Label, Link, ObjectKind, ToolCall, ToolResult, first_line, head_and_tail
from onyx_jupyter.security.path_guard import PathGuard

PREFIX = "acp_"
"""Begins the names of an agent's own calls; none of Onyx's tools is called so, so none of them is ever repeated."""
MAX_INPUT_CHARS = 50_000
# How Claude Code, Codex, Gemini CLI, Goose and OpenCode name a server's tool in the title of a call.
_SHOWN_TOOLS = (
    "mcp__{server}__{tool}",
    "Tool: {server}/{tool}",
    "{tool} ({server} MCP Server)",
    "{server}__{tool}",
    "{server}: {tool}",
    "{server}_{tool}",
    "{server}.{tool}",
)
_PATH_KEYS = ("path", "file_path", "filePath", "abs_path", "notebook_path", "source", "destination")
_ACTIONS: Mapping[str, str] = {
    "read": "read_file",
    "edit": "edit_file",
    "search": "search_files",
    "execute": "run_command",
    "fetch": "read_page",
}


@dataclass
class OwnCall:
    """A call as it is recorded; `is_over` once it has its result, `has_started` once it was shown as running."""

    call: ToolCall
    is_over: bool = False
    has_started: bool = False


def is_call_of_ours(call: AgentCall, names: Sequence[str]) -> bool:
    """Whether the agent reports a call of a tool that it has from Onyx: its card is there already."""
    title = call.title.strip().strip("`")
    return any(title == way.format(server=SERVER_NAME, tool=name) for name in names for way in _SHOWN_TOOLS)


def recorded(call: AgentCall, call_id: str) -> ToolCall:
    """The call with its arguments as the agent shows them."""
    arguments: dict[str, Any] = {"title": call.title, "paths": list(files_of(call))}
    if call.given is not None:
        arguments["input"] = _bounded(call.given)
    return ToolCall(call_id, PREFIX + call.kind, {name: value for name, value in arguments.items() if value})


def command_of(call: AgentCall) -> str | None:
    """The exact command of an `execute` call, None if the agent shows none."""
    given = call.given if isinstance(call.given, Mapping) else {}
    command = given.get("command")
    if isinstance(command, str) and command.strip():
        return command
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        # As the shell's argument where there is one: what is run, rather than how it is started.
        if len(command) == 3 and command[1] in ("-c", "-lc") and Path(command[0]).name in ("bash", "sh", "zsh"):
            return str(command[2])
        import shlex

        return shlex.join(command)
    return None


def files_of(call: AgentCall) -> tuple[str, ...]:
    """Every file that the call names, in whichever place."""
    given = call.given if isinstance(call.given, Mapping) else {}
    named = [given[key] for key in _PATH_KEYS if isinstance(given.get(key), str) and call.kind != "fetch"]
    return tuple(dict.fromkeys([*call.paths, *(diff.path for diff in call.diffs), *named]))


def label_of(call: AgentCall, paths: PathGuard, *, is_done: bool) -> Label:
    """What the call does or did."""
    command = command_of(call) if call.kind == "execute" else None
    files = [shown for file in files_of(call) if (shown := _shown(file, paths)) is not None]
    text, kind = (command, "code") if command else (call.title, "text")
    object_kind: ObjectKind = "code" if kind == "code" else "text"
    if files and call.kind in ("read", "edit"):
        text, object_kind = files[0], "path"
    links = tuple(Link("file", file) for file in files if not file.startswith("onyx:")) if is_done else ()
    return Label(_ACTIONS.get(call.kind, "use_tool"), first_line(text or "", OBJECT_CHARS), object_kind, None, links)


def result_of(call: AgentCall, paths: PathGuard) -> ToolResult:
    """What the call returned, as far as the agent reports it."""
    texts = [call.text] if call.text else []
    texts += [f"{_shown(diff.path, paths) or diff.path}\n{diff_text(diff)}" for diff in call.diffs]
    if not texts and call.returned is not None:
        texts = [call.returned if isinstance(call.returned, str) else _json(call.returned)]
    is_ok = call.status == "completed"
    text = "\n".join(texts) or ("Done." if is_ok else "It failed.")
    return ToolResult(text, ok=is_ok, attachments=call.pictures, label=label_of(call, paths, is_done=is_ok))


def diff_text(diff: FileDiff) -> str:
    """The change as a unified diff."""
    return unified_diff(diff.old or "", diff.new)


def _shown(path: str, paths: PathGuard) -> str | None:
    try:
        return paths.shown(paths.resolve(path))
    except (PathNotAllowed, ValueError):
        return None


def _bounded(given: Any) -> Any:
    text = _json(given)
    return given if len(text) <= MAX_INPUT_CHARS else head_and_tail(text, MAX_INPUT_CHARS)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)
