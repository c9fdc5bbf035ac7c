"""Retries and the circuit breaker around a scripted model, with a fake clock."""

import asyncio

import pytest

from onyx_jupyter.messages import Message
from onyx_jupyter.protocols import ModelProgress, ModelRequest
from onyx_jupyter.providers.circuit_breaker import BreakerPolicy, CircuitBreaker
from onyx_jupyter.providers.resilient_model import Resilience, ResilientModel
from onyx_jupyter.providers.retry import RetryDelays, RetryPolicy
from onyx_jupyter.testing.collected import collect
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.script import Call, Fail, Finish, Hang, Hold, NotSaid, Say, Think
from onyx_jupyter.testing.scripted_model import ScriptedModel
from tests.waiting import until

QUESTION = ModelRequest("", [Message("user", "Hello")])
BUSY = [Fail("rate_limit", "Too often.")]
DOWN = [Fail("unavailable", "Down.")]


class Bench:
    """A scripted model within; `waited` lists the waits in seconds."""

    def __init__(self, replies, *, attempts=3, failures=3, chance=0.5, sleep=None):
        self.waited = []
        self.clock = FakeClock()
        self.inner = ScriptedModel(replies)
        resilience = Resilience(
            RetryPolicy(attempts, 30.0),
            BreakerPolicy(failures, 60.0),
            RetryDelays(sleep or self._sleep, lambda: chance),
        )
        self.breaker = CircuitBreaker(self.clock)
        self.model = ResilientModel(self.inner, "OpenAI", self.breaker, resilience)

    async def ask(self):
        return await collect(self.model.stream(QUESTION))

    async def _sleep(self, seconds):
        self.waited.append(seconds)

    @property
    def calls(self):
        return len(self.inner.requests)


def lines(answer):
    return [event.message for event in answer.events if isinstance(event, ModelProgress)]


async def test_busy_provider_is_retried_and_wait_reported():
    bench = Bench([BUSY, [Fail("timeout")], "Hello."], chance=0.999)
    answer = await bench.ask()
    assert answer.text == "Hello."
    assert bench.waited == [0.999, 1.998]
    assert lines(answer) == [
        "OpenAI is busy; trying again in 1 s (2 of 3)",
        "OpenAI did not answer in time; trying again in 2 s (3 of 3)",
    ]


async def test_after_last_attempt_error_is_the_providers():
    bench = Bench(lambda request: DOWN)
    answer = await bench.ask()
    assert answer.error is not None
    assert (answer.error.code, str(answer.error), bench.calls) == ("unavailable", "Down.", 3)


async def test_requested_wait_is_the_minimum():
    bench = Bench([[Fail("rate_limit", retry_after_s=7)], "Hello."])
    answer = await bench.ask()
    assert (answer.text, bench.waited) == ("Hello.", [7])
    assert lines(answer) == ["OpenAI is busy; trying again in 7 s (2 of 3)"]


async def test_requested_wait_beyond_maximum_is_reported_instead():
    bench = Bench([[Fail("rate_limit", retry_after_s=95)], "never"])
    error = (await bench.ask()).error
    assert error is not None
    assert (error.code, bench.waited, bench.calls) == ("rate_limit", [], 1)
    assert str(error) == "The scripted model failed. It asks for a wait of 95 s."


@pytest.mark.parametrize("code", ["authentication", "refused", "not_found", "overflow"])
async def test_permanent_errors_are_not_retried(code):
    bench = Bench([[Fail(code)], "never"])
    assert (await bench.ask()).error is not None
    assert bench.calls == 1


async def test_nothing_is_retried_after_visible_text():
    bench = Bench([["Half", *DOWN], "never"])
    answer = await bench.ask()
    assert answer.text == "Half"
    assert answer.error is not None
    assert (bench.calls, bench.waited) == (1, [])


async def test_call_broken_before_being_shown_is_retried():
    bench = Bench([[Call("read"), *DOWN], [Call("read")]])
    assert [call.name for call in (await bench.ask()).tool_calls] == ["read"]


async def test_empty_answer_is_retried_unless_token_limit_was_reached():
    bench = Bench([[], [Say("")], "Hello."])
    assert (await bench.ask()).text == "Hello."
    cut = Bench([[Finish("length")], "never"])
    error = (await cut.ask()).error
    assert error is not None
    assert cut.calls == 1
    assert "maxTokens" in (error.hint or "")


async def test_stop_during_wait_ends_immediately():
    bench = Bench([BUSY, "never"], sleep=lambda seconds: asyncio.Event().wait())
    task = asyncio.create_task(bench.ask())
    await until(lambda: bench.calls == 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert bench.calls == 1


async def test_circuit_opens_for_a_minute_after_three_failures():
    bench = Bench(lambda request: DOWN, attempts=2)
    for _ in range(3):
        await bench.ask()
    assert bench.calls == 6
    bench.clock.advance(18.5)
    error = (await bench.ask()).error
    assert error is not None
    assert (error.code, bench.calls) == ("unavailable", 6)
    assert "OpenAI failed 3 times" in str(error)
    assert "in 42 s" in (error.hint or "")


async def test_trial_is_one_call_and_failure_reopens_circuit():
    bench = Bench(lambda request: DOWN)
    for _ in range(3):
        await bench.ask()
    bench.clock.advance(60)
    assert str((await bench.ask()).error) == "Down."
    assert bench.calls == 10
    bench.clock.advance(59)
    assert "paused" in str((await bench.ask()).error)
    assert bench.calls == 10


async def test_successful_trial_closes_circuit():
    bench = Bench([*[DOWN] * 3, "Hello.", DOWN, "Again."], attempts=1)
    for _ in range(3):
        await bench.ask()
    bench.clock.advance(60)
    assert (await bench.ask()).text == "Hello."
    assert (await bench.ask()).error is not None
    assert (await bench.ask()).text == "Again."


async def test_during_trial_nobody_else_calls_and_stopped_trial_frees_it():
    hang, hold = Hang(), Hold()
    bench = Bench([*[DOWN] * 3, [hang], [hold, "Hello."]], attempts=1)
    for _ in range(3):
        await bench.ask()
    bench.clock.advance(60)
    trial = asyncio.create_task(bench.ask())
    await until(hang.reached.is_set)
    assert "right now" in ((await bench.ask()).error.hint or "")
    trial.cancel()
    await asyncio.wait([trial])
    second = asyncio.create_task(bench.ask())
    await until(hold.reached.is_set)
    assert "right now" in ((await bench.ask()).error.hint or "")
    hold.released.set()
    assert (await second).text == "Hello."
    assert bench.calls == 5


async def test_rejection_proves_availability_and_answer_resets_count():
    refused = [Fail("refused")]
    bench = Bench([DOWN, DOWN, refused, DOWN, DOWN, "Hello.", DOWN, DOWN, "Still there."], attempts=1)
    answers = [await bench.ask() for _ in range(9)]
    assert answers[-1].text == "Still there."
    assert bench.calls == 9


async def test_truncated_answers_count_as_failures():
    bench = Bench(lambda request: ["Half", *DOWN])
    for _ in range(3):
        await bench.ask()
    assert "paused" in str((await bench.ask()).error)
    assert bench.calls == 3


@pytest.mark.parametrize("thought", [[Think("I add.")], ["I add.", NotSaid()]], ids=["apart", "taken back"])
async def test_answer_with_thoughts_only_is_retried(thought):
    bench = Bench([[*thought, *DOWN], "It is 4."])
    answer = await bench.ask()
    assert (answer.text, bench.calls) == ("It is 4.", 2)


@pytest.mark.parametrize("thought", [[Think("I add.")], ["I add.", NotSaid()]], ids=["apart", "taken back"])
async def test_thoughts_without_text_are_an_empty_answer(thought):
    answer = await Bench([thought] * 3).ask()
    assert "empty answer" in str(answer.error)
    answer = await (bench := Bench([[*thought, Finish("length")]])).ask()
    assert "reached its reply limit" in str(answer.error)
    assert bench.calls == 1
