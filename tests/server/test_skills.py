"""Skills on the socket of a real server."""

import json

import pytest

from tests.server.client import MethodFailed
from tests.skills.notebooks import cell, write_notebook, write_text_skill


@pytest.fixture
def skills_folder(onyx_home):
    return onyx_home / "skills"


async def named(client, name):
    return next(item for item in (await client.ask("skills.list"))["skills"] if item["name"] == name)


async def test_skills_are_listed_with_state_reason_and_a_form(connect, skills_folder, jp_root_dir):
    parameters = 'path: Path = Path("a.csv")  # the table\nrows: int = 5\nkind: Literal["a", "b"] = "a"\nname: str'
    write_notebook(skills_folder / "count.ipynb", cell(parameters, "parameters"), cell("rows"))
    write_text_skill(jp_root_dir / ".onyx" / "skills" / "house-style")
    (skills_folder / "odd.ipynb").write_text("{")
    client = await connect()
    found = {item["name"]: item for item in (await client.ask("skills.list"))["skills"]}
    assert (found["count"]["source"], found["count"]["state"]) == ("home", "untrusted")
    assert (found["house-style"]["source"], found["house-style"]["state"]) == ("project", "untrusted")
    assert found["odd"]["state"] == "broken"
    assert "JSON" in found["odd"]["reason"]
    assert found["house-style"]["path"] == "Onyx:project-skills/house-style/SKILL.md"
    assert found["count"]["path"] == "Onyx:skills/count.ipynb"
    form = found["count"]["parameters"]
    assert [(item["name"], item["type"], item["required"], item["default"]) for item in form["fields"]] == [
        ("path", "path", False, "a.csv"),
        ("rows", "integer", False, 5),
        ("kind", "choice", False, "a"),
        ("name", "string", True, None),
    ]
    assert form["fields"][0]["description"] == "the table"
    assert form["jsonSchema"]["required"] == ["name"]
    assert form["jsonSchema"]["additionalProperties"] is False


async def test_a_person_trusts_what_was_shown_and_sees_what_changed_since(connect, skills_folder, onyx_home):
    path = write_notebook(skills_folder / "count.ipynb", cell("print(1)"))
    client = await connect()
    shown = await client.ask("skills.get", name="count")
    assert "print(1)" in shown["text"]
    assert shown["diff"] is None
    trusted = (await client.ask("skills.trust", name="count", hash=shown["skill"]["hash"]))["skill"]
    assert (trusted["state"], trusted["trusted"]) == ("ready", True)
    await client.event("skills.updated")

    write_notebook(path, cell("print(2)"))
    with pytest.raises(MethodFailed) as refused:
        await client.ask("skills.trust", name="count", hash=shown["skill"]["hash"])
    assert refused.value.data["field"] == "hash"
    now = await client.ask("skills.get", name="count")
    assert (now["skill"]["state"], now["skill"]["changed"]) == ("untrusted", True)
    assert "-print(1)\n+print(2)" in now["diff"]
    entries = [json.loads(line) for line in (onyx_home / "audit.jsonl").read_text().splitlines()]
    (entry,) = [entry for entry in entries if entry["event"] == "skill_trusted"]
    assert (entry["skill"], entry["sha256"]) == ("count", shown["skill"]["hash"])
    assert entry["by"].startswith("user:")


async def test_a_skill_that_is_not_there_and_one_that_is_broken_are_refused(connect, skills_folder):
    write_notebook(skills_folder / "odd.ipynb", cell("n = = 1", "parameters"))
    client = await connect()
    with pytest.raises(MethodFailed, match="There is no skill 'ghost'"):
        await client.ask("skills.get", name="ghost")
    odd = await named(client, "odd")
    with pytest.raises(MethodFailed, match="does not parse"):
        await client.ask("skills.trust", name="odd", hash=odd["hash"])
    with pytest.raises(MethodFailed, match="no agent"):
        await client.ask("skills.list", agentId="ghost")


async def test_a_skill_that_hides_another_leaves_it_to_be_looked_at(connect, skills_folder, onyx_home):
    write_notebook(skills_folder / "count.ipynb", cell("print('far')"))
    write_notebook(onyx_home / "workspace" / "skills" / "count.ipynb", cell("print('near')"))
    client = await connect()
    found = [item for item in (await client.ask("skills.list"))["skills"] if item["name"] == "count"]
    assert [(item["source"], item["state"], item["path"]) for item in found] == [
        ("workspace", "untrusted", "Onyx:workspace/skills/count.ipynb"),
        ("home", "shadowed", "Onyx:skills/count.ipynb"),
    ]
    assert "near" in (await client.ask("skills.get", name="count"))["text"]
    assert "far" in (await client.ask("skills.get", name="count", id=found[1]["id"]))["text"]
