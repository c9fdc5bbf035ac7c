"""Replies for demonstrations and browser tests, chosen by words of the last user message."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from onyx_jupyter.testing.script import Call, Cut, Finish, Hang, HttpError, Pause, Reply, Say, Step, Think, Tokens

MARKDOWN = r"""## What this looks like

A list, some **bold** text and `inline code`:

- one
- two

```python
import math

print(math.sqrt(2))
```

The area of a circle is $A = \pi r^2$, and

$$\int_0^1 x^2\,dx = \tfrac{1}{3}$$

| language | typed |
|---|---|
| Python | gradually |
| Rust | always |

```mermaid
graph LR
  Question --> Answer
```
"""
_TEXT_CHARS = 12
_STEP_KINDS = "say, think, call, tokens, pause, hang, error, cut, finish"


class ChatRequest(Protocol):
    """What a reply is chosen by; `body` is the request in OpenAI's form."""

    @property
    def body(self) -> Mapping[str, Any]: ...

    @property
    def last_user_text(self) -> str: ...


def demo_replies(request: ChatRequest) -> Reply:
    """One reply by words of the question; after a tool has answered, a sentence about its result."""
    results = _results_of_this_turn(request)
    if results:
        return [Say(f"The tool answered:\n\n```\n{results[-1][:400]}\n```\n", _TEXT_CHARS)]
    question = request.last_user_text.lower()
    for pattern, reply in _DEMO:
        if re.search(pattern, question):
            return reply(request)
    return [Say(f"This is the scripted model. You said: {request.last_user_text.strip()[:200]}", _TEXT_CHARS)]


def replies_from_file(path: Path) -> Callable[[ChatRequest], Reply]:
    """Replies from a JSON file: `[{"match": regex, "turns": [[step, …], …]}, …]`, the first rule that matches.

    A step is a string or `{"say": text, "chunkChars"?, "delayMs"?}`, `{"think": text, …}` with the same options,
    `{"call": {"name", "arguments"}}`, `{"pause": seconds}`, `{"tokens": [in, out]}`,
    `{"error": {"status", "message"?, "code"?, "headers"?}}`, `{"finish": reason}`, `{"hang": true}`
    or `{"cut": true}`. `turns[n]` answers after n tool rounds; the last one repeats.

    Raises: ValueError, KeyError for anything else.
    """
    rules = [
        (re.compile(rule["match"], re.IGNORECASE), [[_step(step) for step in turn] for turn in rule["turns"]])
        for rule in json.loads(path.read_text("utf-8"))
    ]

    def choose(request: ChatRequest) -> Reply:
        for pattern, turns in rules:
            if pattern.search(request.last_user_text):
                return turns[min(_rounds_of_this_turn(request), len(turns) - 1)]
        return demo_replies(request)

    return choose


def _step(step: str | Mapping[str, Any]) -> Step:
    match step:
        case str():
            return Say(step)
        case {"say": str(text)}:
            return Say(text, step.get("chunkChars"), step.get("delayMs", 0) / 1000)
        case {"think": str(text)}:
            return Think(text, step.get("chunkChars"), step.get("delayMs", 0) / 1000)
        case {"call": {"name": str(name)} as call}:
            return Call(name, call.get("arguments", {}), call.get("id"))
        case {"tokens": [input_tokens, output_tokens]}:
            return Tokens(input_tokens, output_tokens)
        case {"pause": seconds}:
            return Pause(seconds)
        case {"error": error}:
            return HttpError(error["status"], error.get("message", ""), error.get("code"), error.get("headers", {}))
        case {"finish": reason}:
            return Finish(reason)
        case {"hang": True}:
            return Hang()
        case {"cut": True}:
            return Cut()
    raise ValueError(f"{step!r} is no step; a step is a string or has one of: {_STEP_KINDS}.")


def _since_question(request: ChatRequest) -> list[Mapping[str, Any]]:
    messages = list(request.body.get("messages", ()))
    last = max((index for index, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    return messages[last + 1 :]


def _results_of_this_turn(request: ChatRequest) -> list[str]:
    return [str(message.get("content")) for message in _since_question(request) if message.get("role") == "tool"]


def _rounds_of_this_turn(request: ChatRequest) -> int:
    return sum(1 for message in _since_question(request) if message.get("role") == "assistant")


def _notebook_path(request: ChatRequest) -> str:
    found: list[str] = re.findall(r"[\w./-]+\.ipynb", json.dumps(request.body.get("messages", ())))
    return found[-1] if found else "Untitled.ipynb"


def _insert_cell(request: ChatRequest) -> Reply:
    source = "print('Hello from Onyx')"
    arguments = {"path": _notebook_path(request), "cellType": "code", "source": source}
    return [Say("I will add a cell.", _TEXT_CHARS), Call("notebook_insert_cell", arguments)]


def _run_command(request: ChatRequest) -> Reply:
    command = re.search(r"`([^`]+)`", request.last_user_text)
    return [
        Say("I will run that.", _TEXT_CHARS),
        Call("exec", {"command": command.group(1) if command else "echo hello from onyx"}),
    ]


_DEMO: tuple[tuple[str, Callable[[ChatRequest], Reply]], ...] = (
    (r"\bcell\b|\bnotebook\b", _insert_cell),
    (r"\brun\b|\bcommand\b|\bshell\b", _run_command),
    (r"\bmarkdown\b", lambda _: [Say(MARKDOWN, _TEXT_CHARS, 0.01)]),
    (
        r"\bthink",
        lambda _: [Think("I look at it from one side, then from another. " * 12, 5, 0.04), Say("So it is.", 3)],
    ),
    (r"\bslow", lambda _: [Say("This answer takes its time. " * 40, _TEXT_CHARS, 0.1)]),
    (r"\bfast\b|\blong\b", lambda _: [Say("word " * 4000, 5, 0.005)]),
    (r"\bhang\b", lambda _: [Say("And then nothing"), Hang()]),
    (r"\bkey\b", lambda _: [HttpError(401, "Incorrect API key provided.", "invalid_api_key")]),
    (r"\blimit\b", lambda _: [HttpError(429, "Slow down.", "rate_limit_exceeded", {"retry-after": "7"})]),
    (r"\bcut\b", lambda _: [Say("It breaks here"), Cut()]),
)
