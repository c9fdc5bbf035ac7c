"""Tool files in the workspace: nothing runs before a person trusts it, and a change asks again."""

import pytest

from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.features.files.edit_tools import write_tool
from onyx_jupyter.security.external_content import unfenced
from onyx_jupyter.testing.script import Call
from tests.runs.house import House

SOURCE = '''"""Says hello."""
from __future__ import annotations
from pathlib import Path

from onyx_jupyter.toolsets import Arguments, ToolContext, ToolResult, tool

Path({mark!r}).write_text("ran")


class HelloArguments(Arguments):
    to: str


@tool(name="hello", arguments=HelloArguments, description="Says hello.", risk="read", family="fs")
async def hello(arguments: HelloArguments, context: ToolContext) -> ToolResult:
    return ToolResult(f"{word} {{arguments.to}}")
'''
HELLO = Call("hello", {"to": "Ada"})


class Place:
    """A house with a file of tools; `mark` is there once its code has run."""

    def __init__(self, folder, replies=(), **more) -> None:
        self.house = House(folder, replies, **more)
        self.folder = self.house.home.root / "workspace" / "tools"
        self.folder.mkdir(parents=True)
        self.mark = folder / "mark"

    def write(self, word="Hello", name="hello.py") -> None:
        (self.folder / name).write_text(SOURCE.format(mark=str(self.mark), word=word))

    async def listed(self, name="hello.py"):
        return await self.house.onyx.skills.library.get(name)

    async def trust(self, name="hello.py") -> None:
        item = await self.listed(name)
        await self.house.onyx.skills.library.trust(name, item.skill.digest, "user:ada")

    async def health(self):
        return (await self.house.onyx.container.health()).get("tools")

    def offered(self):
        return {tool.name for tool in self.house.model.requests[-1].tools}


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path, lambda request: [HELLO] if request.messages[-1].role == "user" else "Done")


async def test_untrusted_file_is_named_with_hint_and_not_executed(place):
    place.write()
    key = await place.house.session()
    await place.house.run(key)
    assert "hello" not in place.offered()
    assert not place.mark.exists()
    told = await place.health()
    assert not told["ok"]
    assert "tools/hello.py cannot be used: It is new and has not been trusted yet." in told["message"]
    assert "Skills in the sidebar" in told["message"]
    item = await place.listed()
    assert (item.skill.kind, item.state, item.skill.description) == ("tool", "untrusted", "Says hello.")
    assert item.skill.text == (place.folder / "hello.py").read_text(), "a person is shown all of it"
    await place.house.close()


async def test_trusted_tool_is_available_from_next_message(place):
    place.write()
    key = await place.house.session()
    await place.house.run(key)
    await place.trust()
    assert not place.mark.exists(), "trusting runs nothing either"
    await place.house.run(key)
    assert place.mark.exists()
    refused, greeted = place.house.results(key).values()
    assert "There is no tool called 'hello'" in refused["content"]
    assert unfenced(greeted["content"]) == "Hello Ada"
    assert await place.health() is None
    (tool,) = [tool for tool in place.house.onyx.toolsets.known() if tool.name == "hello"]
    assert tool.family == "workspace"
    await place.house.close()


async def test_change_needs_new_trust_and_old_version_is_gone(place):
    place.write()
    key = await place.house.session()
    await place.trust()
    await place.house.run(key)
    place.mark.unlink()
    place.write("Goodbye")
    await place.house.run(key)
    assert "hello" not in place.offered()
    assert not place.mark.exists()
    assert "It has changed since it was trusted." in (await place.health())["message"]
    item = await place.listed()
    assert item.changed
    assert "Hello" in item.trusted_text
    await place.trust()
    await place.house.run(key)
    assert unfenced(list(place.house.results(key).values())[-1]["content"]) == "Goodbye Ada"
    await place.house.close()


async def test_trust_covers_what_was_shown(place):
    place.write()
    await place.house.session()
    shown = (await place.listed()).skill.digest
    place.write("Goodbye")
    with pytest.raises(InvalidRequest, match="changed in the meantime"):
        await place.house.onyx.skills.library.trust("hello.py", shown, "user:ada")
    await place.house.close()


async def test_failing_import_is_named_and_others_work(place):
    place.write()
    broken = {
        "nothing.py": "x = 1",
        "boom.py": "1 / 0",
        "quit.py": "raise SystemExit",
        "odd.py": "def (",
        "twice.py": SOURCE.format(mark=str(place.mark), word="Twice"),
    }
    for name, source in broken.items():
        (place.folder / name).write_text(source)
    (place.folder / "_helper.py").write_text("1 / 0")
    key = await place.house.session()
    for name in ("hello.py", "nothing.py", "boom.py", "quit.py", "twice.py"):
        await place.trust(name)
    await place.house.run(key)
    (result,) = place.house.results(key).values()
    assert unfenced(result["content"]) == "Hello Ada"
    said = (await place.health())["message"]
    assert "tools/boom.py cannot be used: ZeroDivisionError" in said
    assert "tools/nothing.py cannot be used: It defines no tool." in said
    assert "tools/odd.py cannot be used: It is not valid Python:" in said
    assert "tools/quit.py cannot be used: ImportError: importing it exits the program" in said
    assert "'hello' of the toolset tools/twice.py is left out" in said
    assert "_helper" not in said
    await place.house.close()


@pytest.mark.parametrize("trusted", [False, True])
async def test_agent_cannot_read_and_trust_it_as_skill(tmp_path, trusted):
    skill = tmp_path / "home" / "workspace" / "skills" / "house-style"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: house-style\ndescription: How we write.\n---\nBriefly.")
    place = Place(tmp_path, [[Call("skill_read", {"name": "hello.py"})], "Ah"])
    place.write()
    key = await place.house.session()
    if trusted:
        await place.trust()
    await place.house.run(key)
    (result,) = place.house.results(key).values()
    assert "There is no skill 'hello.py'" in result["content"]
    assert place.house.of("exec.approval_request") == []
    assert (await place.listed()).trusted is trusted
    await place.house.close()


async def test_cell_cannot_request_trust(place):
    place.write()
    await place.house.session()
    question = await place.house.onyx.skills.questions.ask("hello.py", None, "a cell")
    assert await place.house.onyx.skills.questions.refresh(question.id) is None
    assert not (await place.listed()).trusted
    await place.house.close()


async def test_agent_writes_there_are_asked_in_every_mode(tmp_path):
    call = Call("write", {"path": "onyx:tools/mine.py", "content": "x = 1"})
    config = '{security: {auto: ["write"]}}'
    place = Place(tmp_path, [[call], "Done"], more_tools=[write_tool], config=config)
    key = await place.house.session()
    run_id = await place.house.send(key, mode="auto")
    await place.house.asked(key)
    assert not (place.folder / "mine.py").exists()
    await place.house.deny()
    await place.house.end(run_id)
    await place.house.close()
