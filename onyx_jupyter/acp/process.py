"""One agent's process: JSON messages over its input and output, within limits, and its end with all it started."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onyx_jupyter.acp.registry import AgentCommand
from onyx_jupyter.errors import ModelError
from onyx_jupyter.processes.environment import command_environment
from onyx_jupyter.processes.process_reaper import ProcessReaper
from onyx_jupyter.processes.process_tree import end_process_tree

log = logging.getLogger(__name__)
MAX_MESSAGE_BYTES = 8 * 1024 * 1024
MAX_TURN_BYTES = 128 * 1024 * 1024
MAX_TURN_MESSAGES = 100_000
MAX_STRAY_LINES = 1_000
SHOWN_LINES, SHOWN_CHARS = 5, 1_000
_EXIT_S = 0.5


class AgentProcess:
    """A process in a session of its own; `start` creates one. It carries the messages of `acp.connection.Connection`.

    `broken` says why no further message is read, once it is over. What the agent writes to stderr is kept in memory,
    its last lines only.
    """

    def __init__(self, agent: AgentCommand, process: asyncio.subprocess.Process, marker: str) -> None:
        self.broken: ModelError | None = None
        self._agent = agent
        self._process = process
        self._marker = marker
        self._reaper: ProcessReaper | None = None
        self._stderr: deque[str] = deque(maxlen=SHOWN_LINES)
        self._reading_stderr = asyncio.create_task(self._read_stderr(), name=f"onyx {agent.name} stderr")
        self._room = asyncio.Event()
        self._room.set()
        self._writing = asyncio.Lock()
        self._bytes = self._messages = self._stray = 0

    @classmethod
    async def start(cls, agent: AgentCommand, folder: Path, reaper: ProcessReaper | None) -> AgentProcess:
        """Raises: ModelError if the program cannot be started."""
        marker, pipe = secrets.token_hex(16), asyncio.subprocess.PIPE
        if reaper is not None:
            await reaper.watch(marker)
        try:
            process = await asyncio.create_subprocess_exec(
                *agent.command,
                cwd=folder,
                env=command_environment(marker, agent.keys) | dict(agent.env),
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                limit=MAX_MESSAGE_BYTES,
                start_new_session=True,
            )
        except OSError as error:
            if reaper is not None:
                reaper.release(marker)
            hint = f"Install it: {agent.install}." if agent.install else "Check acp.agents in onyx.json."
            raise ModelError(
                "not_found",
                f"{agent.title} could not be started: {agent.command[0]}: {error.strerror or error}.",
                hint=hint,
                permanent=True,
            ) from error
        started = cls(agent, process, marker)
        if reaper is not None:
            started._reaper = reaper
            await reaper.watch(marker, process.pid)
        return started

    @property
    def last_words(self) -> str:
        """What it last wrote to stderr, to follow a sentence; empty if nothing."""
        words = "\n".join(self._stderr)[-SHOWN_CHARS:]
        return f" Its last words:\n{words}" if words else ""

    def begin_turn(self) -> None:
        """The limits of a turn count from here."""
        self._bytes = self._messages = 0

    def hold(self, *, is_full: bool) -> None:
        """While it is full, nothing is read: the agent's pipe fills up, and the agent waits."""
        self._room.clear() if is_full else self._room.set()

    async def send(self, message: Mapping[str, Any]) -> None:
        """Raises: ConnectionError if the agent reads no more."""
        stdin = self._process.stdin
        if stdin is None or stdin.is_closing() or self.broken is not None:
            raise ConnectionError("the agent has ended")
        async with self._writing:
            stdin.write(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
            await stdin.drain()

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None at the end, of which `broken` gives the reason."""
        while self.broken is None:
            await asyncio.sleep(0)  # what was read is dealt with first, however much has come at once
            await self._room.wait()
            line = await self._next_line()
            if line is None:
                break
            message = _parsed(line)
            if message is not None:
                return message
            self._stray += 1  # programs print banners and warnings here
            if self._stray > MAX_STRAY_LINES:
                self.broken = self._error("sent output that isn't the Agent Client Protocol", code="bad_response")
        return None

    async def close(self) -> None:
        """Ends the process and everything that it started; takes a second at most."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        await asyncio.to_thread(end_process_tree, self._process.pid, self._marker)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_S):
                await self._process.wait()
                await asyncio.wait([self._reading_stderr])  # to its end, which closes the pipe
        self._reading_stderr.cancel()
        await asyncio.gather(self._reading_stderr, return_exceptions=True)
        if self._reaper is not None:
            self._reaper.release(self._marker)

    async def _next_line(self) -> bytes | None:
        assert self._process.stdout is not None
        try:
            line = await self._process.stdout.readuntil(b"\n")
        except asyncio.LimitOverrunError:
            limit = f"{MAX_MESSAGE_BYTES // 2**20} MB"
            self.broken = self._error(f"sent a message of more than {limit}", code="bad_response")
            return None
        except asyncio.IncompleteReadError:
            self.broken = await self._ended()
            return None
        self._bytes += len(line)
        self._messages += 1
        if self._bytes > MAX_TURN_BYTES or self._messages > MAX_TURN_MESSAGES:
            self.broken = self._error("sent more than fits into one answer", code="bad_response")
            return None
        return line

    async def _ended(self) -> ModelError:
        """The error for an agent whose output has ended: by itself, so its exit and last words belong to it."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_S):
                await self._process.wait()
                await self._reading_stderr
        code = self._process.returncode
        return self._error("ended" + (f" (exit code {code})" if code is not None else ""), code="unavailable")

    def _error(self, what: str, *, code: str) -> ModelError:
        message = f"{self._agent.title} {what}.{self.last_words}"
        hint = "What it had said is kept. Ask again to start it anew."
        return ModelError("bad_response" if code == "bad_response" else "unavailable", message, hint=hint)

    async def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        while piece := await self._process.stderr.read(16_384):
            lines = piece.decode("utf-8", "replace").splitlines()
            self._stderr.extend(line[:SHOWN_CHARS] for line in lines[-SHOWN_LINES:] if line.strip())


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None
