"""Cells of a real kernel that a real server has started, as a front end without anything of ours runs them."""

from __future__ import annotations

import json
import threading
import urllib.request
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import websocket

from tests.e2e.lab_server import TOKEN, LabServer

LIMIT_S = 60.0


@dataclass
class Ran:
    """How a cell ended: its status, what it raised, its displays at the end and at each prompt, its next cell."""

    status: str
    ename: str = ""
    evalue: str = ""
    traceback: str = ""
    displays: dict[str, dict[str, Any]] = field(default_factory=dict)
    stdout: str = ""
    next_cell: str | None = None
    at_prompts: list[str] = field(default_factory=list)

    @property
    def html(self) -> str:
        """What a front end shows below the cell."""
        return "\n\n".join(bundle.get("text/html", "") for bundle in self.displays.values())

    @property
    def markdown(self) -> str:
        """The same as text."""
        return "\n\n".join(bundle["text/plain"] for bundle in self.displays.values() if "text/html" in bundle)


class Cells:
    """One kernel of a server's notebook, through the server's own socket for it."""

    def __init__(self, lab: LabServer, notebook: str) -> None:
        self._lab = lab
        self.notebook = notebook
        body = {"path": notebook, "name": notebook, "type": "notebook", "kernel": {"name": "python3"}}
        self.kernel_id: str = api(lab, "api/sessions", body)["kernel"]["id"]
        self._session = uuid.uuid4().hex
        url = lab.url(f"api/kernels/{self.kernel_id}/channels").partition("?")[0].replace("http", "ws", 1)
        headers = [f"Authorization: token {TOKEN}"]
        self._socket = websocket.create_connection(url, header=headers, timeout=LIMIT_S)

    def run(self, source: str, answer: Callable[[str], str] | None = None) -> Ran:
        """Runs a cell; `answer` is what a person types at a prompt, None a front end that takes no input."""
        return self._run(source, answer, lambda bundle: None)

    def start(self, source: str, on_display: Callable[[dict[str, Any]], object]) -> Callable[[], Ran]:
        """Runs a cell in a thread, telling of each display; what is given back waits for its end."""
        done: list[Ran] = []
        thread = threading.Thread(target=lambda: done.append(self._run(source, None, on_display)), daemon=True)
        thread.start()

        def wait() -> Ran:
            thread.join(LIMIT_S)
            assert done, "the cell goes on"
            return done[0]

        return wait

    def _run(
        self, source: str, answer: Callable[[str], str] | None, on_display: Callable[[dict[str, Any]], object]
    ) -> Ran:
        ran = Ran("")
        allow = answer is not None
        asked = self._send("shell", "execute_request", {"code": source, "allow_stdin": allow, "silent": False})
        idle = False
        while not (idle and ran.status):
            message = json.loads(self._socket.recv())
            if message["parent_header"].get("msg_id") != asked:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "input_request":
                assert answer is not None
                ran.at_prompts.append(ran.markdown)
                self._send("stdin", "input_reply", {"value": answer(content["prompt"]), "status": "ok"})
            elif kind == "execute_reply":
                ran.status = content["status"]
                nexts = [one["text"] for one in content.get("payload", ()) if one["source"] == "set_next_input"]
                ran.next_cell = nexts[-1] if nexts else None
            elif kind == "status":
                idle = content["execution_state"] == "idle"
            else:
                _add(ran, kind, content)
                if kind.endswith("display_data"):
                    on_display(content["data"])
        return ran

    def _send(self, channel: str, kind: str, content: Mapping[str, Any]) -> str:
        message_id = uuid.uuid4().hex
        header = {"msg_id": message_id, "msg_type": kind, "username": "", "session": self._session, "version": "5.4"}
        frame = {"channel": channel, "header": header, "parent_header": {}, "metadata": {}, "content": content}
        self._socket.send(json.dumps({**frame, "buffers": []}))
        return message_id

    def interrupt(self) -> None:
        """As the stop button does it."""
        api(self._lab, f"api/kernels/{self.kernel_id}/interrupt", {})

    def value(self, expression: str) -> Any:
        """A JSON-able value in the kernel."""
        ran = self.run(f"import json; print(json.dumps({expression}))")
        assert ran.status == "ok", ran.evalue
        return json.loads(ran.stdout)

    def close(self) -> None:
        self._socket.close()
        api(self._lab, f"api/kernels/{self.kernel_id}", None, "DELETE")


def api(lab: LabServer, path: str, body: Any = None, method: str | None = None) -> Any:
    """Jupyter's own REST interface."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"}
    address = lab.url(path).partition("?")[0]
    request = urllib.request.Request(address, data=data, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def _add(ran: Ran, kind: str, content: Mapping[str, Any]) -> None:
    match kind:
        case "stream":
            ran.stdout += content["text"] if content["name"] == "stdout" else ""
        case "error":
            ran.ename, ran.evalue = content["ename"], content["evalue"]
            ran.traceback = "\n".join(content["traceback"])
        case "display_data" | "update_display_data":
            key = (content.get("transient") or {}).get("display_id") or str(len(ran.displays))
            ran.displays[key] = content["data"]
