"""What clients can ask about other agents."""

import sys

from onyx_jupyter.app.features import OPERATIONS
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import STREAMS
from tests.acp.agent_house import AgentHouse


async def ask(house: AgentHouse, method: str, **params):
    """As an adapter does: parameters and result in their wire form."""
    operation = OPERATIONS[method]
    caller = Caller(house.onyx.container.parts, None, "ada", lambda event: None)
    result = await operation.handler(operation.params.model_validate(params), caller)
    operation.result.model_validate(result)
    return result


async def test_agents_are_listed_with_how_to_get_them(tmp_path):
    async with AgentHouse(tmp_path) as house:
        listed = {one["name"]: one for one in (await ask(house, "acp.agents"))["agents"]}
        assert next(iter(listed)) == "scripted"
        assert {"claude", "codex", "gemini", "goose", "opencode"} < set(listed)
        assert listed["scripted"]["installed"] is listed["scripted"]["configured"] is True
        assert listed["scripted"]["command"] == sys.executable
        assert "npm install" in listed["claude"]["install"]


async def test_agent_is_among_the_models_and_a_known_one_only_if_it_is_installed(tmp_path, monkeypatch):
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    monkeypatch.setenv("PATH", str(bin_folder))
    async with AgentHouse(tmp_path) as house:
        listed = [one["id"] for one in (await ask(house, "models.list"))["models"]]
        assert [name for name in listed if name.startswith("acp/")] == ["acp/scripted"]
        program = bin_folder / "goose"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        listed = [one["id"] for one in (await ask(house, "models.list"))["models"]]
        assert [name for name in listed if name.startswith("acp/")] == ["acp/scripted", "acp/goose"]


async def test_options_are_there_once_the_agent_is(tmp_path):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        assert await ask(house, "acp.options", sessionKey=key) == {"options": []}
        await house.do(key, "say hi")
        offered = await ask(house, "acp.options", sessionKey=key)
        (option,) = offered["options"]
        assert offered["agent"] == "scripted"
        assert (option["id"], option["value"], option["choices"][1]) == (
            "model",
            "small",
            {"value": "large", "name": "Large"},
        )
        (option,) = (await ask(house, "acp.setOption", sessionKey=key, option="model", value="large"))["options"]
        assert option["value"] == "large"
        assert OPERATIONS["acp.setOption"].scope == "admin"


async def test_every_client_hears_of_an_agent_that_starts_and_of_a_choice(tmp_path):
    async with AgentHouse(tmp_path) as house:
        heard = []
        house.onyx.container.parts.get(STREAMS).connect(lambda event: heard.append((event.name, event.data)))
        key = await house.agent_session()
        await house.do(key, "say hi")
        told = ("acp.updated", {"sessionKey": key})
        assert told in heard
        heard.clear()
        await ask(house, "acp.setOption", sessionKey=key, option="model", value="large")
        assert heard == [told]
