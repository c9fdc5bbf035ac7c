"""Message routing over any interleaving of messages, sessions, agents and delivery modes."""

import asyncio
import json

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.sessions.transcript_repair import read_session
from onyx_jupyter.testing.script import Call
from onyx_jupyter.testing.scripted_model import ScriptedModel
from tests.properties.session_invariants import check_session
from tests.runs.house import ENDS, House
from tests.waiting import until

AGENTS = ("ada", "bob")
CONFIG = json.dumps({"agents": {"list": [{"id": name, "model": f"{name}/model"} for name in AGENTS]}})
WAYS = st.sampled_from(["steer", "followup", "interrupt"])


def _house(folder, reply) -> House:
    models = {f"{name}/model": ScriptedModel(reply(name), model_id=f"{name}/model") for name in AGENTS}
    return House(folder, models=models, config=CONFIG, environment={})


@given(
    agents=st.lists(st.sampled_from(AGENTS), min_size=1, max_size=3),
    sendings=st.lists(st.integers(0, 2), min_size=1, max_size=7),
)
def test_every_message_is_answered_by_its_sessions_agent_only(tmp_path_factory, agents, sendings):
    """Property 20: For any message sent to a session, the message SHALL be routed to the Agent_Runtime associated with
    that session."""
    house = _house(
        tmp_path_factory.mktemp("house"), lambda name: lambda request: f"{name} heard {request.messages[-1].content}"
    )

    async def send_all() -> None:
        keys = [await house.session(agent=agent) for agent in agents]
        sent: dict[str, list[str]] = {key: [] for key in keys}
        runs = []
        for number, place in enumerate(sendings):
            key = keys[place % len(keys)]
            sent[key].append(f"message {number}")
            runs.append(await house.send(key, f"message {number}", when_busy="followup"))
        for run_id in runs:
            assert (await house.end(run_id))[0] == "chat.final"
        for key, agent in zip(keys, agents, strict=True):
            said = [line["content"] for line in house.lines(key) if line["role"] == "assistant"]
            heard = [line["content"] for line in house.lines(key) if line["role"] == "user"]
            assert heard == sent[key]
            assert said == [f"{agent} heard {message}" for message in sent[key]]
            assert {run["sessionKey"] for run in house.of("chat.started") if run["runId"] in runs} <= set(keys)
        await house.close()

    asyncio.run(send_all())


@given(
    agents=st.lists(st.sampled_from(AGENTS), min_size=1, max_size=2),
    sendings=st.lists(st.tuples(st.integers(0, 1), WAYS, st.integers(0, 12)), min_size=1, max_size=8),
)
def test_every_message_has_one_place_and_one_answer(tmp_path_factory, agents, sendings):
    """Property 20, during runs: each message is in its session's conversation exactly once and, where no interrupt
    stopped its run, answered; a session's runs never overlap, and each ends exactly once."""

    def reply(name):
        def answer(request):
            last = request.messages[-1]
            calls = last.role == "user" and last.content.endswith(("1", "4", "7"))
            words = [m.content for m in request.messages if m.role == "user"]
            return [f"{name} heard {words[-1]}", *([Call("peek"), Call("peek")] if calls else [])]

        return answer

    house = _house(tmp_path_factory.mktemp("house"), reply)

    async def send_all() -> None:
        keys = [await house.session(agent=agent) for agent in agents]
        sent: dict[str, list[str]] = {key: [] for key in keys}
        for number, (place, way, ticks) in enumerate(sendings):
            key = keys[place % len(keys)]
            sent[key].append(f"message {number}")
            await house.send(key, f"message {number}", when_busy=way)
            for _ in range(ticks):
                await asyncio.sleep(0)
        await until(lambda: not house.onyx.runs.busy)
        for key, agent in zip(keys, agents, strict=True):
            _check_events(house, key)
            check_session(read_session(house.file(key)).entries, sent[key])
            said = [line["content"] for line in house.lines(key) if line["role"] == "assistant"]
            assert all(words.startswith(f"{agent} heard") for words in said)
            house.results(key)
        await house.close()

    asyncio.run(send_all())


def _check_events(house: House, key: str) -> None:
    going_on = None
    ended = []
    for name, data in house.events:
        if data.get("sessionKey") != key:
            continue
        if name == "chat.started":
            assert going_on is None, "two runs at once"
            going_on = data["runId"]
        elif name in ENDS:
            assert going_on == data["runId"]
            ended.append(going_on)
            going_on = None
    assert going_on is None
    assert len(ended) == len(set(ended))
    disk = [line["meta"]["runId"] for line in house.lines(key) if line.get("meta", {}).get("kind") == "run_end"]
    assert disk == ended
