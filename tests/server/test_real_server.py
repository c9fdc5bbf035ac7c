"""A real `jupyter server` process: killed in the middle of an answer, it comes back with everything."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import psutil
import pytest
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from onyx_jupyter.testing.script import Call, Hang, HttpError
from tests.collaboration import SERVER_EXTENSIONS, without_collaboration
from tests.free_port import free_port
from tests.server.client import Client
from tests.server.processes import lives
from tests.skills.notebooks import cell, write_notebook
from tests.waiting import LIMIT_S, until

TOKEN = "test-token-0123456789"


class RealServer:
    """A server process on a home and a root of its own."""

    def __init__(self, folder, onyx_home) -> None:
        self.root = folder / "served"
        self.root.mkdir(exist_ok=True)
        self.log = folder / "server.log"
        self._home = onyx_home
        self._folder = folder
        without_collaboration(folder / "config")

    def start(self, *options: str) -> None:
        self.port = free_port()
        command = [
            sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", f"--port={self.port}",
            f"--ServerApp.root_dir={self.root}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}",
            "--ServerApp.jpserver_extensions=onyx_jupyter=True", "--debug",
            # The line above takes the place of what the configuration says of other extensions.
            *(f"--ServerApp.jpserver_extensions={name}=False" for name in SERVER_EXTENSIONS), *options,
        ]  # fmt: skip
        environment = {
            **os.environ,
            "ONYX_HOME": str(self._home),
            "JUPYTER_CONFIG_DIR": str(self._folder / "config"),
            "JUPYTER_RUNTIME_DIR": str(self._folder / "runtime"),
        }
        with self.log.open("a") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(LIMIT_S)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(LIMIT_S)

    async def client(self) -> Client:
        request = HTTPRequest(
            f"ws://127.0.0.1:{self.port}/onyx/ws", headers={"Authorization": f"token {TOKEN}"}, connect_timeout=20
        )
        return Client(await websocket_connect(request))

    async def up(self) -> None:
        """Returns when it answers; the first answer takes as long as its imports."""
        await until(self._answers)

    def _answers(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api", timeout=5):
            return True
        return False


@pytest.fixture
def server(tmp_path, onyx_home):
    running = RealServer(tmp_path, onyx_home)
    running.start()
    yield running
    running.kill()


async def test_server_killed_during_stream_recovers_everything(server, replies, onyx_home):
    replies.next = [
        ["I will ask.", Call("exec", {"command": "echo x >> runs.txt"})],
        ["Half an answer", Hang()],
        "Back",
    ]
    await server.up()
    client = await server.client()
    waiting = (await client.ask("sessions.create"))["sessionKey"]
    streaming = (await client.ask("sessions.create"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=waiting, message="Run it"))["runId"]
    before = await client.event("exec.approval_request")
    await client.ask("chat.send", sessionKey=streaming, message="Tell me")
    await client.event("chat.delta", text="Half an answer")
    await until(lambda: list((onyx_home / "sessions").rglob("*.partial")))
    await until(lambda: "Half an answer" in next((onyx_home / "sessions").rglob("*.partial")).read_text())
    server.kill()
    await client.close()

    server.start()
    await server.up()
    client = await server.client()
    (after,) = (await client.ask("approvals.list"))["approvals"]
    anew = {"seq": 0, "version": after["version"]}  # it is shown anew, and a yes to the card from before is none to it
    assert {**after, **anew} == {**before, **anew}
    assert after["version"] != before["version"]
    entries = (await client.ask("sessions.get", sessionKey=streaming))["messages"]
    assert [entry["content"] for entry in entries] == ["", "Tell me", "Half an answer", ""]
    assert entries[-1]["meta"]["outcome"] == "interrupted"
    assert not (server.root / "runs.txt").exists()
    await client.ask("sessions.subscribe", sessionKey=waiting)
    await client.ask("exec.approve", approvalId=after["approvalId"])
    name, data = await client.end(run_id)
    assert (name, data["text"]) == ("chat.final", "Back")
    assert (server.root / "runs.txt").read_text() == "x\n"
    await client.close()


async def test_killed_server_answers_each_queued_message_once(server, replies, onyx_home):
    hang = Hang()
    replies.next = [["One", hang], "heard 2", "heard 3"]
    await server.up()
    client = await server.client()
    key = (await client.ask("sessions.create"))["sessionKey"]
    first = (await client.ask("chat.send", sessionKey=key, message="1"))["runId"]
    await client.event("chat.delta", text="One")
    steered = await client.ask("chat.send", sessionKey=key, message="2")
    queued = await client.ask("chat.send", sessionKey=key, message="3", whenBusy="followup")
    assert (steered["runId"], steered["delivery"], queued["delivery"]) == (first, "steer", "followup")
    server.kill()
    await client.close()

    server.start()
    await server.up()
    client = await server.client()
    await client.ask("sessions.subscribe", sessionKey=key)
    await client.end(queued["runId"])
    entries = (await client.ask("sessions.get", sessionKey=key))["messages"]
    assert [e["content"] for e in entries if e["role"] == "user"] == ["1", "2", "3"]
    assert [e["content"] for e in entries if e["role"] == "assistant"][-2:] == ["heard 2", "heard 3"]
    ends = [e["meta"]["outcome"] for e in entries if e.get("meta", {}).get("kind") == "run_end"]
    assert ends == ["interrupted", "final", "final"]
    assert [request.last_user_text for request in replies.requests][1:] == ["2", "3"]
    await client.close()


async def test_queued_messages_are_answered_after_start_without_client(server, replies, onyx_home):
    replies.next = [["One", Hang()], "heard 2"]
    await server.up()
    client = await server.client()
    key = (await client.ask("sessions.create"))["sessionKey"]
    await client.ask("chat.send", sessionKey=key, message="1")
    await client.event("chat.delta", text="One")
    await client.ask("chat.send", sessionKey=key, message="2", whenBusy="followup")
    server.kill()
    await client.close()

    server.start()
    (file,) = (onyx_home / "sessions").glob(f"*/{key}.jsonl")
    await until(lambda: "heard 2" in file.read_text())
    loaded = {Path(one.path).name for one in psutil.Process(server.process.pid).memory_maps()}
    assert not [name for name in loaded if name.startswith(("_lance", "lance"))], (
        "what only a client needs stays unloaded"
    )


async def test_stopped_server_exits_immediately_and_keeps_queue(server, replies, onyx_home):
    replies.next = [[Call("exec", {"command": "true"})]]
    await server.up()
    client = await server.client()
    key = (await client.ask("sessions.create"))["sessionKey"]
    await client.ask("chat.send", sessionKey=key, message="Run it")
    request = await client.event("exec.approval_request")
    await asyncio.to_thread(server.stop)
    server.start()
    await server.up()
    again = await server.client()
    (pending,) = (await again.ask("approvals.list"))["approvals"]
    assert pending["approvalId"] == request["approvalId"]
    for one in (client, again):
        await one.close()


async def test_server_log_has_errors_but_no_secret(server, replies, onyx_home):
    key = json.loads((onyx_home / "onyx.json").read_text())["providers"]["scripted"]["apiKey"]
    replies.next = [[HttpError(401, f"Incorrect API key provided: {key}", "invalid_api_key")]]
    await server.up()
    client = await server.client()
    session = (await client.ask("sessions.create"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=session, message="Go"))["runId"]
    assert (await client.end(run_id))[0] == "chat.error"
    (onyx_home / "onyx.json").write_text("{ runtime: { maxTurns: 'many' } }")
    await client.ask("models.list", refresh=True)
    await client.close()
    await asyncio.to_thread(server.stop)
    log = server.log.read_text()
    assert key not in log
    assert f"token={TOKEN}" not in log.replace(f"/?token={TOKEN}", "").replace(f"/tree?token={TOKEN}", "")
    (line,) = [line for line in log.splitlines() if "runtime.maxTurns is 'many'" in line]
    assert line.startswith("[E ")
    assert "Onyx]" in line
    assert "Traceback" not in log


async def test_server_killed_during_notebook_run_leaves_record_and_no_kernel(server, onyx_home):
    waits = "import os, subprocess, time\nchild = subprocess.Popen(['sleep', '600'])\nprint(os.getpid(), child.pid)\n"
    path = onyx_home / "skills" / "wait.ipynb"
    write_notebook(path, cell("print('done')"), cell(f"{waits}time.sleep(600)"))
    await server.up()
    client = await server.client()
    shown = (await client.ask("skills.get", name="wait"))["skill"]
    await client.ask("skills.trust", name="wait", hash=shown["hash"])
    run_id = (await client.ask("skills.run", name="wait"))["runId"]
    said = await client.until(
        lambda frame: frame.get("event") == "skills.run_progress" and frame["data"]["line"].count(" ") == 1
    )
    pids = [int(word) for word in said["data"]["line"].split()]
    assert all(map(lives, pids))
    server.kill()
    await client.close()
    await until(lambda: not any(map(lives, pids)))

    server.start()
    await server.up()
    client = await server.client()
    (run,) = (await client.ask("skills.runs"))["runs"]
    assert (run["runId"], run["status"]) == (run_id, "interrupted")
    assert run["finishedAt"]
    copy = (await client.ask("skills.copy", runId=run_id))["notebook"]
    assert copy["metadata"]["onyx"]["run"]["status"] == "interrupted"
    assert copy["cells"][0]["outputs"][0]["text"] == "done\n"
    await client.close()
