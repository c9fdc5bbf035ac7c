"""The tool list stays the same during a run and identical from run to run."""

import json
from dataclasses import asdict, replace

from onyx_jupyter.app.features import TOOLSETS
from onyx_jupyter.testing.script import Call
from onyx_jupyter.toolsets.wrappers import SortedTools
from tests.runs.house import House
from tests.toolsets.fake_server import FakeServer


class ReorderingServer(FakeServer):
    """Gives its tools in another order each time, and one more."""

    async def tools(self, context):
        found = list(await super().tools(context))
        return found[len(self.asked_for) % len(found) :] + found[: len(self.asked_for) % len(found)]


class GrowingServer(FakeServer):
    """Has one tool more each time that it is asked."""

    async def tools(self, context):
        found = list(await super().tools(context))
        return [*found, *(replace(found[0], name=f"new_{number}") for number in range(len(self.asked_for)))]


def listed(request):
    """What goes to a provider, to the byte."""
    return json.dumps([asdict(tool) for tool in request.tools])


async def test_run_keeps_its_tools_and_next_run_gets_new_ones(tmp_path):
    server = GrowingServer()
    house = House(tmp_path, [[Call("peek")], [Call("peek")], "Done", "Again"], toolsets=[server])
    key = await house.session()
    await house.run(key)
    assert len(server.asked_for) == 1, "asked once for the whole run"
    first, second, third = house.model.requests
    assert listed(first) == listed(second) == listed(third)
    await house.run(key)
    names = {tool.name for tool in house.model.requests[-1].tools}
    assert {"new_0", "new_1"} <= names


async def test_list_is_byte_identical_across_runs_and_servers(tmp_path):
    seen = set()
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        house = House(folder, ["One", "Two", "Three"], toolsets=[*TOOLSETS, SortedTools(ReorderingServer())])
        key = await house.session()
        for _ in range(3):
            await house.run(key)
        seen |= {listed(request) for request in house.model.requests}
        await house.close()
    (only,) = seen
    assert "lookup_ticket" in only
