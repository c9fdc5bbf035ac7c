"""A scripted model that sums up when it is asked to, and answers from its script otherwise."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from onyx_jupyter.agent.summary import HEADINGS, MEMORY_HEADING, SYSTEM
from onyx_jupyter.agent.token_count import request_tokens
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.testing.script import Reply, Tokens, steps
from onyx_jupyter.testing.scripted_model import ScriptedModel
from tests.runs.house import House

WINDOW = 16_000
LIMIT = WINDOW * 3 // 4
PROPOSAL = {"op": "add", "target": "MEMORY.md#Wishes", "content": "Likes plots in blue.", "reason": "Said so."}


def a_summary(words: str = "Nothing special.", memory: Any = ()) -> str:
    """An answer in the agreed form."""
    parts = [f"## {heading}\n{words}" for heading in HEADINGS]
    return "\n\n".join([*parts, f"## {MEMORY_HEADING}\n```json\n{json.dumps(list(memory))}\n```"])


def is_summary(request: ModelRequest) -> bool:
    return request.system == SYSTEM


def house_of(
    folder: Path,
    answer: Callable[[ModelRequest], Reply],
    summary: Callable[[ModelRequest], Reply] = lambda request: a_summary(),
    *,
    window: int = WINDOW,
    config: str = '{"memory": {"consolidation": false}}',
    light: bool = False,
) -> House:
    """A house whose model has a window of that many tokens, and counts as Onyx does where the script says nothing."""

    def reply(request: ModelRequest) -> Reply:
        parts = steps(summary(request) if is_summary(request) else answer(request))
        return parts if any(isinstance(part, Tokens) for part in parts) else [Tokens(tokens(request), 1), *parts]

    model = ScriptedModel(reply, context_window=window, light=light)
    house = House(folder, models={model.id: model}, config=config)
    house.model = model
    return house


def asked(house: House) -> list[ModelRequest]:
    """The agent's own requests."""
    return [request for request in house.model.requests if not is_summary(request)]


def side_requests(house: House) -> list[ModelRequest]:
    return [request for request in house.model.requests if is_summary(request)]


def all_paired(request: ModelRequest) -> bool:
    """Whether each call has its result right behind its reply, and no result is without its call."""
    waiting: list[str] = []
    for message in request.messages:
        if message.role == "tool":
            if not waiting or message.tool_call_id != waiting.pop(0):
                return False
        elif waiting:
            return False
        else:
            waiting = [call.id for call in message.tool_calls]
    return not waiting


def tokens(request: ModelRequest) -> int:
    return request_tokens(request)


def kinds(house: House, key: str) -> list[str]:
    """The kinds of the system entries on disk that are about the context."""
    found = [line["meta"].get("kind") for line in house.lines(key) if line["role"] == "system"]
    return [kind for kind in found if kind in ("compaction", "compaction_failed")]
