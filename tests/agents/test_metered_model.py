"""What a call without an end counts for: figures that came, else estimates, at the price that is known."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.agent.token_count import request_tokens
from onyx_jupyter.agents.metered_model import MeteredModel
from onyx_jupyter.errors import ModelError
from onyx_jupyter.messages import Message, Usage
from onyx_jupyter.protocols import CallProgress, ModelDone, ModelEvent, ModelRequest, TextDelta
from onyx_jupyter.testing.collected import collect
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.usage.budget import BudgetLimits
from onyx_jupyter.usage.meter import UsageMeter
from onyx_jupyter.usage.model_call import ModelCall, Terms

REQUEST = ModelRequest("Be brief.", [Message("user", "Say something about the weather.")])
INPUT = request_tokens(REQUEST)
FAILURE = ModelError("unavailable", "Cut off.")


def a_cent(input_tokens: int, output_tokens: int) -> float:
    """Of the price of a token."""
    return 0.01 * input_tokens + 0.1 * output_tokens


@dataclass
class Reporting:
    """A model that reports `progress`, says a word if it has one, and then fails, ends, or waits for ever."""

    progress: Callable[[CallProgress], Any]
    words: str = ""
    end: ModelError | Usage | None = None
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    id = "openai/gpt-5"
    light = tiny = False
    context_window = 1000

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.progress(request.progress)
        if self.words:
            yield TextDelta(self.words)
        self.reached.set()
        if isinstance(self.end, ModelError):
            raise self.end
        if self.end is None:
            await asyncio.Event().wait()
        yield ModelDone(usage=self.end or Usage())


def reports(accepted: bool = True, usage: Usage | None = None, output_tokens: float = 0.0) -> Any:
    def report(progress: CallProgress) -> None:
        progress.accepted, progress.usage, progress.output_tokens = accepted, usage, output_tokens
        progress.cost_usd = a_cent

    return report


async def counted(tmp_path: Path, model: Reporting, terms: Terms = "paid") -> list[Usage]:
    """The usages in the ledger after the call, which is stopped where the model waits."""
    calls: list[ModelCall] = []
    meter = UsageMeter(tmp_path, FakeClock(), BudgetLimits, calls.append, lambda: UTC)
    request = ModelRequest(REQUEST.system, REQUEST.messages)
    stream = MeteredModel(model, terms, meter).stream(request)
    asking = asyncio.create_task(collect(stream))
    await model.reached.wait()
    if model.end is None:
        asking.cancel()
    answer = await asyncio.gather(asking, return_exceptions=True)
    known = [call.usage for call in calls]
    if not getattr(answer[0], "ends", None):
        assert request.progress.usage == (known[0] if known else None), "what the run adds up"
    return known


@pytest.mark.parametrize("end", [None, FAILURE], ids=["stopped", "failed"])
async def test_what_came_is_estimated_at_the_known_price(tmp_path: Path, end: ModelError | None) -> None:
    (usage,) = await counted(tmp_path, Reporting(reports(output_tokens=7.4), "It rains", end))
    assert usage == Usage(INPUT, 7, cost_usd=a_cent(INPUT, 7), estimated=True)


async def test_input_that_the_provider_counted_is_kept_and_only_the_output_estimated(tmp_path: Path) -> None:
    begun = Usage(1000, 1, cached_tokens=800, cost_usd=3.0, estimated=True)
    (usage,) = await counted(tmp_path, Reporting(reports(usage=begun, output_tokens=21.0), "It rains"))
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.estimated) == (1000, 21, 800, True)
    assert usage.cost_usd == pytest.approx(3.0 + 20 * 0.1)


async def test_whole_figures_of_the_provider_are_no_estimate(tmp_path: Path) -> None:
    whole = Usage(1000, 30, cost_usd=2.0)
    assert await counted(tmp_path, Reporting(reports(usage=whole, output_tokens=90.0), end=FAILURE)) == [whole]


async def test_an_unknown_price_stays_unknown(tmp_path: Path) -> None:
    begun = Usage(1000, 1, estimated=True)
    assert [one.cost_usd for one in await counted(tmp_path, Reporting(reports(usage=begun), "Rain"))] == [None]
    (usage,) = await counted(tmp_path, Reporting(lambda progress: None, "It rains"))
    assert (usage.cost_usd, usage.estimated) == (None, True)
    assert usage.output_tokens > 0


async def test_a_model_of_this_machine_costs_nothing_and_a_plan_pays_for_its_own(tmp_path: Path) -> None:
    (free,) = await counted(tmp_path, Reporting(reports(), "Rain"), "free")
    assert (free.cost_usd, free.estimated) == (0.0, True)
    (plan,) = await counted(tmp_path, Reporting(reports(), "Rain"), "plan")
    assert (plan.cost_usd, plan.plan, plan.estimated) == (None, True, True)


async def test_before_the_first_word_only_a_stopped_request_that_was_accepted_counts(tmp_path: Path) -> None:
    (usage,) = await counted(tmp_path, Reporting(reports()))
    assert usage == Usage(INPUT, 0, cost_usd=a_cent(INPUT, 0), estimated=True)
    assert await counted(tmp_path, Reporting(reports(accepted=False))) == []
    assert await counted(tmp_path, Reporting(reports(), end=FAILURE)) == []


async def test_an_end_without_figures_is_estimated_and_one_with_them_is_not(tmp_path: Path) -> None:
    (usage,) = await counted(tmp_path, Reporting(reports(output_tokens=9.0), "It rains", Usage()))
    assert usage == Usage(INPUT, 9, cost_usd=a_cent(INPUT, 9), estimated=True)
    whole = Usage(10, 2, cost_usd=1.0)
    assert await counted(tmp_path, Reporting(reports(output_tokens=9.0), "It rains", whole)) == [whole]


async def test_an_answer_that_is_left_after_its_end_counts_once(tmp_path: Path) -> None:
    calls: list[ModelCall] = []
    meter = UsageMeter(tmp_path, FakeClock(), BudgetLimits, calls.append, lambda: UTC)
    model = MeteredModel(Reporting(reports(), "Rain", Usage(10, 2)), "paid", meter)
    async with aclosing(model.stream(REQUEST)) as events:
        async for event in events:
            if isinstance(event, ModelDone):
                break
    assert [call.usage.input_tokens for call in calls] == [10]
