"""Upgrades old results that contain only English text: derives data, a label and a failure from their sentences.

Earlier versions wrote nothing else, and their sessions are never rewritten. The sentences are those of the old tools;
today's tools report data, so nothing here changes with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from onyx_jupyter.activities import Activity
from onyx_jupyter.events import camel_data
from onyx_jupyter.messages import FAILURE_OF_STATUS, HAPPENED, Failure, FailureKind, Label, Link, ToolCall, first_line
from onyx_jupyter.result_data import bounded, cell_inserted, cell_ran, cells_moved, cells_shown
from onyx_jupyter.security.external_content import unfenced
from onyx_jupyter.sessions.entry import Entry

# By the name of a tool: the transcripts contain only that and arguments.
ACTIVITIES: Mapping[str, Activity] = {
    "exec": Activity("run_command", "command", "code"),
    "process": Activity(
        "list_jobs",
        "id",
        when=(
            ("action", "poll", "look_at_job"),
            ("action", "log", "look_at_job"),
            ("action", "write", "type_into_job"),
            ("action", "kill", "end_job"),
        ),
    ),
    "notebook_read": Activity("read_notebook", "path", "path", opens=("file",)),
    "notebook_outline": Activity("outline_notebook", "path", "path", opens=("file",)),
    "notebook_find": Activity("search_notebook", "pattern", "code", opens=("file",)),
    "notebook_list": Activity("list_notebooks", "path"),
    "notebook_create": Activity(
        "create_notebook", "path", "path", when=(("run", True, "create_and_run_notebook"),), opens=("file",)
    ),
    "notebook_insert_cell": Activity(
        "insert_cell", "path", "path", when=(("run", True, "insert_and_run_cell"),), opens=("file",)
    ),
    "notebook_edit_cell": Activity(
        "edit_cell", "path", "path", when=(("run", True, "edit_and_run_cell"),), opens=("file",)
    ),
    "notebook_delete_cell": Activity("delete_cells", "path", "path", counted="cellIds", opens=("file",)),
    "notebook_move_cell": Activity("move_cell", "path", "path", opens=("file",)),
    "notebook_run_cell": Activity("run_cell", "path", "path", opens=("file",)),
    "notebook_run_all": Activity("run_cells", "path", "path", opens=("file",)),
    "notebook_restart_kernel": Activity(
        "restart_kernel", "path", "path", when=(("runAll", True, "restart_and_run"),), opens=("file",)
    ),
    "kernel_variables": Activity("list_variables", "path", "path"),
    "kernel_inspect": Activity("inspect_variable", "name", "code"),
    "kernel_execute": Activity("run_code", "code", "code"),
    "read": Activity("read_file", "path", "path", opens=("file",)),
    "write": Activity("write_file", "path", "path", opens=("file",)),
    "edit": Activity("edit_file", "path", "path", opens=("file",)),
    "list": Activity("list_folder", "path", "path", otherwise="/"),
    "search": Activity("search_files", "pattern", "code"),
    "web_search": Activity("search_web", "query"),
    "web_fetch": Activity("read_page", "url", "address"),
    "http_fetch": Activity("send_request", "method url", "address"),
    "ask_user": Activity("ask_person", "question"),
    "plan_update": Activity("plan"),
    "more_tools": Activity("look_up_tool", "tool"),
    "memory_search": Activity("search_memory", "query"),
    "memory_get": Activity("read_memory", "path", "path", opens=("memory", "file")),
    "memory_write": Activity("write_memory"),
    "memory_history": Activity(
        "list_versions", "path", "path", when=(("action", "restore", "restore_version"),), opens=("memory",)
    ),
    "remember": Activity("remember", "fact"),
    "forget": Activity("forget", "pattern"),
    "knowledge_search": Activity("search_documents", "query"),
    "knowledge_add": Activity("add_document", "path url", "address"),
    "sessions_list": Activity("list_sessions", "query"),
    "sessions_search": Activity("search_sessions", "query"),
    "sessions_history": Activity("read_session"),
    "sessions_send": Activity("write_to_session"),
    "schedule": Activity("schedule_job", "name", otherwise="a job"),
    "list_jobs": Activity("list_scheduled_jobs", "query"),
    "update_job": Activity("update_job", "job"),
    "cancel_job": Activity("cancel_job", "job"),
    "skill_read": Activity("read_skill", "name"),
}


FACTS_FILE = "memory/facts.jsonl"
_REASON_CHARS = 300
_CODES: Mapping[str, FailureKind] = {
    "timeout": "timed_out",
    "invalid_arguments": "invalid",
    "path_not_allowed": "denied",
    "address_not_allowed": "denied",
    "not_found": "not_found",
    "no_cell": "not_found",
}

# The beginning of a result if the call itself failed, rather than the code or command that it ran.
_FAILED = re.compile(r"\A\w+ failed \((\w+)\): ")
# The first sentence of a call that wrote a cell and ran it, and the sentence for a cell that stays without having run.
_WRITTEN = re.compile(r"\A(?:Inserted \w+|Edited|Created .+? with code) cell \S+ .*\n")
_NOT_RUN = re.compile(_WRITTEN.pattern + r"The cell stays; running it failed \((\w+)\): ")
# How the result of a call for one cell names the cell.
_CELL = re.compile(r"\A(?:Inserted \w+ cell|Created .+? with code cell|Edited cell|Ran cell|Cell) ([\w-]+)")
_RAN = re.compile(r"^(\d{1,6}) (\S+) (?:\[\d+\] )?(?:ok|error|aborted)\b", re.MULTILINE)
# Lines that name a cell by number and id, by tool.
_LINES: Mapping[str, re.Pattern[str]] = {
    "notebook_outline": re.compile(r"^(\d{1,6}) (\S+) (?:code|md|raw)\b", re.MULTILINE),
    "notebook_read": re.compile(r"^--- cell (\d{1,6}) \(\w+\) id=(\S+) hash=", re.MULTILINE),
    "notebook_find": re.compile(r"^cell (\d{1,6}) \((\S+)\) (?:line|output)\b", re.MULTILINE),
    "notebook_run_all": _RAN,
    "notebook_restart_kernel": _RAN,
}
_TOTAL = re.compile(r"\A(.+): (\d{1,6}) cells, kernel ")
_INSERTED = re.compile(r"\AInserted \w+ cell (\S+)")
_CREATED = re.compile(r"^Created .+? with (?:the cells (.+)\.|code cell (\S+) .*)$", re.MULTILINE)
_ENDED = re.compile(r"^(Ran cell|Cell) \S+ ?.*?(raised an error|was stopped before it ended|\.)", re.MULTILINE)
_ENDS = {"raised an error": "error", "was stopped before it ended": "aborted"}
_NOTED = re.compile(r"^Added to (\S+\.md)\.?$", re.MULTILINE)
_FACT = re.compile(r"\A(?:Remembered|Known already,) as (f\d+)\b")
_ANSWERED = re.compile(r"\AThe user answered: ")
_STREAMS = re.compile(r"^(?:stdout|stderr):$\n?", re.MULTILINE)


def display_entries(entries: Sequence[Entry], wanted: Iterable[Entry]) -> Iterator[Entry]:
    """The wanted entries with what a screen needs; `entries` are the whole session, since a result has no arguments."""
    calls = {call.id: call for entry in entries for call in entry.tool_calls}
    finished = {entry.tool_call_id for entry in entries if entry.role == "tool"}
    for entry in wanted:
        if entry.role == "tool" and entry.tool_call_id in calls:
            yield with_current_form(entry, calls[entry.tool_call_id])
        else:
            yield _with_activities(entry, finished)


def with_current_form(entry: Entry, call: ToolCall) -> Entry:
    """The result of that call in today's form; a current one stays as it is."""
    meta = entry.meta
    if _is_label(meta.get("label")):
        return entry
    taken = _taken(meta, call)
    output = unfenced(entry.content)
    status = str(meta.get("status") or ("ok" if meta.get("ok", True) else "failed"))
    failure = None if status == "ok" else _failure(output, status)
    activity = ACTIVITIES.get(taken.name)
    said = {
        "data": bounded(_data(taken, output, status, failure)),
        "label": activity and _label(activity, taken, output, status),
        "failure": failure,
    }
    told = {name: camel_data(part) for name, part in said.items() if part and not isinstance(meta.get(name), Mapping)}
    return replace(entry, meta={**meta, **told}) if told else entry


def _with_activities(entry: Entry, finished: set[str | None]) -> Entry:
    """A reply with labels for its calls that have no result yet."""
    opened = [call for call in entry.tool_calls if call.id not in finished and call.name in ACTIVITIES]
    if not opened:
        return entry
    labels = {call.id: camel_data(ACTIVITIES[call.name].label(call.arguments)) for call in opened}
    return replace(entry, meta={**entry.meta, "activities": labels})


def _taken(meta: Mapping[str, Any], call: ToolCall) -> ToolCall:
    """The call that was actually run, if it differs from the recorded one."""
    taken = meta.get("takenAs")
    if not isinstance(taken, Mapping) or not isinstance(taken.get("tool"), str):
        return call
    arguments = taken.get("arguments")
    return replace(call, name=taken["tool"], arguments=arguments if isinstance(arguments, Mapping) else {})


def _is_label(label: Any) -> bool:
    return isinstance(label, Mapping) and isinstance(label.get("action"), str)


def _failure(output: str, status: str) -> Failure:
    code = _FAILED.match(output) or _NOT_RUN.match(output)
    kind: FailureKind = _CODES.get(code[1], "unavailable") if code else "failed"
    told = _STREAMS.sub("", _WRITTEN.sub("", _FAILED.sub("", output)))
    return Failure(FAILURE_OF_STATUS.get(status, kind), first_line(told, _REASON_CHARS))


def _label(activity: Activity, call: ToolCall, output: str, status: str) -> Label:
    label = activity.label(call.arguments, is_done=status == "ok")
    links = (*_cell_links(call, output), *(_memory_links(call.name, output) if status == "ok" else ()))
    kinds = {link.kind for link in links}
    return replace(label, links=(*links, *(link for link in label.links if link.kind not in kinds)))


def _cell_links(call: ToolCall, output: str) -> tuple[Link, ...]:
    path = call.arguments.get("path")
    named = re.fullmatch(r"notebook_(insert|edit|run)_cell", call.name) and _CELL.match(output)
    return (Link("cell", path, named[1]),) if named and isinstance(path, str) and path else ()


def _memory_links(tool: str, output: str) -> tuple[Link, ...]:
    if tool == "memory_write" and (noted := _NOTED.search(output)):
        return (Link("memory", noted[1]),)
    if tool == "remember" and (fact := _FACT.match(output)):
        return (Link("memory", FACTS_FILE, fact=fact[1]),)
    return ()


def _data(call: ToolCall, output: str, status: str, failure: Failure | None) -> dict[str, Any] | None:
    if call.name == "ask_user" and status == "ok":
        return {"answer": _ANSWERED.sub("", output)}
    path = call.arguments.get("path")
    has_worked = status == "ok" or (failure is not None and failure.kind in HAPPENED and bool(_CELL.match(output)))
    if not re.match(r"(?:notebook|kernel)_", call.name) or not isinstance(path, str) or not has_worked:
        return None
    return None if call.name == "notebook_list" else _notebook_data(call, path, output)


def _notebook_data(call: ToolCall, path: str, output: str) -> dict[str, Any]:
    total = _TOTAL.match(output)
    notebook = total[1] if total else re.sub(r"\A(?:\./)+", "", path.removeprefix("RTC:"))
    inserted, arguments = _INSERTED.match(output), call.arguments
    if call.name == "notebook_create":
        created = _CREATED.search(output)
        ids = (created[1] or created[2]).split(", ") if created else []
        return cells_shown(notebook, enumerate(ids, 1), len(ids))
    if re.fullmatch(r"notebook_\w+_cell", call.name) and inserted:  # even if another tool was called for it
        after = arguments.get("afterCellId")
        at_start = arguments.get("atStart") is True
        data = cell_inserted(notebook, inserted[1], after if isinstance(after, str) else None, at_start=at_start)
        return {**_ran(call, notebook, output), **data}
    if call.name in ("notebook_delete_cell", "notebook_move_cell"):
        return cells_moved(notebook)
    if lines := _LINES.get(call.name):
        cells = ((int(number), cell_id) for number, cell_id in lines.findall(output))
        key = "ran" if lines is _RAN else "cells"
        return cells_shown(notebook, cells, int(total[2]) if total else None, key=key)
    return {"notebook": notebook, **_ran(call, notebook, output)}


def _ran(call: ToolCall, notebook: str, output: str) -> dict[str, Any]:
    """The data of a call that ran one cell."""
    ended, cell = _ENDED.search(output), _CELL.match(output)
    if not ended or not cell or not re.fullmatch(r"notebook_(insert|edit|run)_cell", call.name):
        return {}
    return cell_ran(notebook, cell[1], _ENDS.get(ended[2], "ok"))
