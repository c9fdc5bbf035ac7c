"""Runs a skill notebook on the server and follows it to its result."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.connection import ConnectionGone, ServerConnection, retry_connection

STOP_S = 2.0
RECONNECT_S = 60.0
SILENCE_S = 30.0
CHECK_S = 10.0
_POLL_S = 1.0


@dataclass(frozen=True)
class SkillResult:
    """`run` is the run as in `skills.runs`; `outputs` are nbformat 4 outputs."""

    run: Mapping[str, Any]
    outputs: list[dict[str, Any]]
    text: str

    @property
    def is_ok(self) -> bool:
        return bool(self.run["status"] == "ok")

    @property
    def copy(self) -> str:
        """The path of the executed notebook, as JupyterLab opens it, else its full path."""
        return str(self.run.get("copyPath") or self.run["copyLocation"])


class SkillRun:
    """One run. `stop` may be called from another thread, over a connection of its own."""

    def __init__(self, connection: ServerConnection, name: str, agent: str | None = None) -> None:
        self._connection = connection
        self._name = name
        self._agent: dict[str, Any] = {} if agent is None else {"agentId": agent}
        self.run_id = ""

    def describe(self) -> dict[str, Any]:
        """`skills.get`: the skill with its state and fields, its text, and what changed.

        Raises: Refused; MagicError (no_notebook) if it cannot be run as a notebook.
        """
        shown = self._connection.request("skills.get", name=self._name, **self._agent)
        if shown["skill"]["kind"] == "tool":
            raise MagicError("no_notebook", f"{self._name} contains tools for agents and cannot be run itself.")
        if shown["skill"]["kind"] != "notebook":
            raise MagicError(
                "no_notebook",
                f"The skill {self._name} contains instructions, which the agent follows; it cannot be run.",
                hint=f"Ask the agent to use it: %onyx Use the skill {self._name}",
            )
        return shown

    @property
    def place(self) -> dict[str, Any]:
        """`name` and, if one was chosen, `agentId`: how the server identifies the skill."""
        return {"name": self._name, **self._agent}

    def trust(self, digest: str) -> None:
        """Trusts that version. Raises: Refused if the skill has changed since."""
        self._connection.request("skills.trust", name=self._name, hash=digest, **self._agent)

    def run(
        self,
        parameters: Mapping[str, Any],
        path: str | None,
        progress: Callable[[str, float], None],
        begun: Callable[[str], None] = lambda run_id: None,
    ) -> SkillResult:
        """The result, however it ended; `progress` gets a line and the completed share, `begun` the run's id.

        It runs in the folder of the notebook `path`. Raises: Refused, ConnectionGone.
        """
        place = {} if path is None else {"path": path}
        asked = {"name": self._name, "parameters": dict(parameters), **place, **self._agent}
        self.run_id = self._connection.request("skills.run", **asked)["runId"]
        begun(self.run_id)
        heard_at = time.monotonic()
        while True:
            try:
                event = self._connection.next_event(_POLL_S)
                is_silent = event is None and time.monotonic() - heard_at >= SILENCE_S
                if is_silent and self._is_over():  # the end was missed, or a dead connection looks alive
                    break
            except ConnectionGone:
                if retry_connection(self._reconnect_and_check, RECONNECT_S):
                    break
                event, is_silent = None, True
            heard_at = time.monotonic() if is_silent else heard_at
            if event is None or event[1].get("runId") != self.run_id:
                continue
            heard_at = time.monotonic()
            name, data = event
            if name == "skills.run_progress":
                progress(_line(data), (data["index"] - 1) / max(1, data["total"]))
            elif name == "skills.run_finished":
                break
        result = self._connection.request("skills.result", runId=self.run_id)
        return SkillResult(result["run"], result["outputs"], result["text"])

    def began(self) -> bool:
        """Whether it began, even if an interrupt came before the answer. Raises: Refused, ConnectionGone."""
        late = self._connection.late_answer("skills.run", STOP_S)
        self.run_id = late["runId"] if late is not None else self.run_id
        return bool(self.run_id)

    def _reconnect_and_check(self) -> bool:
        self._connection.close()
        return self._is_over()

    def _is_over(self) -> bool:
        """Also true if the server no longer knows it."""
        runs = self._connection.request("skills.runs", timeout_s=CHECK_S, name=self._name)["runs"]
        return not any(run["runId"] == self.run_id and run["status"] == "running" for run in runs)


def stop(connection: ServerConnection, run_id: str) -> bool:
    """Whether it was still running. Raises: ConnectionGone."""
    return bool(connection.request("skills.stop", timeout_s=STOP_S, runId=run_id)["ok"])


def ended(result: SkillResult) -> str:
    """One line on how it ended."""
    words = {"ok": "done", "failed": "failed", "stopped": "stopped", "timeout": "took too long"}
    status = str(result.run["status"])
    error = f": {result.run['error']}" if result.run.get("error") else ""
    return f"{result.run['skill']} · {words.get(status, status)}{error}"


def _line(data: Mapping[str, Any]) -> str:
    last = f" · {data['line']}" if data.get("line") else ""
    return f"cell {data['index']} of {data['total']} · {data['cell']}{last}"
