"""No mix of configuration, environment, grants, modes and models exceeds the administrator's ceiling."""

import asyncio
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.testing.script import Call
from onyx_jupyter.testing.scripted_model import ScriptedModel
from tests.runs.house import House
from tests.runs.test_modes import Wreck
from tests.waiting import until

CEILING = Ceiling(deny=["touch", "group:wrecks"], modes=["ask", "agent"], providers=["scripted"], allow_always=False)
MODELS = ("scripted/model", "other/model", None)
NAMES = st.lists(st.sampled_from(["touch", "wreck", "peek", "group:wrecks"]), max_size=3)
TOOLS = st.fixed_dictionaries({"allow": NAMES, "deny": NAMES})
CONFIGS = st.fixed_dictionaries(
    {"security": st.fixed_dictionaries({"auto": NAMES})},
    optional={
        "agents": st.fixed_dictionaries({"list": st.fixed_dictionaries({"tools": TOOLS}).map(lambda agent: [agent])})
    },
)
TURNS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "agent", "auto", None]),
        st.sampled_from(MODELS),
        st.sampled_from(["touch", "wreck"]),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=60, deadline=None)
@given(config=CONFIGS, is_broken=st.booleans(), granted=st.booleans(), own_model=st.sampled_from(MODELS), turns=TURNS)
def test_nothing_exceeds_the_ceiling(tmp_path_factory, config, is_broken, granted, own_model, turns):
    """The ceiling: it only ever tightens."""
    folder = tmp_path_factory.mktemp("house")
    asyncio.run(_play(folder, config, is_broken, granted, own_model, turns))


async def _play(folder, config, is_broken, granted, own_model, turns) -> None:
    key = await _before_the_ceiling(folder, granted, own_model)
    wreck = Wreck()
    models = _models(lambda request: Call(request.messages[-1].content, {"word": "x"}))
    text = json.dumps(config)[: -1 if is_broken else None]
    house = House(folder, models=models, config=text, more_tools=[wreck], ceiling=CEILING)
    await house.onyx.ready()
    for mode, model, tool in turns:
        try:
            run_id = await house.send(key, tool, mode=mode, model=model)
        except InvalidRequest:
            assert mode == "auto" or model == "other/model"
            continue
        assert mode != "auto"
        assert model != "other/model"
        await until(lambda: house.ends(run_id))  # noqa: B023 (awaited at once)
    assert (house.touch.done, wreck.done) == ([], [])
    assert models["other/model"].requests == []
    assert house.of("exec.approval_request") == []
    offered = {tool.name for request in models["scripted/model"].requests for tool in request.tools}
    assert not offered & {"touch", "wreck"}
    await house.close()


async def _before_the_ceiling(folder, granted, own_model) -> str:
    """A session of a server without one, where `touch` may have been allowed always."""
    house = House(folder, models=_models(lambda _: Call("touch", {"word": "x"})))
    key = await house.session(model=own_model)
    if granted:
        run_id = await house.send(key)
        await house.approve("always")
        await house.end(run_id)
    await house.close()
    return key


def _models(call):
    def reply(request):
        return [call(request)] if request.messages[-1].role == "user" else "Done"

    return {name: ScriptedModel(reply, model_id=name) for name in ("scripted/model", "other/model")}
