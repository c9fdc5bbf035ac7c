"""Sends one question and follows its turn: shows it, asks the user, stops it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.cell_user import NO_INPUT, CellUser, NoInput, approval_text, question_text
from onyx_jupyter.magics.connection import ConnectionGone, Refused, ServerConnection, retry_connection, unreachable
from onyx_jupyter.magics.turn_state import AnswerText, TurnState
from onyx_jupyter.magics.turn_view import TurnView

STOP_S = 1.0
RECONNECT_S = 60.0
SILENCE_S = 30.0
CHECK_S = 10.0
_ANSWERED = ("already_resolved", "not_found")
_TRIES = 3
_ASKED_IN_CARD = "*Waiting for your answer, here or in the Onyx sidebar.*"


@dataclass(frozen=True)
class Question:
    """What is sent: the words, the session that gets them, the kernel that asks, and the options."""

    session_key: str
    message: str
    kernel: Mapping[str, str]
    model: str | None = None
    mode: str | None = None


class Turn:
    """One question until its answer is complete."""

    def __init__(
        self,
        connection: ServerConnection,
        question: Question,
        view: TurnView,
        person: CellUser,
        *,
        patience_s: float = RECONNECT_S,
    ) -> None:
        """`patience_s` is how long to wait for a server that has gone."""
        self._patience_s = patience_s
        self._connection = connection
        self._question = question
        self._view = view
        self._person = person
        self._state: TurnState = view.state
        self._began_at = time.monotonic()
        self._seq = 0
        self._asked: set[str] = set()
        self._tries: Counter[str] = Counter()
        self._late_end: tuple[Mapping[str, Any], list[dict[str, Any]]] | None = None

    def run(self) -> TurnState:
        """The turn, if it ended well. Raises: MagicError (stopped, failed, no_server, refused)."""
        try:
            self._send()
            self._follow()
        except KeyboardInterrupt:
            self._stop()
            raise MagicError("stopped", "Stopped: the cell was interrupted.") from None
        self._view.show(now=True)
        if self._state.status != "final":
            raise MagicError("failed", _why(self._state))
        return self._state

    def _send(self) -> None:
        question = self._question
        chosen = {name: value for name in ("model", "mode") if (value := getattr(question, name)) is not None}
        try:
            sent = self._connection.request(
                "chat.send",
                sessionKey=question.session_key,
                message=question.message,
                fromKernel=dict(question.kernel),
                whenBusy="followup",  # a run there has another origin: this question gets its own turn
                **chosen,
            )
        except ConnectionGone as error:
            raise unreachable(self._connection.server, error) from error
        self._state.run_id = sent["runId"]
        if sent.get("delivery") == "followup":
            self._state.notice = "Waiting for the previous answer"
        self._view.show(now=True)

    # ── while it runs ───────────────────────────────────────────────────────────────────────────────

    def _follow(self) -> None:
        heard_at = time.monotonic()
        while not self._state.is_over:
            try:
                event = self._connection.next_event(self._view.wait_s)
                if event is not None:
                    heard_at = time.monotonic()
                    self._on_event(*event)
                elif self._late_end is not None:
                    self._read_end(*self._late_end)
                elif time.monotonic() - heard_at > SILENCE_S:
                    self._connection.request("health.check", timeout_s=CHECK_S)
                    heard_at = time.monotonic()
                self._ask_pending()
                self._view.tick()
            except ConnectionGone:
                self._reconnect()
                heard_at = time.monotonic()

    def _on_event(self, event: str, data: Mapping[str, Any]) -> None:
        if data.get("sessionKey", self._question.session_key) != self._question.session_key:
            return
        if isinstance(seq := data.get("seq"), int):
            if seq <= self._seq:
                return
            self._seq = seq
        if self._state.apply(event, data):
            self._view.show(now=self._state.is_over)

    def _ask_pending(self) -> None:
        for waiting_id, waiting in list(self._state.waiting.items()):
            if waiting_id in self._asked:
                continue
            if self._has_card():
                self._asked.add(waiting_id)
                self._view.show(now=True, more=_ASKED_IN_CARD)
            elif "approvalId" in waiting:
                self._ask_approval(waiting)
            else:
                self._ask_question(waiting)

    def _has_card(self) -> bool:
        """Whether one of our front ends has the notebook open: then the card in the output asks."""
        shown: bool = self._connection.request("client.shows", kernelId=self._question.kernel["kernelId"])["shown"]
        return shown

    def _ask_approval(self, approval: Mapping[str, Any]) -> None:
        approval_id = approval["approvalId"]
        self._view.show(now=True, more=approval_text(approval))
        try:
            decision = self._person.decide(approval)
        except NoInput:
            self._answer(approval_id, "exec.deny", approvalId=approval_id, reason=NO_INPUT)
            return
        if decision.scope is None:
            self._answer(approval_id, "exec.deny", approvalId=approval_id, reason=decision.reason or None)
        else:
            answer = {"approvalId": approval_id, "scope": decision.scope, "version": approval.get("version")}
            self._answer(approval_id, "exec.approve", **answer)

    def _ask_question(self, asked: Mapping[str, Any]) -> None:
        self._view.show(now=True, more=question_text(asked))
        try:
            words = self._person.answer(asked)
        except NoInput:
            words = None
        self._answer(asked["questionId"], "questions.answer", questionId=asked["questionId"], answer=words)

    def _answer(self, waiting_id: str, method: str, **params: Any) -> None:
        """A server closes a connection that is silent for long: if the user took that long, it is reopened once."""
        self._view.show(now=True)
        try:
            try:
                self._connection.request(method, **params)
            except ConnectionGone:
                self._reconnect()
                self._connection.request(method, **params)
        except Refused as refused:
            self._tries[waiting_id] += 1
            if refused.reason not in _ANSWERED and self._tries[waiting_id] < _TRIES:
                self._state.notice = str(refused)
                return  # nothing was decided: the user is asked again
        self._asked.add(waiting_id)

    # ── if the connection breaks ────────────────────────────────────────────────────────────────────

    def _reconnect(self) -> None:
        """Reconnects and continues from there. Raises: MagicError (no_server) if the server stays away."""
        self._state.notice = "The connection to the server was lost; reconnecting"
        self._view.show(now=True)
        try:
            retry_connection(self._subscribe, self._patience_s)
        except ConnectionGone as error:
            self._state.stop("interrupted", "The connection to the server was lost and could not be restored.")
            self._view.show(now=True)
            raise unreachable(self._connection.server, error) from error
        self._state.notice = ""

    def _subscribe(self) -> None:
        """From the next event on; from the turn's first one if the server was started after the question was sent."""
        connection, key = self._connection, self._question.session_key
        connection.close()
        uptime_s = connection.request("health.check")["uptime"]
        is_new = uptime_s < time.monotonic() - self._began_at
        self._seq = 0 if is_new else self._seq
        connection.request("sessions.subscribe", sessionKey=key, **({"afterSeq": self._seq} if self._seq else {}))
        entries = connection.request("chat.history", sessionKey=key)["messages"]
        mine = [entry for entry in entries if (entry.get("meta") or {}).get("runId") == self._state.run_id]
        ends = [entry["meta"] for entry in mine if entry["meta"].get("kind") == "run_end"]
        # Missed events that are still kept come first; this is used only if none of them ends the turn.
        self._late_end = (ends[-1], mine) if ends else None
        if is_new and not ends:  # it is still running there, and all of it is sent once more
            self._state.reset()
            self._asked.clear()

    def _read_end(self, end: Mapping[str, Any], entries: list[dict[str, Any]]) -> None:
        said = [entry["content"] for entry in entries if entry["role"] == "assistant" and entry["content"].strip()]
        if said:
            self._state.parts = [part for part in self._state.parts if not isinstance(part, AnswerText)]
            self._state.parts += [AnswerText(text) for text in said]
            self._state.text = said[-1]
        self._state.stop(end.get("outcome", "interrupted"), str(end.get("message") or ""))

    def _stop(self) -> None:
        """Uses a new connection: the interrupt may have come in the middle of a frame."""
        problem = ""
        try:
            late = self._connection.late_answer("chat.send", STOP_S)
            self._state.run_id = late["runId"] if late is not None else self._state.run_id
            self._connection.close()
            if self._state.run_id and not self._state.is_over:
                self._connection.request("chat.abort", timeout_s=STOP_S, runId=self._state.run_id)
        except Refused:
            pass  # it never began, or is over
        except (ConnectionGone, MagicError):
            problem = "The server could not be reached, so the answer may still be running there."
        finally:
            self._state.stop("aborted", problem)
            self._view.show(now=True)
            self._connection.close()


def _why(state: TurnState) -> str:
    if state.status == "aborted":
        return "The answer was stopped."
    if state.status == "interrupted":
        return (
            "The server stopped before this answer was finished. The session in the Onyx sidebar has what was written "
            "so far."
        )
    return f"The answer failed. {state.problem}".rstrip()
