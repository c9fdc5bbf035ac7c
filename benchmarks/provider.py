"""The scripted provider in its own process, so that neither side of the measurement waits for the other.

Replies are asked for by the words of the question: `stamps COUNT RATE`, `chunks COUNT RATE`, `markdown COUNT RATE`,
`silence`, `exec COMMAND`, `cell PATH CELL` (runs it), `look WORDS` (in the memory), `note TEXT` (into it).
`python -m benchmarks.provider` prints its address, then one JSON line whenever a client has left an answer.
"""

from __future__ import annotations

import asyncio
import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from onyx_jupyter.testing.script import Call, Hang, Pause, Reply, Say, Step
from onyx_jupyter.testing.scripted_server import Received, ScriptedServer

CHUNK_CHARS = 4
SECTION_WORDS = 200
_LINE = "Each of them has four of these characters. "
_LEFT_TIMEOUT_S = 300.0


def numbered_word(index: int) -> str:
    """The word at this position of a `markdown` answer."""
    return f"w{index:04d}"


class ProviderProcess:
    """The benchmarks' handle on the process."""

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "benchmarks.provider"]
        self._popen = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.base_url: str = json.loads(self._lines.get(timeout=60))["baseUrl"]
        return self

    def __exit__(self, *_: object) -> None:
        self._popen.terminate()
        self._popen.wait(10)

    @property
    def configuration(self) -> dict[str, Any]:
        """An `onyx.json` in which this provider answers."""
        return {
            "agents": {"defaults": {"model": "openai/scripted"}},
            "providers": {"openai": {"baseUrl": self.base_url, "apiKey": "sk-scripted"}},
        }

    @property
    def responses_configuration(self) -> dict[str, Any]:
        """The same, at OpenAI's own address: see `providers.openai_address`."""
        return {
            "agents": {"defaults": {"model": "openai/scripted"}},
            "providers": {"openai": {"apiKey": "sk-scripted"}},
        }

    @property
    def anthropic_configuration(self) -> dict[str, Any]:
        """The same, with the provider's other protocol."""
        address = self.base_url.removesuffix("/v1")
        return {
            "agents": {"defaults": {"model": "anthropic/claude-scripted"}},
            "providers": {"anthropic": {"baseUrl": address, "apiKey": "sk-scripted"}},
        }

    def client_left_ns(self, timeout_s: float = 10.0) -> int:
        """When a client last closed its connection before the answer's end. Raises: queue.Empty."""
        at_ns: int = json.loads(self._lines.get(timeout=timeout_s))["leftNs"]
        return at_ns

    def _listen(self) -> None:
        assert self._popen.stdout is not None
        for line in self._popen.stdout:
            self._lines.put(line)


class _Stamp(Say):
    """A chunk of text that is its own time of writing."""

    @property
    def pieces(self) -> list[str]:
        return [f"{time.monotonic_ns()} "]


def piece_text(index: int) -> str:
    """The chunk at this position of a cyclic text in which no two neighbours are equal."""
    start = index * CHUNK_CHARS
    return "".join(_LINE[(start + offset) % len(_LINE)] for offset in range(CHUNK_CHARS))


class _Piece(Say):
    """The next chunk of a `chunks` answer."""

    def __init__(self, index: int) -> None:
        super().__init__(piece_text(index))


class _NumberedPiece(Say):
    """The next word of a long Markdown answer with headings, lists and code; numbered, so that none can be missing."""

    def __init__(self, index: int) -> None:
        before = {0: "\n\n## Another part\n\n", 60: "\n\n```python\n", 120: "\n```\n\n"}.get(index % SECTION_WORDS, "")
        if not before and index % SECTION_WORDS > 120 and index % 10 == 0:
            before = "\n- "
        elif not before and 60 < index % SECTION_WORDS < 120 and index % 6 == 0:
            before = "\n"
        super().__init__(f"{before}{numbered_word(index)} ")


class _Until(Pause):
    """Waits for the next tick of a steady rate, whatever earlier chunks took."""

    _rhythm: _Rhythm
    _due_s: float

    def __init__(self, rhythm: _Rhythm, due_s: float) -> None:
        object.__setattr__(self, "_rhythm", rhythm)
        object.__setattr__(self, "_due_s", due_s)

    @property
    def seconds(self) -> float:
        return max(self._rhythm.began_at + self._due_s - time.monotonic(), 0.0)


@dataclass
class _Rhythm:
    _began_at: float | None = None

    @property
    def began_at(self) -> float:
        if self._began_at is None:
            self._began_at = time.monotonic()
        return self._began_at


def _replies(request: Received) -> Reply:
    if any(message.get("role") == "tool" for message in _since_question(request)):
        return ["Done."]
    word, _, rest = request.last_user_text.partition(" ")
    threading.Thread(target=_tell_when_left, args=(request,), daemon=True).start()
    if word == "stamps":
        return _steady(lambda _: _Stamp(""), rest)
    if word == "chunks":
        return _steady(_Piece, rest)
    if word == "markdown":
        return _steady(_NumberedPiece, rest)
    if word == "exec":
        return ["I run it.", Call("exec", {"command": rest})]
    if word == "cell":
        path, cell_id = rest.split()
        return ["I run it.", Call("notebook_run_cell", {"path": path, "cellId": cell_id})]
    if word == "look":
        return ["I look.", Call("memory_search", {"query": rest})]
    if word == "note":
        return ["I note it.", Call("memory_write", {"content": rest})]
    if word == "silence":
        return [Hang()]
    return ["Hello."]


def _steady(piece: Callable[[int], Say], numbers: str) -> list[Step | str]:
    count, rate = (float(number) for number in numbers.split()[:2])
    rhythm = _Rhythm()
    return [step for index in range(int(count)) for step in (_Until(rhythm, index / rate), piece(index))]


def _since_question(request: Received) -> list[Mapping[str, Any]]:
    messages = list(request.body.get("messages", ()))
    last = max((index for index, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    return messages[last + 1 :]


def _tell_when_left(request: Received) -> None:
    if asyncio.run(request.client_left(_LEFT_TIMEOUT_S)):
        _say({"leftNs": time.monotonic_ns()})


def _say(data: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(data) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with ScriptedServer(_replies) as server:
        _say({"baseUrl": server.base_url})
        sys.stdin.read()
