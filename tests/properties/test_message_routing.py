"""Property 20, over any interleaving of messages, sessions and agents."""

import asyncio
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from onyx_jupyter.testing.scripted_model import ScriptedModel
from tests.runtime.house import House

AGENTS = ("ada", "bob")
CONFIG = json.dumps({"agents": {"list": [{"id": name, "model": f"{name}/model"} for name in AGENTS]}})


@settings(max_examples=100, deadline=None)
@given(
    agents=st.lists(st.sampled_from(AGENTS), min_size=1, max_size=3),
    sendings=st.lists(st.integers(0, 2), min_size=1, max_size=7),
)
def test_every_message_is_answered_by_its_sessions_agent_in_its_session_alone(tmp_path_factory, agents, sendings):
    """Property 20: For any message sent to a session, the message SHALL be routed to the Agent_Runtime associated with
    that session."""

    def model(name: str) -> ScriptedModel:
        return ScriptedModel(lambda request: f"{name} heard {request.messages[-1].content}", model_id=f"{name}/model")

    house = House(
        tmp_path_factory.mktemp("house"),
        models={f"{name}/model": model(name) for name in AGENTS},
        config=CONFIG,
        environment={},
    )

    async def send_all() -> None:
        keys = [await house.session(agent=agent) for agent in agents]
        sent: dict[str, list[str]] = {key: [] for key in keys}
        runs = []
        for number, place in enumerate(sendings):
            key = keys[place % len(keys)]
            sent[key].append(f"message {number}")
            runs.append(await house.send(key, f"message {number}"))
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
