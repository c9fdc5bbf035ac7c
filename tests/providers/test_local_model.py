"""A local model: a real process with the file downloaded by set-up. Each test loads it, so they are few."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import httpx
import psutil
import pytest

from onyx_jupyter.messages import Message, ToolDefinition
from onyx_jupyter.protocols import Guidance, ModelProgress, ModelRequest, TextDelta
from onyx_jupyter.providers.local_model import LocalModel
from onyx_jupyter.providers.local_server import LocalServer
from onyx_jupyter.providers.local_server_pool import LocalServerPool
from onyx_jupyter.providers.local_weights import Weights
from onyx_jupyter.testing.collected import collect
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.local_model import FILE, LOCAL_MODEL_MARKS, MODEL

pytestmark = LOCAL_MODEL_MARKS
IDLE_S = 600
# Short, so that a prompt that fills it is read in seconds.
CONTEXT_TOKENS = 512
HELLO = ModelRequest("You are a friendly assistant.", [Message("user", "hello")], max_tokens=4)
EXEC = ToolDefinition(
    "exec",
    "Run a shell command.",
    {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
)


class House:
    """One set of local servers with a clock that the test moves."""

    def __init__(self, file: Path) -> None:
        self.clock = FakeClock()
        self.servers = LocalServerPool(idle_timeout_s=IDLE_S, threads=2, clock=self.clock)
        self.weights = Weights(MODEL.name, file, CONTEXT_TOKENS)

    def model(self) -> LocalModel:
        return LocalModel(MODEL.id, self.weights, self.servers)

    @property
    def server(self) -> LocalServer:
        return self.servers.server(self.weights)

    @property
    def pid(self) -> int:
        assert self.server.pid is not None
        return self.server.pid


@pytest.fixture
def house(jp_asyncio_loop: asyncio.AbstractEventLoop, shortened_file: Path) -> Iterator[House]:
    house = House(shortened_file)
    yield house
    jp_asyncio_loop.run_until_complete(house.servers.close())


@pytest.fixture
def whole_house(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[House]:
    """For what depends on the words, or takes as long as they take."""
    assert FILE is not None
    house = House(FILE)
    yield house
    jp_asyncio_loop.run_until_complete(house.servers.close())


async def test_first_answer_reports_start_and_all_share_one_key_protected_process(
    house: House,
) -> None:
    first, meanwhile = await asyncio.gather(*(collect(house.model().stream(HELLO)) for _ in range(2)))
    later = await collect(house.model().stream(HELLO))
    progress = [event.message for event in first.events if isinstance(event, ModelProgress)]
    assert [line.split()[0] for line in progress] == ["Starting", "Loading"]
    assert all(answer.text and answer.done.usage.output_tokens > 0 for answer in (first, meanwhile, later))
    assert not any(isinstance(event, ModelProgress) for event in later.events)
    assert sum("local_server_process" in " ".join(c.cmdline()) for c in psutil.Process().children()) == 1
    client = house.server.client
    key = client.headers["authorization"].removeprefix("Bearer ")
    process = psutil.Process(house.pid)
    assert key not in " ".join(process.cmdline())
    assert key not in str(process.environ())
    async with httpx.AsyncClient(trust_env=False) as stranger:
        url = f"{client.base_url}/v1/chat/completions"
        body = {"messages": [{"role": "user", "content": "hello"}]}
        assert (await stranger.post(url, json=body)).status_code == 401
        assert (await stranger.post(url, json=body, headers={"authorization": "Bearer no"})).status_code == 401


async def test_action_matches_its_schema(whole_house: House) -> None:
    request = ModelRequest("You are a friendly assistant.", [Message("user", "run ls -l")], [EXEC])
    (call,) = (await collect(whole_house.model().stream(request))).tool_calls
    assert call.name == "exec"
    assert set(call.arguments) == {"command"}
    assert call.malformed is None


async def test_guided_output_can_repeat_a_name(whole_house: House) -> None:
    wanted = "a = df['JAMES LOGAN'].mean()\nb = df['JAMES LOGAN'].std()\nc = df['JAMES LOGAN'].median()"
    request = ModelRequest(
        "", [Message("user", f"Copy this:\n{wanted}")], max_tokens=48, guidance=Guidance("```python\n", ("\n```",))
    )
    copied = (await collect(whole_house.model().stream(request))).text
    assert wanted in copied


async def test_stopping_ends_generation_early(whole_house: House) -> None:
    request = ModelRequest("", [Message("user", "Count from one to one thousand in words.")])
    async with aclosing(whole_house.model().stream(request)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    process = psutil.Process(whole_house.pid)

    assert await asyncio.to_thread(lambda: any(process.cpu_percent(interval=0.1) < 20 for _ in range(30)))


async def test_idle_process_ends_and_busy_one_does_not(house: House) -> None:
    await collect(house.model().stream(HELLO))
    pid = house.pid
    house.clock.advance(IDLE_S - 1)
    assert await house.servers.stop_idle() == []
    with house.server.in_use():
        house.clock.advance(IDLE_S)
        assert await house.servers.stop_idle() == []
    house.clock.advance(IDLE_S - 1)
    assert await house.servers.stop_idle() == []
    house.clock.advance(1)
    assert await house.servers.stop_idle() == [str(house.weights.path)]
    assert not psutil.pid_exists(pid)


async def test_crash_is_an_error_and_next_question_restarts(house: House) -> None:
    request = ModelRequest("", [Message("user", "Count from one to one thousand in words.")])
    texts: list[str] = []

    async def ask() -> None:
        async with aclosing(house.model().stream(request)) as events:
            async for event in events:
                if isinstance(event, TextDelta) and not texts:
                    texts.append(event.text)
                    os.kill(house.pid, signal.SIGKILL)

    with pytest.raises(Exception, match="ended unexpectedly") as caught:
        await ask()
    assert getattr(caught.value, "code", None) == "unavailable"
    assert (await collect(house.model().stream(HELLO))).text


async def test_text_with_short_tokens_is_cut_by_server_count(house: House) -> None:
    house.weights = replace(house.weights, context_tokens=CONTEXT_TOKENS // 2)
    answer = await collect(house.model().stream(ModelRequest("", [Message("user", "漢字𓀀" * 500)], max_tokens=4)))
    assert answer.error is None
    assert answer.done.usage.input_tokens < CONTEXT_TOKENS // 2


async def test_invalid_model_file_is_an_error_naming_it(house: House, tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"not a model")
    weights = Weights("broken", path, 512)
    answer = await collect(LocalModel(f"local/{path}", weights, house.servers).stream(HELLO))
    assert answer.error is not None
    assert answer.error.code == "unavailable"
    assert "broken.gguf" in str(answer.error)


PARENT = f"""
import asyncio
from pathlib import Path
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.providers.local_server_pool import LocalServerPool
from onyx_jupyter.providers.local_weights import Weights

async def main():
    servers = LocalServerPool(idle_timeout_s=600, threads=1, clock=SystemClock())
    server = servers.server(Weights("parent", Path({str(FILE)!r}), {CONTEXT_TOKENS}))
    async for _ in server.start():
        pass
    print(server.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_process_dies_with_parent_even_after_kill_9() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        assert child.is_running()
        parent.kill()
    # Whoever adopts it in a container may never collect it: a zombie has ended all the same.
    with contextlib.suppress(psutil.TimeoutExpired):
        child.wait(5)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
