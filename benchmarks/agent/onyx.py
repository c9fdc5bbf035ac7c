"""Onyx as a user has it: a new server and home for each task, asked over the socket, in Auto mode."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.agent.server_notebook import read_cells, run_all, write_empty
from benchmarks.agent.task import MAX_MODEL_CALLS, TIME_LIMIT_S, NbCell, Task, Turn, output_texts, touched_cells
from benchmarks.jupyter_process import JupyterProcess
from benchmarks.socket_client import Event, SocketClient
from onyx_jupyter.features.sessions.wire import MAX_DRAFT_CHARS

NOTEBOOK = "question.ipynb"
_RUNS_CODE = (
    *("kernel_execute", "exec", "process", "notebook_run_cell", "notebook_run_all"),
    *("notebook_insert_cell", "notebook_edit_cell"),
)
# It counts cells, so a number in it has not been computed.
_HEADLINE = re.compile(r"\A(Ran|Cell|Inserted|Edited|Changed) .*\n?")
_TEXTS = (".md", ".txt", ".csv")
_NOTES = (".md", ".jsonl")
_POLL_S = 0.5
WRITING_S = 10.0
_ABORT_TIMEOUT_S = 60.0
_NOBODY = "Nobody is here to answer. Decide for yourself and go on."


def configuration(model: str, time_limit_s: float = TIME_LIMIT_S, threads: int | None = None) -> dict[str, Any]:
    """What `onyx.json` says: the model, the benchmark's limits, and that nothing on this machine has to be asked."""
    families = ["group:notebook", "group:kernel", "group:fs", "group:process"]
    return {
        "agents": {"defaults": {"model": model}},
        "runtime": {"maxTurns": MAX_MODEL_CALLS, "defaultTimeoutMs": int(time_limit_s * 1000)},
        "security": {"auto": families},
        "local": {} if threads is None else {"threads": threads},
    }


class Onyx:
    """Answers tasks with what `onyx.json` says; a task that takes longer than its time is stopped."""

    def __init__(
        self, config: Mapping[str, Any], time_limit_s: float = TIME_LIMIT_S, writing_s: float = WRITING_S
    ) -> None:
        """`writing_s` is the simulated typing time per message, not counted as part of the answer."""
        self._config = config
        self._time_limit_s = time_limit_s
        self._writing_s = writing_s

    def run(self, task: Task, kept: Path) -> list[Turn]:
        """Keeps the transcript and the final notebooks. Raises: RuntimeError."""
        with JupyterProcess(configuration=self._config) as server, SocketClient(server.port, server.token) as client:
            name = _lay_out(server, task)
            chat = _Chat(server, client, name, self._time_limit_s, self._writing_s)
            turns: list[Turn] = []
            try:
                for message in task.messages:
                    turns.append(chat.turn(message))
                    if turns[-1].error:
                        break
            finally:
                kept.mkdir(parents=True, exist_ok=True)
                for file in (chat.transcript, *server.root.rglob("*.ipynb")):
                    if file is not None and file.is_file():
                        shutil.copy2(file, kept)
        return turns


def _lay_out(server: JupyterProcess, task: Task) -> str:
    """The files and the notebook at the server's root, with a kernel, as in JupyterLab, and run; its name."""
    for file in task.files:
        shutil.copy(file, server.root)
    name = task.notebook.name if task.notebook else NOTEBOOK
    if task.notebook:
        shutil.copy(task.notebook, server.root / name)
    else:
        write_empty(server.root / name)
    run_all(server, name)
    return name


@dataclass
class _Seen:
    """The state of one run, built from its events."""

    answer: str = ""
    error: str = ""
    tools: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    is_over: bool = False


class _Chat:
    """One conversation from a page that shows the notebook."""

    def __init__(
        self, server: JupyterProcess, client: SocketClient, name: str, time_limit_s: float, writing_s: float
    ) -> None:
        self._server = server
        self._client = client
        self._name = name
        self._time_limit_s = time_limit_s
        self._writing_s = writing_s
        self._deadline = time.monotonic() + time_limit_s
        self._key = client.call("sessions.create")["sessionKey"]

    @property
    def transcript(self) -> Path | None:
        """The conversation's file, once it is there."""
        return next(self._server.home.glob(f"sessions/*/{self._key}.jsonl"), None)

    def turn(self, message: str) -> Turn:
        """Sends the message and waits for the end of its answer, or for the task's time limit."""
        cells, before = read_cells(self._server.root / self._name), self._spent()
        seen = _Seen()
        self._write(message, seen)
        began = time.monotonic()
        run_id = self._send(message, seen)
        while not seen.is_over and time.monotonic() < self._deadline:
            self._take(seen)
        if not seen.is_over:
            self._abort(run_id, seen)
        seconds = time.monotonic() - began
        after = read_cells(self._server.root / self._name)
        touched = touched_cells(cells, after)
        others = [path for path in self._server.root.rglob("*.ipynb") if path.name != self._name]
        shown = [*_texts(after, touched), *(text for path in others for text in _texts(read_cells(path)))]
        calls, prompt_tokens, completion_tokens = (now - then for now, then in zip(self._spent(), before, strict=True))
        return Turn(
            message,
            seen.answer,
            [*seen.outputs, *shown],
            seen.tools,
            after,
            touched,
            calls,
            prompt_tokens,
            completion_tokens,
            seconds,
            seen.error,
            {path.name: _text(path) for path in self._server.root.iterdir() if path.suffix in _TEXTS},
            "\n".join(_text(path) for path in self._server.home.glob("workspace/**/*") if path.suffix in _NOTES),
        )

    def _write(self, message: str, seen: _Seen) -> None:
        """Reports the draft and the open notebook as the sidebar does while a person types."""
        for text in ("", message[:MAX_DRAFT_CHARS]) if self._writing_s else ():
            self._open_notebook()
            self._client.call("chat.composing", sessionKey=self._key, text=text, mode="auto")
            until = time.monotonic() + self._writing_s / 2
            while time.monotonic() < until:
                self._take(seen)
        self._deadline += self._writing_s

    def _send(self, message: str, seen: _Seen) -> str:
        """As the sidebar does.

        Then the page closes the notebook: it draws nothing, so cells are worked on in the file and in the kernel of
        its session.
        """
        self._open_notebook()
        request = self._client.send("chat.send", sessionKey=self._key, message=message, mode="auto", typed=True)
        while (sent := self._client.answer(request)) is None:
            self._take(seen)
        self._close_notebook()
        run_id: str = sent["runId"]
        return run_id

    def _take(self, seen: _Seen) -> None:
        """The next event, if one comes soon."""
        with contextlib.suppress(TimeoutError):
            self._handle(self._client.next_event(_POLL_S), seen)

    def _handle(self, event: Event, seen: _Seen) -> None:
        data = event.data
        match event.name:
            case "client.request":
                self._close_notebook()
                error = {"code": "not_open", "message": "It is not open here any more."}
                self._client.send("client.respond", requestId=data["requestId"], error=error)
            case "exec.approval_request":
                self._client.send("exec.approve", approvalId=data["approvalId"], version=data.get("version"))
            case "chat.question":
                answer = _NOBODY if data["freeText"] or not data["choices"] else data["choices"][0]
                self._client.send("questions.answer", questionId=data["questionId"], answer=answer)
            case "tool.finished":
                seen.tools.append(data["tool"] if data["ok"] else f"{data['tool']} (failed)")
                if data["ok"] and data["tool"] in _RUNS_CODE:
                    seen.outputs.append(_HEADLINE.sub("", data["output"]))
            case "chat.final":
                seen.answer, seen.is_over = data["text"], True
            case "chat.error":
                seen.error, seen.is_over = f"{data['code']}: {data['message']}", True
            case "chat.aborted":
                seen.error, seen.is_over = seen.error or "aborted", True

    def _abort(self, run_id: str, seen: _Seen) -> None:
        seen.error = f"no answer within {self._time_limit_s:.0f} s"
        self._client.send("chat.abort", runId=run_id)
        until = time.monotonic() + _ABORT_TIMEOUT_S
        while not seen.is_over and time.monotonic() < until:
            self._take(seen)

    def _open_notebook(self) -> None:
        self._client.call("client.update", notebooks=[{"path": self._name, "active": True}])

    def _close_notebook(self) -> None:
        self._client.send("client.update", notebooks=[])

    def _spent(self) -> tuple[int, int, int]:
        """Model calls, prompt tokens and completion tokens of the conversation, as its file has them."""
        if self.transcript is None:
            return 0, 0, 0
        lines = [json.loads(line) for line in self.transcript.read_text("utf-8").splitlines()]
        usages = [line["usage"] for line in lines if line.get("usage")]
        calls = sum(line["role"] == "assistant" and not line.get("meta", {}).get("halted") for line in lines)
        return calls, sum(one["inputTokens"] for one in usages), sum(one["outputTokens"] for one in usages)


def _texts(cells: Sequence[NbCell], only: frozenset[str] | None = None) -> list[str]:
    return [text for cell in cells if only is None or cell["id"] in only for text in output_texts(cell)]


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace")
