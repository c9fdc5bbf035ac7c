"""Reads a transcript's entries as the agent and a list need them. It never touches the disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.messages import Message, ToolCall, Usage
from onyx_jupyter.sessions.entry import Entry

TITLE_CHARS = 60
PREVIEW_CHARS = 140
UNTITLED = "New chat"


def conversation(entries: Sequence[Entry], run_id: str) -> list[Message]:
    """What a model sees in this run: every run that began before it, then its own entries.

    A message that came while another run was going stands in the file between that run's lines; here each run is kept
    together, and runs that wait behind this one are left out. A provider refuses a conversation where calls and results
    are parted: each result stands right behind its reply, and a call or a result without the other is left out.
    """
    runs: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.role != "system" and entry.run_id:
            runs.setdefault(entry.run_id, []).append(entry)
    messages: list[Message] = []
    for key, run in runs.items():
        messages.extend(_run_messages(run))
        if key == run_id:
            break
    return messages


def open_calls(entries: Iterable[Entry], run_id: str) -> list[ToolCall]:
    """The run's calls that have no result, in the order in which they were made."""
    calls: dict[str, ToolCall] = {}
    for entry in entries:
        if entry.run_id != run_id:
            continue
        if entry.role == "assistant":
            calls.update({call.id: call for call in entry.tool_calls})
        elif entry.role == "tool" and entry.tool_call_id:
            calls.pop(entry.tool_call_id, None)
    return list(calls.values())


def unfinished_runs(entries: Iterable[Entry]) -> list[str]:
    """Runs that have begun and not ended, oldest first."""
    runs: dict[str, None] = {}
    for entry in entries:
        if entry.role == "user" and entry.run_id:
            runs[entry.run_id] = None
        elif entry.kind == "run_end" and entry.run_id:
            runs.pop(entry.run_id, None)
    return list(runs)


def open_approvals(entries: Iterable[Entry], run_id: str) -> list[Mapping[str, Any]]:
    """The `meta` of this run's approval requests that nobody has answered."""
    pending: dict[str, Mapping[str, Any]] = {}
    for entry in entries:
        if entry.kind == "approval_request" and entry.run_id == run_id:
            pending[str(entry.meta.get("approvalId"))] = entry.meta
        elif entry.kind == "approval_resolved":
            pending.pop(str(entry.meta.get("approvalId")), None)
    return list(pending.values())


def open_questions(entries: Iterable[Entry], run_id: str) -> list[Mapping[str, Any]]:
    """The `meta` of this run's questions to the user that are not resolved."""
    pending: dict[str, Mapping[str, Any]] = {}
    for entry in entries:
        if entry.kind == "question" and entry.run_id == run_id:
            pending[str(entry.meta.get("questionId"))] = entry.meta
        elif entry.kind == "question_resolved":
            pending.pop(str(entry.meta.get("questionId")), None)
    return list(pending.values())


def run_usage(entries: Iterable[Entry], run_id: str) -> Usage:
    """The sum over the run's model calls."""
    return sum((e.usage for e in entries if e.run_id == run_id and e.usage), Usage())


@dataclass(frozen=True, slots=True)
class Summary:
    """What a list shows of a session; times are ISO 8601 in UTC."""

    agent_id: str
    title: str
    model: str | None
    created_at: str
    updated_at: str
    message_count: int
    token_count: int
    last_message_preview: str
    unfinished_runs: tuple[str, ...]


def summarise(entries: Sequence[Entry]) -> Summary:
    """Messages are what people and models said: user and assistant entries with text."""
    head = next((entry.meta for entry in entries if entry.kind == "session"), {})
    said = [entry for entry in entries if entry.role in ("user", "assistant") and entry.content.strip()]
    first = next((entry.content for entry in said if entry.role == "user"), "")
    tokens = sum(entry.usage.input_tokens + entry.usage.output_tokens for entry in entries if entry.usage)
    return Summary(
        agent_id=str(head.get("agentId", "main")),
        title=str(head.get("title") or _one_line(first, TITLE_CHARS) or UNTITLED),
        model=next((e.meta["model"] for e in reversed(entries) if e.role == "user" and e.meta.get("model")), None)
        or head.get("model"),
        created_at=entries[0].ts if entries else "",
        updated_at=entries[-1].ts if entries else "",
        message_count=len(said),
        token_count=tokens,
        last_message_preview=_one_line(said[-1].content, PREVIEW_CHARS) if said else "",
        unfinished_runs=tuple(unfinished_runs(entries)),
    )


def _run_messages(run: Sequence[Entry]) -> list[Message]:
    results: dict[str, Entry] = {}
    for entry in run:
        if entry.role == "tool" and entry.tool_call_id is not None:
            results.setdefault(entry.tool_call_id, entry)
    messages = []
    for entry in run:
        wished = entry.tool_calls if entry.role == "assistant" else ()
        answered = [(call, results.pop(call.id)) for call in wished if call.id in results]
        if entry.role == "tool" or (entry.role == "assistant" and not entry.content and not answered):
            continue
        calls = tuple(call for call, _ in answered)
        messages.append(Message(entry.role, entry.content, calls, context=_context(entry)))
        messages.extend(Message("tool", result.content, (), call.id) for call, result in answered)
    return messages


def _context(entry: Entry) -> str:
    """What was sent along with a user's message, in words for the model."""
    if entry.role != "user":
        return ""
    sent, notebooks = entry.meta.get("context"), entry.meta.get("notebooks")
    parts = [_context_text(item) for item in sent] if isinstance(sent, list) else []
    if isinstance(notebooks, dict):
        parts += [f"the notebook in front is {notebooks['front']}"] if notebooks.get("front") else []
        parts += [f"also open: {', '.join(map(str, notebooks['open']))}"] if notebooks.get("open") else []
    return "; ".join(parts)


def _context_text(item: Mapping[str, Any]) -> str:
    place = f"{item.get('type')} {item.get('path')}" + (f" cell {item['cellId']}" if item.get("cellId") else "")
    return f"{place}:\n{item['text']}\n" if item.get("text") else place


def _one_line(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
