"""A turn in one display that is updated as it runs: HTML for every front end, and data for ours."""

from __future__ import annotations

import time
import uuid
from dataclasses import asdict
from typing import Any, Protocol

from onyx_jupyter.magics.plan import Plan
from onyx_jupyter.magics.shown_data import text_data
from onyx_jupyter.magics.tool_words import escaped
from onyx_jupyter.magics.turn_state import THINKING, AnswerText, Part, Step, TurnState

MIME_TYPE = "application/vnd.onyx.turn+json"
SCHEMA_VERSION = 1
_SHORTEST_S = 0.15
_CHARS_PER_S = 40_000
"""A long answer is shown less often: each update carries all of it."""


class Publisher(Protocol):
    """IPython's interface to the front end."""

    def publish(
        self,
        data: dict[str, Any],
        metadata: dict[str, Any] | None = None,
        *,
        transient: Any = None,
        update: bool = False,
    ) -> None: ...


class TurnView:
    """Shows a state, at most as often as a front end can handle. `is_live` False shows it once, at its end."""

    def __init__(self, publisher: Publisher, state: TurnState, session_key: str, *, is_live: bool = True) -> None:
        self.state = state
        self._publisher = publisher
        self._session_key = session_key
        self._is_live = is_live
        self._display_id = f"onyx-{uuid.uuid4().hex}"
        self._is_shown = False
        self._is_late = False
        self._shown_at = 0.0
        self._more = ""

    def show(self, *, now: bool = False, more: str = "") -> None:
        """Shows the current state; `now` at once, with the Markdown `more` below it until the next call."""
        self._more = more
        self._is_late = True
        if now or self._is_due():
            self._publish()

    def tick(self) -> None:
        """Shows what was held back, if it is time."""
        if self._is_late and self._is_due():
            self._publish()

    @property
    def wait_s(self) -> float:
        """How long to wait for news at most before something has to be shown."""
        return max(0.02, self._shown_at + self._interval_s() - time.monotonic()) if self._is_late else 1.0

    def _is_due(self) -> bool:
        return time.monotonic() >= self._shown_at + self._interval_s()

    def _interval_s(self) -> float:
        length = sum(len(part.text) for part in self.state.parts if isinstance(part, AnswerText))
        return _SHORTEST_S + length / _CHARS_PER_S

    def _publish(self) -> None:
        if not self._is_live and not self.state.is_over:
            return
        self._publisher.publish(self._bundle(), {}, transient={"display_id": self._display_id}, update=self._is_shown)
        self._is_shown, self._is_late = True, False
        self._shown_at = time.monotonic()

    def _bundle(self) -> dict[str, Any]:
        data = {
            "schemaVersion": SCHEMA_VERSION,
            "sessionKey": self._session_key,
            "runId": self.state.run_id,
            "status": self.state.status,
            "parts": [_part(part) for part in self.state.parts],
            "problem": self.state.problem,
        }
        return {MIME_TYPE: data, **text_data(markdown(self.state, self._more))}


def markdown(state: TurnState, more: str = "") -> str:
    """The whole turn in Markdown."""
    blocks: list[str] = []
    for part, before in zip(state.parts, [None, *state.parts], strict=False):
        if isinstance(part, AnswerText):
            blocks.append(part.text.strip())
        elif isinstance(part, Plan):
            blocks.append(part.markdown)
        elif isinstance(before, Step):
            blocks[-1] += f"  \n{part.line}"
        else:
            blocks.append(part.line)
    return "\n\n".join([*filter(None, blocks), *filter(None, (more, _ending(state)))])


def _ending(state: TurnState) -> str:
    match state.status:
        case "running":
            return f"*{escaped(state.notice or THINKING)}…*" if not state.parts or state.notice else ""
        case "aborted":
            return f"*Stopped.* {escaped(state.problem)}".rstrip()
        case "interrupted":
            return f"**The server stopped before this answer was finished.** {escaped(state.problem)}".rstrip()
        case "error":
            return f"**The answer failed.** {escaped(state.problem)}"
        case _:
            return "" if state.parts else "*No answer text.*"


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, AnswerText):
        return {"kind": "text", "text": part.text}
    if isinstance(part, Plan):
        return {"kind": "plan", "steps": [asdict(step) for step in part.steps]}
    words = part.words
    shown = {"verb": words.verb, "object": words.object, "isCode": words.is_code, "note": part.note}
    return {"kind": "step", "status": part.status, **shown}
