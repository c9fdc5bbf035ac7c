"""A turn's state, built from its events: what was said, each call in one line, what is waiting, how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from onyx_jupyter.magics.plan import PLAN_TOOL, Plan, plan_of
from onyx_jupyter.magics.tool_words import ToolWords, describe_call, escaped
from onyx_jupyter.messages import HAPPENED, first_line

Status = Literal["running", "final", "error", "aborted", "interrupted"]
THINKING = "Thinking"
_NOTE_CHARS = 80
_MARKS = {"running": "…", "waiting": "◆", "ok": "✓", "failed": "✗", "denied": "⊘"}


@dataclass
class AnswerText:
    """A piece of the answer's text."""

    text: str


@dataclass
class Step:
    """One tool call; `note` is its newest line, why it failed, or what the user said; `happened` applies once it is
    over.

    `label` is what it does, from the server.
    """

    call_id: str
    tool: str
    status: str = "running"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    happened: bool = True
    label: Mapping[str, Any] | None = None

    @property
    def words(self) -> ToolWords:
        """A call that was denied, stopped or impossible never happened, so it does not read as done."""
        is_over = self.happened and self.status in ("ok", "failed")
        return describe_call(self.tool, self.label, self.arguments, is_over=is_over)

    @property
    def line(self) -> str:
        """`✗ Ran ls · No such file`, in Markdown."""
        return f"{_MARKS.get(self.status, '–')} {self.words.markdown}{f' · {escaped(self.note)}' if self.note else ''}"


Part = AnswerText | Step | Plan


@dataclass
class TurnState:
    """One run. `waiting` are the unanswered approvals and questions, by id.

    The newest plan is a part, in the place of the first one.
    """

    run_id: str = ""
    status: Status = "running"
    parts: list[Part] = field(default_factory=list)
    notice: str = ""
    problem: str = ""
    text: str = ""
    waiting: dict[str, dict[str, Any]] = field(default_factory=dict)
    _planning: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        return self.status != "running"

    @property
    def answer(self) -> str:
        """The last thing said; the whole text if it did not arrive in pieces."""
        last = self.parts[-1] if self.parts else None
        return last.text if isinstance(last, AnswerText) else self.text

    def apply(self, event: str, data: Mapping[str, Any]) -> bool:
        """Whether anything changed. Events of other runs change nothing."""
        if "runId" in data and data["runId"] != self.run_id:
            return False
        match event:
            case "chat.delta":
                self._append_text(data["text"])
            case "chat.thought":
                return self._think(data)
            case "tool.started" if data["tool"] == PLAN_TOOL:
                self._planning[data["callId"]] = data["input"]  # shown when it succeeds
                return False
            case "tool.started":
                known = {"label": data["activity"]} if data.get("activity") else {}
                self._step(data, status="running", arguments=data["input"], note="", **known)
            case "tool.progress" if not data["callId"]:
                self.notice = data["message"]
            case "tool.progress":
                self._step(data, note=data["message"])
            case "tool.finished":
                self._finish(data)
            case "exec.approval_request":
                self.waiting[data["approvalId"]] = dict(data)
                step = self._step({**data, "tool": data["toolName"]}, status="waiting", arguments=data["details"])
                step.label = data.get("activity")
            case "exec.approval_resolved":
                return self._resolve(data["approvalId"], data["decision"] == "approved", data.get("reason"))
            case "chat.question":
                self.waiting[data["questionId"]] = dict(data)
                self._step({**data, "tool": "ask_user"}, status="waiting", arguments={"question": data["question"]})
            case "chat.question_resolved":
                return self._resolve(data["questionId"], data["outcome"] == "answered", None)
            case "chat.final":
                self._end("final")
                self.text = data["text"]
                if self.text and not (self.parts and isinstance(self.parts[-1], AnswerText)):
                    self.parts.append(AnswerText(self.text))
            case "chat.error":
                self._end("error")
                self.problem = " ".join(filter(None, (data["message"], data.get("hint"))))
            case "chat.aborted":
                self._end("aborted")
            case _:
                return False
        return True

    def stop(self, status: Status, problem: str = "") -> None:
        """Ends it on this side: the server could not say how it ended."""
        self._end(status)
        self.problem = problem

    def reset(self) -> None:
        """Discards what came: all of it will come again."""
        self.parts.clear()
        self.waiting.clear()
        self._planning.clear()

    def _append_text(self, text: str) -> None:
        self.notice = ""
        last = self.parts[-1] if self.parts else None
        if isinstance(last, AnswerText):
            last.text += text
        else:
            self.parts.append(AnswerText(text))

    def _think(self, data: Mapping[str, Any]) -> bool:
        """Shows that it thinks, never what; words of the answer that turned out to be thought are removed."""
        before, self.notice = self.notice, "" if "seconds" in data else THINKING
        last = self.parts[-1] if self.parts else None
        if not data.get("wasSaid") or not isinstance(last, AnswerText):
            return self.notice != before
        last.text = last.text.removesuffix(data["text"])
        if not last.text.strip():
            self.parts.pop()
        return True

    def _step(self, data: Mapping[str, Any], **changes: Any) -> Step:
        self.notice = ""
        known = (part for part in self.parts if isinstance(part, Step) and part.call_id == data["callId"])
        step = next(known, None)
        if step is None:
            step = Step(data["callId"], data["tool"])
            self.parts.append(step)
        for name, value in changes.items():
            setattr(step, name, value)
        return step

    def _finish(self, data: Mapping[str, Any]) -> None:
        status = data.get("status") or ("ok" if data["ok"] else "failed")
        planned = self._planning.pop(data["callId"], None)
        if planned is not None and status == "ok" and (plan := plan_of(planned)) is not None:
            self._show_plan(plan, data["callId"])
            return
        failure = data.get("failure") or {}
        note = first_line(failure.get("reason", ""), _NOTE_CHARS) if status in ("failed", "denied") else ""
        happened = status != "failed" or failure.get("kind", "failed") in HAPPENED
        step = self._step(data, status=status, note=note, happened=happened)
        step.arguments = step.arguments or data.get("input") or {}
        step.label = data.get("label") or step.label

    def _show_plan(self, plan: Plan, call_id: str) -> None:
        self.notice = ""
        self.parts = [part for part in self.parts if not (isinstance(part, Step) and part.call_id == call_id)]
        known = next((part for part in self.parts if isinstance(part, Plan)), None)
        if known is None:
            self.parts.append(plan)
        else:
            known.steps = plan.steps

    def _resolve(self, waiting_id: str, goes_on: bool, reason: str | None) -> bool:
        asked = self.waiting.pop(waiting_id, None)
        if asked is None:
            return False
        tool = asked.get("toolName", "ask_user")
        status = "running" if goes_on or tool == "ask_user" else "denied"
        self._step({**asked, "tool": tool}, status=status, note=reason or "")
        return True

    def _end(self, status: Status) -> None:
        self.status = status
        self.notice = ""
        self.waiting.clear()
        for part in self.parts:
            if isinstance(part, Step) and part.status in ("running", "waiting"):
                part.status, part.note = "aborted", ""
