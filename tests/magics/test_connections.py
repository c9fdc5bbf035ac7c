"""Servers that go away, come back or were never there, and notebooks that run without anybody at them."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.cell_user import CellUser
from onyx_jupyter.magics.connection import ServerConnection
from onyx_jupyter.magics.server_address import ServerAddress
from onyx_jupyter.magics.turn import Question, Turn
from onyx_jupyter.magics.turn_state import TurnState
from onyx_jupyter.magics.turn_view import TurnView
from onyx_jupyter.testing.script import Call, Hang, Hold, Say
from tests.e2e.lab_server import TOKEN, LabServer, until
from tests.e2e.stage import Stage
from tests.magics.cells import LIMIT_S, Cells
from tests.magics.conftest import answers
from tests.magics.cut_line import CutLine
from tests.notebook.files import cell, write_notebook


@pytest.fixture
def mortal(provider: Stage, tmp_path: Path) -> Iterator[LabServer]:
    """A server for a test that kills it."""
    server = LabServer(tmp_path, provider.config(embedder="none"))
    server.start()
    until(lambda: answers(server))
    yield server
    server.stop()


def port_of(lab: LabServer) -> int:
    return int(lab.url("").split(":")[2].partition("/")[0])


def test_broken_connection_loses_no_text(kernel: Cells, stage: Stage, lab: LabServer) -> None:
    hold = Hold()
    stage.play([Say("First half."), hold, Say(" Second half.", chunk_chars=2)])
    with CutLine(port_of(lab)) as line:
        kernel.run(f"%env ONYX_URL=http://127.0.0.1:{line.port}/\n%env ONYX_TOKEN={TOKEN}")
        reached = threading.Event()
        broke: list[str] = []

        def on_display(bundle: dict[str, str]) -> None:
            text = bundle["text/plain"]
            if text == "First half.":
                reached.set()
            elif "reconnecting" in text:
                broke.append(text)
                hold.released.set()

        wait = kernel.start("%onyx Count", on_display)
        assert reached.wait(LIMIT_S)
        line.cut()
        ran = wait()
        assert line.connections == 2
    assert ran.status == "ok", ran.traceback
    assert ran.markdown == "First half. Second half."
    assert broke[0].startswith("First half.")


class Front:
    """A front end that does no more than remember; `seen` is set when a display says the words."""

    def __init__(self, words: str) -> None:
        self.seen = threading.Event()
        self.shown = ""
        self._words = words

    def publish(
        self, data: dict[str, Any], metadata: Any = None, *, transient: Any = None, update: bool = False
    ) -> None:
        self.shown = data["text/plain"]
        if self._words in self.shown:
            self.seen.set()


def ask(lab: LabServer, front: Front, patience_s: float) -> Future[TurnState]:
    """Asks from a thread, as a kernel that the server has not started."""
    connection = ServerConnection(ServerAddress(lab.url("").partition("?")[0], TOKEN))
    key = connection.request("sessions.create")["sessionKey"]
    view = TurnView(front, TurnState(), key)
    turn = Turn(connection, Question(key, "Talk", {"kernelId": "k"}), view, CellUser(input), patience_s=patience_s)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(turn.run)
        assert front.seen.wait(LIMIT_S)
        lab.kill()
        if patience_s == LIMIT_S:
            lab.start()
    connection.close()
    return future


def test_restarted_server_reports_how_the_answer_ended(mortal: LabServer, stage: Stage) -> None:
    stage.play(["Half an answer.", Hang()])
    front = Front("Half an answer.")
    with pytest.raises(MagicError, match="server stopped before this answer was finished"):
        ask(mortal, front, LIMIT_S).result()
    assert front.shown == "Half an answer.\n\n**The server stopped before this answer was finished.**"


def test_unreachable_server_is_reported(mortal: LabServer, stage: Stage) -> None:
    stage.play(["Half an answer.", Hang()])
    front = Front("Half an answer.")
    with pytest.raises(MagicError, match="does not answer") as caught:
        ask(mortal, front, 0.1).result()
    assert caught.value.code == "no_server"
    assert "could not be restored" in front.shown


def test_without_server_the_error_says_what_was_searched(tmp_path: Path) -> None:
    environment = {**os.environ, "JUPYTER_RUNTIME_DIR": str(tmp_path), "JPY_PARENT_PID": "1"}
    done = execute(tmp_path, environment, "%load_ext onyx_jupyter\n%onyx hello")
    assert done.returncode != 0
    for words in ("ONYX_URL is not set", "jpserver-", "no running server serves"):
        assert words in done.stderr


def test_standalone_notebook_finds_server_by_folder(lab: LabServer, stage: Stage, tmp_path: Path) -> None:
    stage.play([Call("exec", {"command": "touch headless.txt"})], "I could not make it.")
    environment = {**os.environ, "JUPYTER_RUNTIME_DIR": str(lab.home.parent / "runtime")}
    environment.pop("ONYX_URL", None)
    done = execute(lab.files, environment, "%load_ext onyx_jupyter", "%onyx Make a file?")
    assert done.returncode == 0, done.stderr
    outputs = json.loads((lab.files / "executed.ipynb").read_text())["cells"][1]["outputs"]
    (output,) = [one for one in outputs if one["output_type"] == "display_data"]
    text = "".join(output["data"]["text/plain"])
    assert "This needs approval, but" in text
    assert text.endswith("I could not make it.")
    assert output["data"]["application/vnd.onyx.turn+json"]["status"] == "final"
    assert not (lab.files / "headless.txt").exists()


def execute(folder: Path, environment: dict[str, str], *sources: str) -> subprocess.CompletedProcess[str]:
    """`jupyter execute` on a notebook with these cells; the result is executed.ipynb."""
    write_notebook(folder / "alone.ipynb", [cell(f"c{number}", source) for number, source in enumerate(sources)])
    code = "from nbclient.cli import NbClientApp; NbClientApp.launch_instance()"
    return subprocess.run(
        [sys.executable, "-c", code, "--output=executed", str(folder / "alone.ipynb")],
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
        timeout=LIMIT_S,
        check=False,
    )
