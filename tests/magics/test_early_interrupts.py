"""An interrupt that comes before the server has said what began stops it all the same, or says that it may go on."""

import json
from collections import deque
from typing import Any

import pytest

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.cell_user import CellUser
from onyx_jupyter.magics.connection import ServerConnection
from onyx_jupyter.magics.server_address import ServerAddress
from onyx_jupyter.magics.skill_command import SkillCommand
from onyx_jupyter.magics.turn import Question, Turn
from onyx_jupyter.magics.turn_state import TurnState
from onyx_jupyter.magics.turn_view import TurnView

SKILL = {"skill": {"name": "count", "kind": "notebook", "state": "ready", "parameters": {"fields": []}}}


class Line(ServerConnection):
    """A connection whose server answers every request, the one that begins something only after an interrupt."""

    def __init__(self, begins: str, *answers: dict[str, Any]) -> None:
        super().__init__(ServerAddress("http://127.0.0.1:1/", ""))
        self.begins, self.late = begins, answers
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.frames: deque[Any] = deque()

    def _open(self, timeout_s: float) -> Any:
        self.frames.clear()
        self._socket = Socket(self)  # type: ignore[assignment]
        return self._socket


class Socket:
    def __init__(self, line: Line) -> None:
        self.line = line

    def settimeout(self, timeout_s: float) -> None: ...

    def shutdown(self) -> None: ...

    def send(self, text: str) -> None:
        frame = json.loads(text)
        self.line.sent.append((frame["method"], frame["params"]))
        if frame["method"] == self.line.begins:
            self.line.frames += [KeyboardInterrupt(), *({"id": frame["id"], **late} for late in self.line.late)]
        else:
            result = {"skills.get": SKILL, "client.shows": {"shown": False}}.get(frame["method"], {"ok": True})
            self.line.frames.append({"id": frame["id"], "result": result})

    def recv(self) -> str:
        frame = self.line.frames.popleft() if self.line.frames else ConnectionResetError("gone")
        if isinstance(frame, BaseException):
            raise frame
        return json.dumps(frame)


class Shown:
    def __init__(self) -> None:
        self.text = ""

    def publish(self, data: dict[str, Any], metadata: Any, **_: Any) -> None:
        self.text = data["text/plain"]


def ask(line: Line) -> str:
    shown = Shown()
    view = TurnView(shown, TurnState(), "main:x")
    with pytest.raises(MagicError, match="interrupted"):
        Turn(line, Question("main:x", "Hi", {"kernelId": "k"}), view, CellUser(input)).run()
    return shown.text


def run_skill(line: Line) -> str:
    shown = Shown()
    with pytest.raises(MagicError, match="interrupted"):
        SkillCommand(line, shown, CellUser(input), "k", lambda text: None).run("count", None)
    return shown.text


BEGAN = {"result": {"runId": "r1"}}
REFUSED = {"error": {"code": -1, "message": "no"}}


@pytest.mark.parametrize(
    ("begins", "stops", "act"), [("chat.send", "chat.abort", ask), ("skills.run", "skills.stop", run_skill)]
)
def test_run_started_without_confirmation_is_stopped(begins: str, stops: str, act: Any) -> None:
    line = Line(begins, BEGAN)
    assert "may still be running" not in act(line)
    assert line.sent[-1] == (stops, {"runId": "r1"})


@pytest.mark.parametrize(("begins", "act"), [("chat.send", ask), ("skills.run", run_skill)])
def test_unknown_start_is_reported_in_cell(begins: str, act: Any) -> None:
    line = Line(begins)
    assert "may still be running" in act(line)
    refused = Line(begins, REFUSED)
    assert "may still be running" not in act(refused)
    assert refused.sent[-1][0] == begins
