"""Derives what the agent and the session list need from a transcript's entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.messages import Message, ToolCall, ToolResult, Usage
from onyx_jupyter.protocols import EFFORTS, Block, Compaction, Measured
from onyx_jupyter.security.external_content import escape_marks
from onyx_jupyter.sessions.attachments import format_attachments
from onyx_jupyter.sessions.compacted import COMPACTION_FAILED, compacted, newest_compaction
from onyx_jupyter.sessions.entry import COMPACTION, CONSOLIDATION, CONSOLIDATION_FAILED, REFLECTION, Entry
from onyx_jupyter.sessions.kept_runs import KeptRuns
from onyx_jupyter.sessions.origin import OriginKind
from onyx_jupyter.sessions.pictures import with_newest_pictures
from onyx_jupyter.sessions.run_order import joined_ids, placed, stranded_messages, unfinished_runs
from onyx_jupyter.sessions.unconsolidated import unconsolidated, unfinished_plan

TITLE_CHARS = 60
PREVIEW_CHARS = 140
UNTITLED = "New chat"
_ASKED = (CONSOLIDATION, CONSOLIDATION_FAILED)


def conversation(entries: Sequence[Entry], run_id: str, kept: KeptRuns | None = None) -> list[Message]:
    """What a model sees in this run: every run that began before it, then its own entries.

    A message that came during another run is in the file between that run's lines; here each run is kept together, and
    runs that wait behind this one are left out. A message that joined a run is placed where it joined; one that has not
    joined is left out while its run is in progress, and is placed at its end afterwards. A provider refuses a
    conversation in which calls and results are separated: each result directly follows its reply, and a call or a
    result without the other is left out. The newest compaction replaces what it summed up. `kept` caches what was made
    of the runs.
    """
    return [message for block in blocks(entries, run_id, kept=kept) for message in block.messages]


def blocks(
    entries: Sequence[Entry], run_id: str, compaction: Compaction | None = None, kept: KeptRuns | None = None
) -> list[Block]:
    """The conversation in blocks that belong together; `compaction` is used instead of the newest one."""
    kept = kept or KeptRuns()
    whole: list[Block] = []
    shown: dict[str, None] = {}
    for key in kept.begun(entries):
        shown[key] = None
        whole.extend(kept.blocks(key, key == run_id, _run_blocks))
        if key == run_id:
            break
    whole = with_newest_pictures(whole)
    if compaction is not None:
        return compacted(whole, compaction, "", {block.entry_id for block in whole})
    newest = newest_compaction(entries, kept.compactions(entries), shown)
    if newest is None:
        return whole
    place, made = newest
    seen = kept.seen(place, lambda: _seen(entries, place, list(shown)))
    return compacted(whole, made, entries[place].id, seen)


def open_calls(entries: Iterable[Entry], run_id: str) -> list[ToolCall]:
    """The run's calls without a result, in the order in which they were made."""
    calls: dict[str, ToolCall] = {}
    for entry in entries:
        if entry.run_id != run_id:
            continue
        if entry.role == "assistant":
            calls.update({call.id: call for call in entry.tool_calls})
        elif entry.role == "tool" and entry.tool_call_id:
            calls.pop(entry.tool_call_id, None)
    return list(calls.values())


def measured(entries: Sequence[Entry], model_id: str) -> Measured | None:
    """The newest request to that model whose tokens its provider counted, too."""
    for entry in reversed(entries):
        is_counted = entry.usage and not entry.usage.estimated
        estimate, counted = entry.meta.get("estimate"), entry.usage.input_tokens if entry.usage and is_counted else 0
        ours = entry.role == "assistant" and entry.meta.get("model") == model_id
        if ours and isinstance(estimate, int) and estimate > 0 and counted > 0:
            return Measured(estimate, counted)
    return None


def failed_compaction(entries: Sequence[Entry], model_id: str) -> int:
    """The token count when that model last failed to sum up, 0 if it has not failed since the last compaction."""
    for entry in reversed(entries):
        if entry.kind == COMPACTION:
            return 0
        if entry.kind == COMPACTION_FAILED and entry.meta.get("model") == model_id:
            tokens = entry.meta.get("tokensBefore")
            return tokens if isinstance(tokens, int) else 0
    return 0


def finished_calls(entries: Iterable[Entry], run_id: str) -> list[tuple[ToolCall, ToolResult]]:
    """The run's calls that have a result, in the order of the results."""
    calls: dict[str, ToolCall] = {}
    finished = []
    for entry in entries:
        if entry.run_id == run_id and entry.role == "assistant":
            calls.update({call.id: call for call in entry.tool_calls})
        elif entry.run_id == run_id and entry.tool_call_id in calls:
            result = ToolResult(entry.content, bool(entry.meta.get("ok")), entry.attachments)
            finished.append((calls.pop(entry.tool_call_id), result))
    return finished


def open_approvals(entries: Iterable[Entry], run_id: str) -> list[Mapping[str, Any]]:
    """The `meta` of this run's unanswered approval requests."""
    pending: dict[str, Mapping[str, Any]] = {}
    for entry in entries:
        if entry.kind == "approval_request" and entry.run_id == run_id:
            pending[str(entry.meta.get("approvalId"))] = entry.meta
        elif entry.kind == "approval_resolved":
            pending.pop(str(entry.meta.get("approvalId")), None)
    return list(pending.values())


def open_questions(entries: Iterable[Entry], run_id: str) -> list[Mapping[str, Any]]:
    """The `meta` of this run's unresolved questions to the user."""
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
    """What a list shows of a session; times are ISO 8601 in UTC.

    `to_consolidate` counts the characters written by its user that were not searched for memories yet;
    `consolidation_cut_short`: memories found in others are not in the files yet; `consolidated_at`: when a model was
    last asked for memories. `tool_mode` is the tool mode that the newest message requested, `origin` who sent the first
    one.
    """

    agent_id: str
    title: str
    model: str | None
    created_at: str
    updated_at: str
    message_count: int
    token_count: int
    last_message_preview: str
    unfinished_runs: tuple[str, ...]
    stranded_messages: tuple[str, ...]
    to_consolidate: int = 0
    consolidation_cut_short: bool = False
    consolidated_at: str = ""
    tool_mode: str | None = None
    origin: OriginKind = "sidebar"


def summarise(entries: Sequence[Entry]) -> Summary:
    """Messages are user and assistant entries with text."""
    head = next((entry.meta for entry in entries if entry.kind == "session"), {})
    said = [entry for entry in entries if entry.role in ("user", "assistant") and entry.content.strip()]
    first = next((entry.content for entry in said if entry.role == "user"), "")
    tokens = sum(entry.usage.input_tokens + entry.usage.output_tokens for entry in entries if entry.usage)
    return Summary(
        agent_id=str(head.get("agentId", "main")),
        title=str(head.get("title") or _one_line(first, TITLE_CHARS) or UNTITLED),
        model=_chosen_model(entries, head),
        created_at=entries[0].ts if entries else "",
        updated_at=next((entry.ts for entry in reversed(entries) if not entry.is_background), ""),
        message_count=len(said),
        token_count=tokens,
        last_message_preview=_one_line(said[-1].content, PREVIEW_CHARS) if said else "",
        unfinished_runs=tuple(unfinished_runs(entries)),
        stranded_messages=tuple(entry.id for entry in stranded_messages(entries)),
        to_consolidate=unconsolidated(entries).user_text,
        consolidation_cut_short=unfinished_plan(entries) is not None,
        tool_mode=chosen_tool_mode(next((entry for entry in reversed(entries) if entry.role == "user"), None)),
        origin=next((entry.origin.kind for entry in entries if entry.role == "user"), "sidebar"),
        consolidated_at=next((entry.ts for entry in reversed(entries) if entry.kind in _ASKED), ""),
    )


def chosen_tool_mode(message: Entry | None) -> str | None:
    """The tool mode that the user requested (`cell`, `tools`); None if they left it open."""
    wished = message.meta.get("toolMode") if message is not None else None
    return wished if wished in ("cell", "tools") else None


def chosen_effort(message: Entry) -> str | None:
    """How much thinking the message asks for; None leaves it to the provider's settings."""
    wished = message.meta.get("effort")
    return wished if wished in EFFORTS else None


def _chooses(entry: Entry) -> bool:
    """A job's own model is for that run alone."""
    return entry.role == "user" and not entry.origin.is_unattended


def _chosen_model(entries: Sequence[Entry], head: Mapping[str, Any]) -> str | None:
    """The newest model that a message named, else the session's; ignores invalid values."""
    named = [*(entry.meta.get("model") for entry in reversed(entries) if _chooses(entry)), head.get("model")]
    return next((model for model in named if isinstance(model, str) and model), None)


def _seen(entries: Sequence[Entry], place: int, shown: Sequence[str]) -> set[str]:
    """The entries that preceded the compaction at that index and were part of the conversation then."""
    earlier = set(shown[: shown.index(entries[place].run_id or "") + 1])
    before = [entry for entry in placed(entries)[:place] if entry.run_id in earlier]
    return {entry.id for entry in before if not entry.is_steer}.union(*map(joined_ids, before))


def _run_blocks(run: Sequence[Entry], is_continued: bool) -> list[Block]:
    unjoined = {entry.id: entry for entry in run if entry.is_steer}
    results: dict[str, Entry] = {}
    for entry in run:
        if entry.role == "tool" and entry.tool_call_id is not None:
            results.setdefault(entry.tool_call_id, entry)
    made: list[Block] = []
    for entry in run:
        joining = [unjoined.pop(entry_id) for entry_id in joined_ids(entry) if entry_id in unjoined]
        made.extend(_block(message) for message in joining)
        if entry.kind == REFLECTION:
            made.append(Block(entry.id, entry.run_id or "", (Message("user", entry.content),)))
            continue
        if entry.role == "system" or entry.is_steer:
            continue
        wished = entry.tool_calls if entry.role == "assistant" else ()
        answered = [(call, results.pop(call.id)) for call in wished if call.id in results]
        if entry.role == "tool" or (entry.role == "assistant" and not entry.content and not answered):
            continue
        calls = tuple(call for call, _ in answered)
        joined = [
            Message("tool", result.content, (), call.id, attachments=result.attachments, status=_status(result))
            for call, result in answered
        ]
        made.append(_block(entry, calls, joined))
    return made if is_continued else [*made, *map(_block, unjoined.values())]


def _status(result: Entry) -> str | None:
    status = result.meta.get("status")
    return status if isinstance(status, str) else None


def _block(entry: Entry, calls: tuple[ToolCall, ...] = (), joined: Sequence[Message] = ()) -> Block:
    # A question from a cell may contain variable values, another session's message what was read there, and a job what
    # an agent wrote: they are to be acted on, but may neither begin a turn nor pass for the end of a fence.
    by_person = entry.role != "user" or ((entry.origin.session or entry.origin.kernel or entry.origin.job) is None)
    content = entry.content if by_person else escape_marks(entry.content)
    message = Message(entry.role, content, calls, context=format_attachments(entry))
    words = (entry.content,) if entry.role == "user" and entry.origin.session is None else ()
    return Block(entry.id, entry.run_id or "", (message, *joined), words=words)


def _one_line(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
