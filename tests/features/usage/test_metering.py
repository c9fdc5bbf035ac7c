"""Every model call is counted once, whatever it is for, and none is made beyond the budget."""

import json
from datetime import UTC, datetime

import pytest

from onyx_jupyter.agents.metered_model import terms_of
from onyx_jupyter.config.schema import Config
from onyx_jupyter.features.usage.operations import usage_get
from onyx_jupyter.features.usage.wire import UsageGetParams, UsageReport
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.script import Call, Fail, Hang, Say, Tokens
from onyx_jupyter.testing.scripted_model import ScriptedModel
from tests.runs.house import House
from tests.waiting import until

PEEK = Call("peek", {"word": "x"})
FREE = "ollama/qwen"


def budget(**limits: float) -> str:
    return json.dumps({"security": {"budget": limits}})


def ledger(house: House) -> list[dict]:
    files = sorted(house.home.usage.glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


async def report(house: House, **params) -> UsageReport:
    await house.onyx.ready()
    caller = Caller(house.onyx.container.parts, None, "ada", lambda event: None)
    return UsageReport.model_validate(await usage_get(UsageGetParams(**params), caller))


async def test_each_step_of_a_run_is_one_line(tmp_path):
    house = House(tmp_path, [[PEEK, Tokens(100, 10, 40, 0.5)], ["Done", Tokens(200, 20)]])
    key = await house.session()
    _, data = await house.run(key)
    lines = ledger(house)
    assert [(line["step"], line["inputTokens"], line["cachedTokens"], line["costUsd"]) for line in lines] == [
        (1, 100, 40, 0.5),
        (2, 200, 0, None),
    ]
    assert {(line["role"], line["session"], line["run"]) for line in lines} == {("default", key, data["runId"])}
    assert (data["usage"]["costUsd"], data["usage"]["costIsPartial"]) == (0.5, True)


async def test_a_retried_call_counts_once_and_a_fallback_under_its_own_name(tmp_path):
    models = {
        "scripted/model": ScriptedModel([[Fail("unavailable", "Down.")], [Tokens(7, 0)], [Tokens(7, 0)]]),
        "scripted/second": ScriptedModel([["Here", Tokens(5, 1)]], model_id="scripted/second"),
    }
    config = "{agents: {list: [{id: 'main', fallbackModel: 'scripted/second'}]}}"
    house = House(tmp_path, models=models, config=config)
    await house.run(await house.session())
    # The first failed without usage; the empty answers were paid for.
    assert [(line["model"], line["inputTokens"]) for line in ledger(house)] == [
        ("scripted/model", 7),
        ("scripted/model", 7),
        ("scripted/second", 5),
    ]


async def test_a_stopped_answer_counts_with_an_estimate_that_says_so(tmp_path):
    hang = Hang()
    house = House(tmp_path, [["Well, let me see.", hang]])
    key = await house.session()
    run_id = await house.send(key)
    await until(hang.reached.is_set)
    await house.onyx.abort(run_id)
    await house.end(run_id)
    (line,) = ledger(house)
    assert (line["run"], line["estimated"], line["costUsd"]) == (run_id, True, None)
    assert line["inputTokens"] > line["outputTokens"] > 3
    (ended,) = house.of("chat.aborted")
    assert ended["usage"] == {
        "inputTokens": line["inputTokens"],
        "outputTokens": line["outputTokens"],
        "estimated": True,
    }
    told = await report(house, session_key=key)
    assert (told.session.total.calls, told.session.total.estimated_calls) == (1, 1)
    assert house.lines(key)[-1]["usage"] == ended["usage"], "where a reload finds it"


async def test_an_answer_that_fails_in_the_middle_counts_beside_the_steps_before_it(tmp_path):
    house = House(tmp_path, [[PEEK, Tokens(100, 10, None, 0.5)], ["One, two", Fail("unavailable", "Cut off.")]])
    key = await house.session()
    name, data = await house.run(key)
    first, second = ledger(house)
    assert (first.get("estimated"), second["estimated"], second["step"]) == (None, True, 2)
    usage = data["usage"]
    assert (name, usage["estimated"]) == ("chat.error", True)
    assert usage["outputTokens"] == 10 + second["outputTokens"]
    assert (usage["costUsd"], usage["costIsPartial"]) == (0.5, True)


async def test_what_fails_before_its_answer_costs_nothing(tmp_path):
    house = House(tmp_path, [[Fail("authentication", "No such key.")]])
    _, data = await house.run(await house.session())
    assert ledger(house) == []
    assert data["usage"] == {"inputTokens": 0, "outputTokens": 0}


async def test_a_stopped_answer_uses_up_the_budget(tmp_path):
    hang = Hang()
    house = House(tmp_path, [["Well", hang], "never"], config=budget(dayTokens=10))
    key = await house.session()
    run_id = await house.send(key)
    await until(hang.reached.is_set)
    await house.onyx.abort(run_id)
    await house.end(run_id)
    assert (await house.run(key))[1]["code"] == "budget"


async def test_where_a_provider_gives_no_figures_they_are_estimated(tmp_path):
    house = House(tmp_path, [["Hello there", Tokens(0, 0)]])
    _, data = await house.run(await house.session())
    (line,) = ledger(house)
    assert line["estimated"] is True
    assert line["inputTokens"] > 0
    assert data["usage"]["estimated"] is True


async def test_a_reached_budget_ends_the_run_in_order_and_keeps_what_was_written(tmp_path):
    replies = [["Looking.", PEEK, Tokens(100, 10, None, 0.6)], ["never"]]
    house = House(tmp_path, replies, config=budget(dayUsd=0.5))
    key = await house.session()
    name, data = await house.run(key)
    assert (name, data["code"]) == ("chat.error", "budget")
    assert "Today's budget is used up: $0.60 of $0.50." in data["message"]
    assert "`security.budget.dayUsd`" in data["hint"]
    assert len(house.model.requests) == 1
    assert [line["content"] for line in house.results(key).values()] == ["saw x"]
    assert "Looking." in [line["content"] for line in house.lines(key)]
    assert house.ends_on_disk(key) == ["error"]


@pytest.mark.parametrize("name", ["dayUsd", "sessionUsd", "dayTokens", "sessionTokens"])
async def test_zero_is_no_paid_call(tmp_path, name):
    house = House(tmp_path, ["never"], config=budget(**{name: 0}))
    _, data = await house.run(await house.session())
    assert data["code"] == "budget"
    assert house.model.requests == []


async def test_a_warning_comes_once_at_eighty_percent(tmp_path):
    replies = [[Say("One"), Tokens(1, 1, None, 0.85)], [PEEK, Tokens(1, 1, None, 0.01)], "Two", "Three"]
    house = House(tmp_path, replies, config=budget(dayUsd=1))
    key = await house.session()
    await house.run(key)
    assert house.of("chat.note") == []
    await house.run(key)
    await house.run(key)
    (note,) = house.of("chat.note")
    assert (note["kind"], note["data"]["name"], note["data"]["percent"]) == ("budget", "dayUsd", 85.0)
    assert "nearly used up: $0.85 of $1.00" in note["message"]


async def test_no_other_paid_model_takes_over_but_a_free_one_does(tmp_path):
    config = "{agents: {list: [{id: 'main', fallbackModel: '%s'}]}, security: {budget: {dayUsd: 0}}}"
    paid = {"scripted/model": ScriptedModel(["no"]), "scripted/second": ScriptedModel(["no"])}
    house = House(tmp_path, models=paid, config=config % "scripted/second")
    _, data = await house.run(await house.session())
    assert data["code"] == "budget"
    assert "fallback" not in data["message"]
    assert [model.requests for model in paid.values()] == [[], []]
    free = {"scripted/model": paid["scripted/model"], FREE: ScriptedModel(["Here"], model_id=FREE)}
    house = House(tmp_path, models=free, config=config % FREE)
    name, data = await house.run(await house.session())
    assert (name, data["text"], data["usage"]["costUsd"]) == ("chat.final", "Here", 0.0)
    (note,) = house.of("chat.note")
    assert (note["kind"], note["data"]["code"]) == ("fallback", "budget")
    (line,) = ledger(house)
    assert (line["free"], line["costUsd"]) == (True, 0.0)


async def test_what_another_server_used_counts_and_a_new_day_begins_anew(tmp_path):
    clock = FakeClock()
    first = House(tmp_path, [["Hi", Tokens(900, 100)]], config=budget(dayTokens=1000), clock=clock)
    second = House(tmp_path, ["Morning"], config=budget(dayTokens=1000), clock=clock)
    await first.run(await first.session())
    key = await second.session()
    assert (await second.run(key))[1]["code"] == "budget"
    clock.advance(24 * 3600)
    assert (await second.run(key))[1]["text"] == "Morning"
    await first.close()
    await second.close()


async def test_a_day_is_that_of_the_users_time_zone_also_after_that_has_changed(tmp_path):
    def config(tz: str) -> str:
        return json.dumps({"schedule": {"tz": tz}, "security": {"budget": {"dayTokens": 1000}}})

    clock = FakeClock(datetime(2026, 3, 14, 23, 30, tzinfo=UTC))
    house = House(tmp_path, [["Hi", Tokens(900, 100)], "Morning"], config=config("Europe/Vienna"), clock=clock)
    key = await house.session()
    await house.run(key)
    told = await report(house)
    assert (told.today, told.days[0].day, told.budget[0].used) == ("2026-03-15", "2026-03-15", 1000)
    assert told.budget[0].resets_at == "2026-03-15T23:00:00.000Z"
    clock.advance(3600)  # midnight in London
    assert "from 2026-03-16 00:00" in (await house.run(key))[1]["hint"]
    house.home.config_file.write_text(config("Europe/London"))
    await house.onyx.configured.read()
    await until(lambda: house.of("usage.changed"))
    told = await report(house)
    assert (told.today, told.days[0].day, told.budget[0].used) == ("2026-03-15", "2026-03-14", 0)
    assert told.budget[0].resets_at == "2026-03-16T00:00:00.000Z"
    assert (await house.run(key))[1]["text"] == "Morning"


async def test_a_new_conversation_has_its_own_budget(tmp_path):
    house = House(tmp_path, [["Hi", Tokens(900, 100)], "Hello"], config=budget(sessionTokens=1000))
    key = await house.session()
    await house.run(key)
    assert (await house.run(key))[1]["code"] == "budget"
    assert (await house.run(await house.session()))[1]["text"] == "Hello"


async def test_a_full_disk_stops_no_answer_and_the_call_still_counts(tmp_path):
    house = House(tmp_path, [["Hi", Tokens(900, 100)], "never"], config=budget(dayTokens=1000))
    key = await house.session()
    house.home.usage.write_text("no folder can be made here")
    assert (await house.run(key))[0] == "chat.final"
    assert (await house.run(key))[1]["code"] == "budget"


async def test_totals_say_what_was_used_by_whom_and_what_is_left(tmp_path):
    replies = [[PEEK, Tokens(100, 10, 40, 0.5)], ["Done", Tokens(200, 20)]]
    house = House(tmp_path, replies, config=budget(dayUsd=2, sessionTokens=660), clock=FakeClock())
    key = await house.session()
    _, data = await house.run(key)
    told = await report(house, session_key=key)
    (day,) = told.days
    assert day.day == told.today
    assert day.total.model_dump() == {
        "calls": 2,
        "input_tokens": 300,
        "output_tokens": 30,
        "cached_tokens": 40,
        "reasoning_tokens": 0,
        "cost_usd": 0.5,
        "unpriced_calls": 1,
        "plan_calls": 0,
        "free_calls": 0,
        "estimated_calls": 0,
    }
    assert [(cell.role, cell.model, cell.total) for cell in told.cells] == [("default", "scripted/model", day.total)]
    assert told.session.total == day.total
    (turn,) = told.session.turns
    assert (turn.run_id, [step.total.output_tokens for step in turn.steps]) == (data["runId"], [10, 20])
    assert [(one.name, one.used, one.percent, one.unpriced_calls) for one in told.budget] == [
        ("dayUsd", 0.5, 25.0, 1),
        ("sessionTokens", 330, 50.0, 0),
    ]
    assert told.budget[0].resets_at > told.today


async def test_a_home_without_calls_has_no_days(tmp_path):
    house = House(tmp_path)
    told = await report(house)
    assert (told.days, told.cells, told.session, told.budget) == ([], [], None, [])


async def test_clients_hear_once_of_many_calls(tmp_path):
    house = House(tmp_path, [[PEEK], [PEEK], "Done"])
    await house.run(await house.session())
    await until(lambda: house.of("usage.changed"))
    assert len(ledger(house)) == 3
    assert len(house.of("usage.changed")) == 1


@pytest.mark.parametrize(
    ("model_id", "config", "terms"),
    [
        ("local/qwen", {}, "free"),
        ("ollama/qwen", {}, "free"),
        ("ollama/gpt-oss:120b-cloud", {}, "paid"),
        ("ollama/qwen", {"baseUrl": "http://gpu.example:11434"}, "paid"),
        ("openai/gpt-5", {"baseUrl": "http://127.0.0.1:4000"}, "paid"),  # a proxy, perhaps
        ("mine/qwen", {"baseUrl": "http://127.0.0.1:8000"}, "paid"),
        ("anthropic/claude", {}, "paid"),
        ("codex/gpt-5", {}, "plan"),
    ],
)
def test_who_pays_for_a_model(model_id, config, terms):
    providers = {model_id.partition("/")[0]: config} if config else {}
    assert terms_of(model_id, Config.model_validate({"providers": providers})) == terms
