"""What a turn waits for its memory, also while the embedder hangs; beside it what a turn takes without."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.figures import Figure, Group, percentile
from benchmarks.house import House, house
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.context.recall import Recall
from onyx_jupyter.features.memory.memories import MEMORIES
from onyx_jupyter.messages import Usage
from onyx_jupyter.operations.keys import CONFIGURED, SESSIONS
from onyx_jupyter.protocols import EmbedderIdentity, ModelDone, ModelEvent, ModelRequest, TextDelta
from onyx_jupyter.providers.embedders.choice import EmbedderChoice
from onyx_jupyter.providers.embedders.local import LocalEmbedder
from onyx_jupyter.testing.scripted_model import ScriptedModels

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors

ROUNDS = 5
MESSAGES = 40
WARM_UP = 10
FILES = 300
SECTIONS = 10
LIMIT_MS = 50.0
MODEL_ID = "scripted/model"
_THINGS = ("survey", "budget", "sensor", "notebook", "garden", "letter", "model", "table", "release", "recipe")
_PLACES = ("Oslo", "Bergen", "Bonn", "Lyon", "Porto", "Graz", "Delft", "Turin", "Leeds", "Gdansk", "Aarhus", "Basel")
_TURNS = ("was moved to", "is kept in", "belongs to", "is paid by", "came from", "waits for", "was written by")
_WHOM = ("Ada", "Solveig", "Mo", "the second team", "the new office", "the river station", "the library", "Noor")
METHOD = (
    f"In one process, without a web server: {FILES} memory files of {SECTIONS} sections of about 60 words, all in the "
    f"index with the embedded embedder's vectors. {ROUNDS} rounds, each {MESSAGES} questions of a dozen words about "
    "the notes with recall, as many other ones without, and as many with recall while the embedder takes a question "
    f"and never answers; a new session each, after {WARM_UP} questions that are not counted. The wait is the time that "
    "a message is held up by recall; beside it, the time from sending a message to the request that a scripted model "
    "gets of it."
)


class _Model:
    """Answers at once; keeps the moment at which it was asked."""

    id = MODEL_ID
    light = False
    tiny = False
    context_window = 10_000_000
    asked_at = 0.0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.asked_at = time.perf_counter()
        yield TextDelta("Noted.")
        yield ModelDone(usage=Usage(100, 5))


class _Embeddings:
    """The embedded embedder; while it `hangs`, no question gets its vector."""

    def __init__(self) -> None:
        clock = SystemClock()
        self._choice = EmbedderChoice([LocalEmbedder(clock)], clock=clock, redact=str)
        self.hangs = False
        self.problem: str | None = None

    async def current(self) -> EmbedderIdentity | None:
        return await self._choice.current()

    async def embed(
        self, texts: Sequence[str], purpose: Literal["passage", "query"], *, identity: EmbedderIdentity
    ) -> Vectors:
        if self.hangs and purpose == "query":
            await asyncio.Event().wait()
        return await self._choice.embed(texts, purpose, identity=identity)

    async def close(self) -> None:
        await self._choice.close()


@dataclass
class _Taken:
    """In milliseconds: what each message waited for recall, and how long it took to reach the model.

    `recalled` is the share of messages with which notes went along.
    """

    waits: list[float] = field(default_factory=list)
    sent: list[float] = field(default_factory=list)
    recalled: float = 0.0


def measure() -> Group:
    rounds, chunks = asyncio.run(_measure())
    recalling, without, hanging = ([one[at] for one in rounds] for at in range(3))
    return Group(
        "What a turn waits for recall",
        METHOD,
        [
            *_waits("a turn waits for recall", recalling),
            Figure("  messages with which notes went along", [one.recalled for one in recalling], "%", digits=0),
            *_waits("while the embedder hangs", hanging),
            Figure("sent until the model is asked, p50", [_p50(one.sent) for one in recalling], "ms", digits=1),
            Figure("  without recall, p50", [_p50(one.sent) for one in without], "ms", digits=1),
            Figure("  while the embedder hangs, p50", [_p50(one.sent) for one in hanging], "ms", digits=1),
            Figure("passages in the index", [chunks], "", digits=0),
        ],
    )


def _waits(name: str, rounds: Sequence[_Taken]) -> list[Figure]:
    return [
        Figure(f"{name}, p50", [_p50(one.waits) for one in rounds], "ms", LIMIT_MS, digits=1),
        Figure("  p95", [percentile(one.waits, 0.95) for one in rounds], "ms", LIMIT_MS, digits=1),
        Figure("  the longest", [max(one.waits) for one in rounds], "ms", LIMIT_MS, digits=1),
    ]


async def _measure() -> tuple[list[tuple[_Taken, _Taken, _Taken]], int]:
    model, embeddings, random_ = _Model(), _Embeddings(), random.Random(7)
    rounds = []
    async with house(_configuration(True), lambda _: ScriptedModels(model), list, embeddings) as one:
        chunks = await _fill(one, random_)
        timed = _Timed(one.onyx.get(MEMORIES).recall)
        await _asked(one, model, timed, WARM_UP, random_)
        for _ in range(ROUNDS):
            recalling = await _asked(one, model, timed, MESSAGES, random_)
            await _configure(one, recall=False)
            without = await _asked(one, model, timed, MESSAGES, random_)
            await _configure(one, recall=True)
            embeddings.hangs = True
            hanging = await _asked(one, model, timed, MESSAGES, random_)
            embeddings.hangs = False
            if without.recalled or not recalling.recalled:
                raise RuntimeError(f"notes with {recalling.recalled} % of the messages, {without.recalled} % without")
            rounds.append((recalling, without, hanging))
    await embeddings.close()
    return rounds, chunks


class _Timed:
    """Takes the time of what a message asks of `recall`."""

    def __init__(self, recall: Recall) -> None:
        self.waits: list[float] = []
        self._items = recall.items
        setattr(recall, "items", self._timed)  # noqa: B010 - the one object that all of Onyx asks

    async def _timed(self, *arguments: Any, **more: Any) -> list[dict[str, Any]]:
        began = time.perf_counter()
        try:
            return await self._items(*arguments, **more)
        finally:
            self.waits.append((time.perf_counter() - began) * 1000)


async def _configure(one: House, *, recall: bool) -> None:
    _write(one.onyx.host.home.config_file, json.dumps(_configuration(recall)))
    await one.onyx.get(CONFIGURED).read()


async def _fill(one: House, random_: random.Random) -> int:
    """How many passages the index holds, once it is in step with all files."""
    days = one.onyx.host.home.root / "workspace" / "memory"
    days.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        sections = [f"## {random_.choice(_THINGS)} {part}\n\n{_text(random_)}\n" for part in range(SECTIONS)]
        _write(days / f"note-{number}.md", f"# Note {number}\n\n" + "\n".join(sections))
    one.onyx.get(MEMORIES).start()
    while True:
        state = await one.onyx.get(MEMORIES).status()
        if one.onyx.get(MEMORIES).is_index_synced and state.files >= FILES and state.progress is None:
            return state.chunks or 0
        await asyncio.sleep(0.2)


async def _asked(one: House, model: _Model, timed: _Timed, count: int, random_: random.Random) -> _Taken:
    """So many messages in a new session."""
    key, taken = await one.session(), _Taken()
    timed.waits = taken.waits
    for _ in range(count):
        message = f"What do you know of it: {_sentence(random_)}? And {random_.choice(_THINGS)}?"
        began = time.perf_counter()
        await one.run(key, message)
        taken.sent.append((model.asked_at - began) * 1000)
    entries = (await one.onyx.get(SESSIONS).get(key)).entries
    taken.recalled = 100 * sum(entry.role == "user" and bool(entry.context) for entry in entries) / count
    return taken


def _text(random_: random.Random) -> str:
    """About 60 words."""
    return " ".join(f"{_sentence(random_)}." for _ in range(6))


def _sentence(random_: random.Random) -> str:
    thing, place, number = random_.choice(_THINGS), random_.choice(_PLACES), random_.randrange(1, 400)
    return f"The {thing} of {place} number {number} {random_.choice(_TURNS)} {random_.choice(_WHOM)}"


def _p50(waits: Sequence[float]) -> float:
    return percentile(waits, 0.5)


def _configuration(recall: bool) -> dict[str, object]:
    memory = {"recall": recall, "consolidation": False}
    return {"agents": {"defaults": {"model": MODEL_ID}}, "memory": memory}


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
