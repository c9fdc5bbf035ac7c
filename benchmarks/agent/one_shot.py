"""The model alone: it writes a script for the question without seeing the table, and is told its errors."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Protocol, Self

from benchmarks.agent.task import TIME_LIMIT_S, Task, Turn
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.local_server import LocalServer
from onyx_jupyter.providers.local_weights import find_weights

REPAIRS = 3
TEMPERATURE = 0.2
_MAX_TOKENS = 1024
_SCRIPT_TIMEOUT_S = 120.0
_ERROR_CHARS = 1500
_WISH = "Write one Python script that prints the answer. The working directory holds the file."
_FENCED = re.compile(
    r"^[ \t]*```(?:python|py)?[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL | re.IGNORECASE
)
_KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "SYSTEMROOT")


class OneShot:
    """One process of the model for all tasks, while it is entered. Raises: ModelError where there is no such model."""

    def __init__(self, model: str, time_limit_s: float = TIME_LIMIT_S, threads: int | None = None) -> None:
        self._time_limit_s = time_limit_s
        self._server = LocalServer(find_weights(model.removeprefix("local/")), threads=threads, clock=SystemClock())

    def __enter__(self) -> Self:
        self._runner = asyncio.Runner()
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._server.stop())
        self._runner.close()

    def run(self, task: Task, kept: Path) -> list[Turn]:
        """Keeps what the model said. Raises: ValueError for a task that is about a notebook."""
        if task.notebook is not None:
            raise ValueError(f"{task.id} is about a notebook, of which a model alone sees nothing.")
        conversation = _Conversation(self._server)
        turn = self._runner.run(self._turn(task, conversation))
        kept.mkdir(parents=True, exist_ok=True)
        kept.joinpath("conversation.md").write_text(conversation.as_text(), "utf-8")
        return [turn]

    async def _turn(self, task: Task, conversation: _Conversation) -> Turn:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="onyx-bench-") as folder:
            for file in task.files:
                shutil.copy(file, folder)
            error, printed = "", [""]
            try:
                async with asyncio.timeout(self._time_limit_s):
                    await self._start()
                    began = time.monotonic()  # loading is done once, and for no question in particular
                    error, printed = await answer_with_scripts(
                        conversation, f"{task.messages[0]}\n\n{_WISH}", Path(folder)
                    )
            except TimeoutError:
                error = f"no answer within {self._time_limit_s:.0f} s"
            except ModelError as problem:
                error = str(problem)
        return Turn(
            task.messages[0],
            "" if error else printed[-1],
            outputs=printed,
            model_calls=conversation.calls,
            prompt_tokens=conversation.prompt_tokens,
            completion_tokens=conversation.completion_tokens,
            seconds=time.monotonic() - began,
            error=error,
        )

    async def _start(self) -> None:
        async for _ in self._server.start():
            pass


class _Conversation:
    """The exchange with the model, and its cost."""

    def __init__(self, server: LocalServer) -> None:
        self.calls = self.prompt_tokens = self.completion_tokens = 0
        self._server = server
        self._messages: list[dict[str, str]] = []

    async def ask(self, message: str) -> str:
        """The model's answer up to the end of its script: what follows is not waited for. Raises: ModelError."""
        import httpx

        self._messages.append({"role": "user", "content": message})
        body = {
            "messages": self._messages,
            "temperature": TEMPERATURE,
            "max_tokens": _MAX_TOKENS,
            "cache_prompt": True,
            "stream": True,
            "timings_per_token": True,
        }
        said, spent = "", (0, 0)
        self.calls += 1
        try:
            async with self._server.client.stream("POST", "/v1/chat/completions", json=body) as response:
                if response.status_code != 200:
                    raise ModelError("bad_response", (await response.aread()).decode(errors="replace")[:300])
                async for chunk in _chunks(response.aiter_lines()):
                    said += "".join(choice["delta"].get("content") or "" for choice in chunk.get("choices", ()))
                    if timings := chunk.get("timings"):
                        spent = timings["prompt_n"] + timings["cache_n"], timings["predicted_n"]
                    if _FENCED.search(said):
                        break
        except httpx.HTTPError:
            raise await self._server.connection_error() from None
        finally:  # what was said counts, and is kept, although the time is over
            self.prompt_tokens += spent[0]
            self.completion_tokens += spent[1]
            self._messages.append({"role": "assistant", "content": said})
        return said

    def as_text(self) -> str:
        return "\n\n".join(f"## {message['role']}\n\n{message['content']}" for message in self._messages) + "\n"


async def _chunks(lines: AsyncIterator[str]) -> AsyncIterator[dict[str, Any]]:
    async for line in lines:
        if line.startswith("data: {"):
            yield json.loads(line[6:])


class Answers(Protocol):
    """A source of scripts that remembers the conversation."""

    async def ask(self, message: str) -> str: ...


async def answer_with_scripts(conversation: Answers, message: str, folder: Path) -> tuple[str, list[str]]:
    """Asks until a script prints something and succeeds; returns the last error and everything printed."""
    printed: list[str] = []
    for _ in range(1 + REPAIRS):
        source = script_in(await conversation.ask(message))
        output, error = await asyncio.to_thread(_run, source, folder)
        printed.append(output)
        if not error:
            return "", printed
        message = f"The script failed:\n\n{error}\n\nWrite the whole script again, corrected."
    return f"the script failed {1 + REPAIRS} times: {error.splitlines()[-1]}", printed


def script_in(text: str) -> str:
    """The first fenced block, even if cut off; else the whole text, since small models may omit the fence."""
    block = _FENCED.search(f"{text}\n```")
    return textwrap.dedent(block[1]) if block else text


def _run(source: str, folder: Path) -> tuple[str, str]:
    """What the script prints, and its error."""
    script = folder / "answer.py"
    script.write_text(source, "utf-8")
    environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ} | {"MPLBACKEND": "Agg"}
    try:
        done = subprocess.run(
            [sys.executable, script.name],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SCRIPT_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", f"It took longer than {_SCRIPT_TIMEOUT_S:.0f} s."
    if done.returncode != 0:
        return done.stdout, _shortened(done.stderr.strip()) or f"It ended with code {done.returncode}."
    return done.stdout, "" if done.stdout.strip() else "It printed nothing."


def _shortened(error: str) -> str:
    """Its beginning names the line of the script and its end says what is wrong; between them are libraries."""
    half = _ERROR_CHARS // 2
    return error if len(error) <= _ERROR_CHARS else f"{error[:half]}\n[…]\n{error[-half:]}"
