"""Onyx as a server has it, on a home in a temporary folder, with scripted models and tools that tell what they did."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from onyx_jupyter.activities import Activity
from onyx_jupyter.agent.processor import Processor
from onyx_jupyter.app.features import FEATURES
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.config.paths import Home
from onyx_jupyter.features.notebooks.review_service import NotebookPlaces
from onyx_jupyter.features.warm_up.feature import WarmUp
from onyx_jupyter.messages import Attachment, Risk, ToolResult
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.host import Host
from onyx_jupyter.operations.keys import WARM_UP
from onyx_jupyter.protocols import Embeddings, Kernels, ModelRequest, Notebooks, ToolPreview
from onyx_jupyter.providers.retry import RetryDelays
from onyx_jupyter.runs.processors import run_processors
from onyx_jupyter.runs.streamed_event import StreamedEvent
from onyx_jupyter.server.frames import encode_event
from onyx_jupyter.sessions.origin import RunOrigin
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.fake_embedder import FakeEmbeddings
from onyx_jupyter.testing.script import Reply
from onyx_jupyter.testing.scripted_model import ScriptedModel, ScriptedModels
from onyx_jupyter.toolsets.arguments import Arguments, ByModel
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import PerCall, Tool, whole_call
from onyx_jupyter.toolsets.toolset import FixedToolset, Toolset
from tests import left_open
from tests.runs.open_onyx import OpenOnyx
from tests.waiting import LIMIT_S, until

# The smallest picture there is.
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
ENDS = ("chat.final", "chat.error", "chat.aborted")
Event = tuple[str, dict[str, Any]]


class Word(Arguments):
    word: str = "x"


class HouseTool(ABC):
    """A tool that remembers what it did; those below say what it is called and what a call of it does."""

    name: str
    description: str
    risk: Risk = "read"
    family = ""
    deferred = False
    untimed = False
    activity: Activity | None = None

    @property
    def tool(self) -> Tool[Word]:
        return Tool(
            name=self.name,
            arguments=ByModel(Word),
            description=self.description,
            risk=self.risk,
            family=self.family,
            deferred=self.deferred,
            untimed=self.untimed,
            activity=self.activity,
            call=self.call,
            per_call=PerCall(preview=self.preview),
        )

    async def preview(self, arguments: Word, context: ToolContext) -> ToolPreview:
        return whole_call(self.name, arguments)

    @abstractmethod
    async def call(self, arguments: Word, context: ToolContext) -> ToolResult: ...


class Peek(HouseTool):
    """Reads, so it asks nobody; `done` lists the words it was called with."""

    name = "peek"
    description = "Looks."

    def __init__(self) -> None:
        self.done: list[str] = []

    async def call(self, arguments: Word, context: ToolContext) -> ToolResult:
        self.done.append(arguments.word)
        return ToolResult(f"saw {arguments.word}", attachments=(Attachment("image", "image/png", DOT),), origin="own")


class Touch(HouseTool):
    """Writes, so a person is asked; `done` lists the words it was called with.

    `target` is what it would change as it stands now, as a cell's source is.
    """

    name = "touch"
    description = "Changes something."
    risk: Risk = "write"

    def __init__(self) -> None:
        self.done: list[str] = []
        self.target = "as it was"

    async def preview(self, arguments: Word, context: ToolContext) -> ToolPreview:
        preview = await super().preview(arguments, context)
        return replace(preview, details={**preview.details, "target": self.target})

    async def call(self, arguments: Word, context: ToolContext) -> ToolResult:
        self.done.append(arguments.word)
        return ToolResult(f"touched {arguments.word}", exit_code=0, origin="own")


class Break(HouseTool):
    """Has a bug."""

    name = "break"
    description = "Fails."

    async def call(self, arguments: Word, context: ToolContext) -> ToolResult:
        raise ZeroDivisionError(f"no {arguments.word}")


class Linger(HouseTool):
    """Does not end by itself until `released`; `cancelled` counts how often it was stopped."""

    name = "linger"
    description = "Takes its time."

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.released = asyncio.Event()
        self.cancelled = 0

    async def call(self, arguments: Word, context: ToolContext) -> ToolResult:
        context.progress("lingering")
        self.started.set()
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return ToolResult("lingered", origin="own")


class HouseToolset(FixedToolset):
    """The tools as the house has them now: a test may put another in the place of one."""

    def __init__(self, tools: Callable[[], Sequence[Tool[Any] | HouseTool]]) -> None:
        super().__init__("house", ())
        self._tools = tools

    @property
    def given(self) -> Sequence[Tool[Any]]:
        return [one.tool if isinstance(one, HouseTool) else one for one in self._tools()]


async def _no_wait(seconds: float) -> None:
    """A busy provider is asked again at once."""


class _Unhurried:
    """Has no index follow what is said: a test that looks at one begins it, and most end without closing anything."""

    def __init__(self, warm_up: WarmUp) -> None:
        self.begin = warm_up.begin

    def follow(self) -> None:
        """Nothing."""


def _unhurried(feature: Feature) -> Feature:
    if feature.name != "warm_up":
        return feature

    def make(parts: Parts) -> Built:
        built = feature.make(parts)
        return replace(built, parts={WARM_UP: _Unhurried(built.parts[WARM_UP])})

    return replace(feature, make=make)


class House:
    """One server's Onyx; two on the same folder are two servers. `events` is all that one watcher has seen.

    It is closed after the test, if not before.
    """

    def __init__(
        self,
        folder: Path,
        replies: Sequence[Reply] | Callable[[ModelRequest], Reply] = (),
        *,
        models: Mapping[str, ScriptedModel] | None = None,
        clock: FakeClock | None = None,
        config: str | None = None,
        environment: Mapping[str, str] | None = None,
        processors: Sequence[Processor] | None = None,
        more_tools: Sequence[Tool[Any] | HouseTool] = (),
        toolsets: Sequence[Toolset] = (),
        open_notebooks: Callable[[], tuple[list[str], str | None]] = lambda: ([], None),
        waits: RetryDelays | None = None,
        notebooks: Notebooks | None = None,
        places: NotebookPlaces | None = None,
        embeddings: Embeddings | None = None,
        kernels: Kernels | None = None,
        ceiling: Ceiling | None = None,
        features: Sequence[Feature] | None = None,
    ) -> None:
        """`features` bring their own tools."""
        self.home = Home(folder / "home")
        self.root = folder / "root"
        self.root.mkdir(exist_ok=True)
        if config is not None:
            self.home.root.mkdir(exist_ok=True)
            self.home.config_file.write_text(config)
        self.model = ScriptedModel(replies)
        self.models = ScriptedModels(models or {self.model.id: self.model})
        self.peek, self.touch, self.linger = Peek(), Touch(), Linger()
        self.opened_models: list[ScriptedModels] = []
        self.events: list[Event] = []
        self.watching = True
        host = Host(
            self.home,
            self.root,
            notebooks,  # type: ignore[arg-type] - None where a test reaches no notebook
            templates=folder / "templates",
            open_models=lambda settings: self.models,
            toolsets=[HouseToolset(lambda: [self.peek, self.touch, Break(), self.linger, *more_tools]), *toolsets]
            if features is None
            else None,
            open_notebooks=open_notebooks,
            kernels=kernels,
            places=places or NotebookPlaces(),
            environment={"ONYX_AGENTS__DEFAULTS__MODEL": "scripted/model"} if environment is None else environment,
            clock=clock or SystemClock(),
            waits=waits or RetryDelays(sleep=_no_wait),
            packaged_skills=folder / "packaged-skills",
            embeddings=embeddings or FakeEmbeddings(),
            processors=run_processors if processors is None else lambda settings: processors,
            ceiling=ceiling or Ceiling(),
        )
        self.onyx = OpenOnyx(host, [_unhurried(one) for one in (FEATURES if features is None else features)])
        self.onyx.streams.connect(self.receive)
        left_open.opened(self)

    def receive(self, told: StreamedEvent) -> None:
        frame = json.loads(told.encoded(encode_event))
        self.events.append((frame["event"], frame["data"]))

    async def session(self, **facts: Any) -> str:
        await self.onyx.ready()
        key = await self.onyx.create_session(facts.get("agent"), facts.get("title"), facts.get("model"))
        self.onyx.streams.watch(key, self.receive)
        return key

    async def send(self, key: str, message: str = "Please", **more: Any) -> str:
        if self.watching:
            self.onyx.streams.watch(key, self.receive)
        origin = RunOrigin(typed=more.pop("typed", True), interactive=more.pop("interactive", True))
        return (await self.onyx.send(key, message, **{"origin": origin, **more})).run_id

    async def run(self, key: str, message: str = "Please", **more: Any) -> Event:
        """Sends and waits for the end."""
        return await self.end(await self.send(key, message, **more))

    async def end(self, run_id: str) -> Event:
        """The run's one end, once its session is quiet."""
        await until(lambda: self.ends(run_id))
        await until(lambda: not self.onyx.runs.busy or self.running_others(run_id))
        (end,) = self.ends(run_id)
        return end

    def running_others(self, run_id: str) -> bool:
        ended = {data["runId"] for name, data in self.events if name in ENDS}
        begun = {data["runId"] for name, data in self.events if name == "chat.started"}
        return bool(begun - ended - {run_id})

    async def asked(self, key: str | None = None) -> str:
        """The id of the approval that waits."""
        await until(lambda: self.onyx.approvals.pending(key))
        return self.onyx.approvals.pending(key)[0].request.approval_id

    async def approve(self, scope: Any = "once", key: str | None = None) -> None:
        await self.onyx.approvals.approve(await self.asked(key), "ada", scope)

    async def questioned(self) -> str:
        """The id of the question that waits."""
        await until(lambda: self.onyx.questions.pending())
        return self.onyx.questions.pending()[0].asked.question_id

    async def deny(self, reason: str | None = None) -> None:
        await self.onyx.approvals.deny(await self.asked(), "ada", reason)

    async def close(self) -> None:
        left_open.closed(self)
        async with asyncio.timeout(LIMIT_S):
            await self.onyx.close()

    def ends(self, run_id: str) -> list[Event]:
        return [event for event in self.events if event[0] in ENDS and event[1]["runId"] == run_id]

    def names(self, *, without: Sequence[str] = ("session.updated", "usage.changed")) -> list[str]:
        return [name for name, _ in self.events if name not in without]

    def of(self, name: str) -> list[dict[str, Any]]:
        return [data for event, data in self.events if event == name]

    def file(self, key: str) -> Path:
        (path,) = self.home.sessions.glob(f"*/{key}.jsonl")
        return path

    def lines(self, key: str) -> list[dict[str, Any]]:
        """What is on disk."""
        return [json.loads(line) for line in self.file(key).read_text("utf-8").split("\n") if line]

    def results(self, key: str) -> dict[str, dict[str, Any]]:
        """Call id → its one result on disk; every call has one."""
        lines = self.lines(key)
        calls = [call["id"] for line in lines for call in line.get("tool_calls", ())]
        results = [line for line in lines if line["role"] == "tool"]
        assert [line["tool_call_id"] for line in results] == calls, "a call without its one result, in order"
        return {line["tool_call_id"]: line for line in results}

    def ends_on_disk(self, key: str) -> list[str]:
        return [line["meta"]["outcome"] for line in self.lines(key) if line.get("meta", {}).get("kind") == "run_end"]
