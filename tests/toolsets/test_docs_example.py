"""The examples of docs/tools-of-your-own.md, run from the page itself."""

import importlib
import re
import sys
import tomllib
from pathlib import Path

from onyx_jupyter.security.external_content import unfenced
from onyx_jupyter.testing.script import Call
from onyx_jupyter.toolsets.installed_toolsets import GROUP, as_toolset
from tests.runs.house import House

PAGE = (Path(__file__).parents[2] / "docs" / "tools-of-your-own.md").read_text("utf-8")
FILE, TOOLSET = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
(PYPROJECT,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.M | re.S)


async def test_documented_tool_file_works_where_documented(tmp_path):
    (name,) = re.findall(r"`(tools/\w+\.py)` in the agent's workspace", PAGE)
    path = tmp_path / "home" / "workspace" / name
    path.parent.mkdir(parents=True)
    path.write_text(FILE, encoding="utf-8")
    miles = Call("convert_length", {"value": 2.0, "fromUnit": "mile", "toUnit": "km"})
    parsecs = Call("convert_length", {"value": 2.0, "fromUnit": "parsec"})
    house = House(tmp_path, [[miles, parsecs], "Done"])
    key = await house.session()
    item = await house.onyx.skills.library.get(path.name)
    await house.onyx.skills.library.trust(path.name, item.skill.digest, "user:ada")
    await house.run(key)
    well, badly = house.results(key).values()
    assert unfenced(well["content"]) == "3.21869 km"
    assert "There is no unit 'parsec'. There are: m, km, mile, ft." in badly["content"]
    assert house.of("exec.approval_request") == []


async def test_documented_toolset_works(tmp_path, monkeypatch):
    (tmp_path / "desk.py").write_text(TOOLSET, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    tickets = as_toolset("tickets", importlib.import_module("desk").Tickets)
    house = House(tmp_path, [[Call("close_ticket", {"ticket": "ABC-1"})], "Done"], toolsets=[tickets])
    key = await house.session()
    run_id = await house.send(key)
    await house.approve()
    await house.end(run_id)
    (result,) = house.results(key).values()
    assert unfenced(result["content"]) == "ABC-1 is closed."
    monkeypatch.delitem(sys.modules, "desk")


def test_documented_entry_point_uses_the_right_group():
    assert [*tomllib.loads(PYPROJECT)["project"]["entry-points"]] == [GROUP]
