"""Retries, fallback and circuit breaker as a run has them, with the configuration's own keys."""

import asyncio
import json

from onyx_jupyter.providers.retry import RetryDelays
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.script import Call, Fail
from onyx_jupyter.testing.scripted_model import ScriptedModel
from tests.runs.house import House
from tests.waiting import until

DOWN = [Fail("unavailable", "It is down.")]


def house_of_two(folder, first, second, *, clock=None, **runtime):
    models = {
        "a/first": ScriptedModel(first, model_id="a/first"),
        "b/second": ScriptedModel(second, model_id="b/second"),
    }
    agent = {"id": "main", "default": True, "model": "a/first", "fallbackModel": "b/second"}
    config = {"agents": {"list": [agent]}, "runtime": {"retry": {"attempts": 1}, **runtime}}
    house = House(folder, models=models, config=json.dumps(config), environment={}, clock=clock)
    return house, *models.values()


async def test_fallback_answers_for_that_run_only_with_notice(tmp_path):
    house, first, second = house_of_two(
        tmp_path, [DOWN, "First again."], [[Call("peek", {"word": "a"})], "Second."], clock=FakeClock()
    )
    key = await house.session()
    assert (await house.run(key))[1]["text"] == "Second."
    (note,) = house.of("chat.note")
    assert (note["kind"], note["data"]["model"]) == ("fallback", "b/second")
    assert "It is down." in note["message"]
    lines = house.lines(key)
    assert [line["meta"]["model"] for line in lines if line["role"] == "assistant"] == ["b/second", "b/second"]
    (kept,) = [line for line in lines if line.get("meta", {}).get("kind") == "note"]
    assert (kept["content"], kept["meta"]["note"]) == (note["message"], "fallback")
    assert (await house.run(key))[1]["text"] == "First again."
    assert house.lines(key)[-2]["meta"]["model"] == "a/first"
    assert (len(first.requests), len(second.requests)) == (2, 2)
    assert all("It is down" not in message.content for message in first.requests[1].messages)
    await house.close()


async def test_user_chosen_model_has_no_fallback(tmp_path):
    house, _, second = house_of_two(tmp_path, lambda request: DOWN, ["never"])
    for_session = await house.session(model="a/first")
    assert (await house.run(for_session))[0] == "chat.error"
    for_message = await house.session()
    assert (await house.run(for_message, model="a/first"))[0] == "chat.error"
    assert second.requests == []
    await house.close()


async def test_fallback_answers_if_model_cannot_be_opened(tmp_path):
    house, _, _ = house_of_two(tmp_path, [], ["Second."])
    del house.models._models["a/first"]
    key = await house.session()
    assert (await house.run(key))[1]["text"] == "Second."
    assert house.of("chat.note")[0]["data"]["code"] == "not_found"
    await house.close()


async def test_open_circuit_applies_to_all_sessions_and_fallback_answers(tmp_path):
    clock = FakeClock()
    house, first, _ = house_of_two(
        tmp_path, lambda request: DOWN, lambda request: "Second.", clock=clock, circuitBreaker={"failures": 2}
    )
    for _ in range(3):
        assert (await house.run(await house.session()))[1]["text"] == "Second."
    assert len(first.requests) == 2
    assert "paused" in house.of("chat.note")[-1]["message"]
    clock.advance(61)
    await house.run(await house.session())
    assert len(first.requests) == 3
    await house.close()


async def test_open_circuit_survives_configuration_change_but_not_new_address(tmp_path):
    house = House(tmp_path, lambda request: DOWN, clock=FakeClock())
    key = await house.session()

    async def configure(**config):
        house.home.config_file.write_text(json.dumps({"runtime": {"retry": {"attempts": 1}}, **config}))
        await house.onyx.list_models(refresh=True)

    await configure()
    for _ in range(4):
        await house.run(key)
    assert len(house.model.requests) == 3
    await configure(memory={"minScore": 0.5})
    name, data = await house.run(key)
    assert (name, data["code"], len(house.model.requests)) == ("chat.error", "unavailable", 3)
    assert "tries it again in 60 s" in data["hint"]
    await configure(providers={"scripted": {"baseUrl": "http://127.0.0.1:1/v1"}})
    await house.run(key)
    assert len(house.model.requests) == 4


async def test_wait_is_shown_in_chat_and_stop_ends_it_immediately(tmp_path):
    waits = RetryDelays(sleep=lambda seconds: asyncio.Event().wait(), chance=lambda: 0.9)
    house = House(tmp_path, [[Fail("rate_limit", retry_after_s=4)], "never"], waits=waits)
    key = await house.session()
    run_id = await house.send(key)
    await until(lambda: house.of("tool.progress"))
    (told,) = house.of("tool.progress")
    assert (told["tool"], told["message"]) == ("model", "scripted is busy; trying again in 4 s (2 of 3)")
    await house.onyx.abort(run_id)
    assert (await house.end(run_id))[0] == "chat.aborted"
    assert len(house.model.requests) == 1


async def test_second_model_call_is_retried_without_rerunning_tool(tmp_path):
    house = House(tmp_path, [[Call("peek", {"word": "a"})], DOWN, DOWN, "Done."])
    key = await house.session()
    assert (await house.run(key))[1]["text"] == "Done."
    assert house.peek.done == ["a"]
    assert len(house.results(key)) == 1


async def test_fallback_reason_contains_no_secret(tmp_path):
    secret = "topsecret-abcdefgh"
    house, _, _ = house_of_two(tmp_path, [[Fail("unavailable", f"GET ?key={secret}")]], ["Second."])
    config = json.loads(house.home.config_file.read_text())
    house.home.config_file.write_text(json.dumps({**config, "providers": {"c": {"apiKey": secret}}}))
    key = await house.session()
    await house.run(key)
    assert "GET" in house.of("chat.note")[0]["message"]
    assert secret not in house.file(key).read_text() + str(house.events)
    await house.close()


async def test_unavailable_cell_mode_model_ends_run_with_reason(tmp_path):
    house, _, _ = house_of_two(tmp_path, [], [])
    name, data = await house.run(await house.session(model="local/gone.gguf"), "What is a histogram?")
    assert (name, data["code"]) == ("chat.error", "not_found")
    assert 'There is no model "local/gone.gguf".' in data["message"]
    await house.close()
