"""The provider on stage: what it answers in the test at hand, and what it was asked in it. It knows no browser."""

import asyncio
import json
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from onyx_jupyter.security.external_content import unfenced
from onyx_jupyter.testing.script import Reply, ScriptEnded
from onyx_jupyter.testing.scripted_server import Received, ScriptedServer

RIGHT_KEY = "a-key-that-opens"
WRONG_KEY = "a-key-that-does-not"
Answer = Reply | Callable[[Received], Reply]


class Stage:
    """A scripted provider whose script each test sets with `play`; more requests than replies are a failure."""

    def __init__(self) -> None:
        self.server = ScriptedServer(
            self._reply, models=("writer", "thinker", "coder"), api_key=RIGHT_KEY, goes_on=False
        )
        self._answers: Sequence[Answer] = ()
        self._begin = 0
        self._next = 0
        self._silent = socket.socket()
        self._silent.bind(("127.0.0.1", 0))  # kept without listening: nobody else can take the port and answer

    def close(self) -> None:
        """Gives the silent port back."""
        self._silent.close()

    def play(self, *answers: Answer) -> None:
        """From now on: one of these for each request, in order."""
        self._answers = answers
        self._next = 0
        self._begin = len(self.server.completions)
        self.server.failures.clear()

    @property
    def asked(self) -> list[Received]:
        """The requests since `play`, in order."""
        return self.server.completions[self._begin :]

    def config(self, *, embedder: str = "auto") -> dict[str, Any]:
        """An onyx.json: this provider, the same in cell mode, one whose key it refuses, and one that is down.

        A server whose tests find nothing by its meaning does without an embedder, and without the time it takes.
        """
        here = self.server.base_url
        nowhere = f"http://127.0.0.1:{self._silent.getsockname()[1]}/v1"
        return {
            "agents": {"defaults": {"model": "scripted/writer"}},
            # A session that was left would ask for what no test has planned, and a note could join any message.
            "memory": {"consolidation": False, "recall": False, "embedder": embedder},
            "providers": {
                "scripted": {"baseUrl": here, "apiKey": RIGHT_KEY, "models": ["writer", "thinker"]},
                "cells": {"baseUrl": here, "apiKey": RIGHT_KEY, "models": ["coder"], "toolMode": "cell"},
                "locked": {"baseUrl": here, "apiKey": WRONG_KEY, "models": ["vault"]},
                "down": {"baseUrl": nowhere, "apiKey": "none", "models": ["silent"]},
            },
        }

    def _reply(self, request: Received) -> Reply:
        if self._next >= len(self._answers):
            raise ScriptEnded(f"The test has {len(self._answers)} answers, and one more request came.")
        answer = self._answers[self._next]
        self._next += 1
        return answer(request) if callable(answer) else answer


def tool_results(request: Received) -> list[str]:
    """What tools gave back, without the marks that the model sees around it, the oldest first."""
    messages: Sequence[Mapping[str, Any]] = request.body.get("messages", ())
    return [unfenced(str(message.get("content"))) for message in messages if message.get("role") == "tool"]


def inserted_cell_id(request: Received) -> str:
    """The id of the cell that was inserted last, from the tool's own words."""
    found = re.findall(r"Inserted \w+ cell (\S+)", json.dumps(tool_results(request)))
    assert found, f"no cell was inserted: {tool_results(request)}"
    return str(found[-1])


def saw_disconnect(request: Received, timeout_s: float) -> bool:
    """Whether the provider's connection was closed before its answer was complete."""
    # In a thread: the browser's own event loop runs in this one.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, request.client_left(timeout_s)).result()
