"""How long a local model takes to its first word about the welcome notebook, and how much of it is read once more.

    python -m benchmarks.local_reading --model local/qwen2.5-coder-1.5b --threads 2

On a machine that does other work the processor time is the figure to compare, and one run with itself.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil

from benchmarks.agent.example_data import WELCOME, customers
from onyx_jupyter.agent.prompt_sections import PromptFacts
from onyx_jupyter.agent.system_prompt import build_tiny_prompt
from onyx_jupyter.cell_mode import prompts
from onyx_jupyter.cell_mode.notebook_facts import CellFact, Column, Frame, NotebookFacts
from onyx_jupyter.cell_mode.turn import AnsweredRequest, Turn
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.messages import Message, Usage
from onyx_jupyter.protocols import Guidance, ModelDone, ModelRequest, TextDelta
from onyx_jupyter.providers.local_files.storage_folders import shared_folders
from onyx_jupyter.providers.local_model import LocalModel
from onyx_jupyter.providers.local_server_pool import LocalServerPool
from onyx_jupyter.providers.local_weights import find_weights

SYSTEM = build_tiny_prompt(PromptFacts(agent_name="Onyx", files={}, tools=(), today="2026-01-01"))
WHAT = Turn("What does this notebook do?", "", (), ())
RATE = Turn("Add a cell that shows the churn rate by contract type.", "", (), ())
CELL = "rates = customers.groupby('contract_type')['churned'].mean()\nprint('churn rate', rates)"
AGAIN = Turn(
    "And by internet type?", "", (), (AnsweredRequest(RATE.request, CELL, "Monthly contracts leave most often."),)
)
_FENCE = Guidance("```python\n", ("\n```",))


@dataclass(frozen=True)
class Asked:
    """`first_s` is the time to the first word, `cpu_s` what the process worked in it."""

    first_s: float
    cpu_s: float
    usage: Usage

    @property
    def line(self) -> str:
        read = self.usage.input_tokens - (self.usage.cached_tokens or 0)
        return f"{self.first_s:6.2f} s   {self.cpu_s:6.2f} CPU s   {read:5} of {self.usage.input_tokens:5} tokens read"


class Bench:
    """One model; each `fresh` process has nothing but what the last one `left`."""

    def __init__(self, model_id: str, threads: int, home: Path) -> None:
        self._id = model_id
        self._threads = threads
        self._home = home
        self._weights = find_weights(model_id.partition("/")[2], shared_folders())
        self.facts = welcome()

    def fresh(self, left: str) -> tuple[LocalServerPool, LocalModel]:
        servers = LocalServerPool(
            idle_timeout_s=600, threads=self._threads, clock=SystemClock(), saved_in=self._home / left
        )
        return servers, LocalModel(self._id, self._weights, servers)

    async def ask(
        self, model: LocalModel, servers: LocalServerPool, prompt: str, guidance: Guidance | None = None
    ) -> Asked:
        """Two tokens of an answer."""
        server = servers.server(self._weights)
        before_s = _cpu_s(server.pid)
        began, first_s, usage = time.monotonic(), 0.0, Usage()
        request = ModelRequest(SYSTEM, [Message("user", prompt)], max_tokens=2, guidance=guidance)
        async with aclosing(model.stream(request)) as events:
            async for event in events:
                if isinstance(event, TextDelta) and not first_s:
                    first_s = time.monotonic() - began
                elif isinstance(event, ModelDone):
                    usage = event.usage
        return Asked(first_s or time.monotonic() - began, _cpu_s(server.pid) - before_s, usage)

    async def first_words(self) -> None:
        words = prompts.text_prompt(self.facts, WHAT)
        servers, model = self.fresh("kept")
        _say("process not started", await self.ask(model, servers, words))
        _say("the same question again", await self.ask(model, servers, words))
        print(f"{'resident memory above the file':38}{self._above_file_mb(servers):6.0f} MB")
        await servers.close()
        servers, model = self.fresh("kept")
        _say("not started, taken up from the disk", await self.ask(model, servers, words))
        await servers.close()
        servers, model = self.fresh("other")
        await self.ask(model, servers, "Hello.")
        _say("process runs, notebook not read", await self.ask(model, servers, words))
        await servers.close()
        servers, model = self.fresh("ahead")
        began = time.monotonic()
        beginning = ModelRequest(SYSTEM, [Message("user", prompts.text_prompt_prefix(self.facts, WHAT))])
        await model.prefill(beginning)
        print(f"{'reading ahead, start included':38}{time.monotonic() - began:6.2f} s")
        _say("read ahead", await self.ask(model, servers, words))
        began = time.monotonic()
        reading = asyncio.create_task(model.prefill(_other(beginning)))
        await asyncio.sleep(2)
        _say("another question, two seconds into reading", await self.ask(model, servers, "Hello, who are you?"))
        await reading
        await servers.close()

    async def steps(self) -> None:
        """Of one conversation, in its order."""
        servers, model = self.fresh("steps")
        facts = self.facts
        steps = [
            ("cell", prompts.write_cell(facts, RATE), _FENCE),
            ("repair", prompts.repair_cell(facts, RATE, CELL, "KeyError: 'contract_type'", "", show=True), _FENCE),
            ("second repair", prompts.repair_cell(facts, RATE, CELL, "NameError: 'x'", "", show=False), _FENCE),
            ("answer from its output", prompts.answer_from(RATE, "monthly 0.41\ntwo years 0.04"), None),
            ("cell of the next question", prompts.write_cell(facts, AGAIN), _FENCE),
            ("a question for words", prompts.text_prompt(facts, WHAT), None),
            ("a cell again", prompts.write_cell(facts, RATE), _FENCE),
        ]
        for name, prompt, guidance in steps:
            _say(name, await self.ask(model, servers, prompt, guidance))
        print(f"{'resident memory above the file':38}{self._above_file_mb(servers):6.0f} MB")
        await servers.close()

    def _above_file_mb(self, servers: LocalServerPool) -> float:
        rss = psutil.Process(servers.server(self._weights).pid).memory_info().rss
        return float(rss - self._weights.path.stat().st_size) / 1e6


def welcome() -> NotebookFacts:
    """As a run finds it after its cells have run."""
    frame = customers()
    columns = tuple(
        Column(str(name), str(dtype), f"e.g. {', '.join(map(str, frame[name].dropna().unique()[:3]))}")
        for name, dtype in frame.dtypes.items()
    )
    cells = nbformat.read(WELCOME, as_version=4).cells
    told = tuple(
        CellFact(cell.id, number, cell.cell_type, cell.source, has_run=cell.cell_type == "code")
        for number, cell in enumerate(cells, 1)
    )
    return NotebookFacts(WELCOME.name, cells=told, frames=(Frame("customers", columns, len(frame)),))


def _other(request: ModelRequest) -> ModelRequest:
    return ModelRequest("Another beginning. " + request.system, request.messages)


def _cpu_s(pid: int | None) -> float:
    return sum(psutil.Process(pid).cpu_times()[:2]) if pid is not None else 0.0


def _say(name: str, asked: Asked) -> None:
    print(f"{name:38}{asked.line}", flush=True)


async def _measure(model_id: str, threads: int) -> None:
    with tempfile.TemporaryDirectory() as home:
        bench = Bench(model_id, threads, Path(home))
        await bench.first_words()
        await bench.steps()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="local/… or local/ and the path of a GGUF file")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    asyncio.run(_measure(options.model, options.threads))


if __name__ == "__main__":
    main()
