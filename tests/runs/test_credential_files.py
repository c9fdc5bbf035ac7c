"""A file of credentials is read after a yes and not before, in every mode and by every tool that reads."""

import json

import pytest

from onyx_jupyter.features.files.edit_tools import edit_tool
from onyx_jupyter.features.files.read_tools import list_tool, read_tool
from onyx_jupyter.features.files.search_tool import search_tool
from onyx_jupyter.testing.script import Call
from tests.runs.house import House

WORD = "correct-horse"
CONFIG = json.dumps({"security": {"auto": ["group:fs"]}})


def house_with(tmp_path, calls, **more) -> House:
    house = House(
        tmp_path,
        [calls, "Done"],
        config=CONFIG,
        more_tools=[read_tool, search_tool, list_tool, edit_tool],
        **more,
    )
    (house.root / "app").mkdir()
    (house.root / "app" / ".env").write_text(f"LAB={WORD}\n")
    (house.root / "app" / "lab.pem").write_text(f"LAB={WORD}\n")
    (house.root / "app" / "notes.md").write_text("LAB is a laboratory\n")
    (house.root / "settings.txt").symlink_to(house.root / "app" / ".env")
    return house


@pytest.mark.parametrize("mode", ["ask", "agent", "auto"])
@pytest.mark.parametrize("path", ["app/.env", "settings.txt", "app/lab.pem", "app/../app/.env"])
async def test_read_asks_and_denial_leaves_file_unread(tmp_path, mode, path):
    house = house_with(tmp_path, [Call("read", {"path": path})])
    key = await house.session()
    run_id = await house.send(key, mode=mode)
    await house.deny()
    await house.end(run_id)
    (request,) = house.of("exec.approval_request")
    name = "app/lab.pem" if path.endswith("pem") else "app/.env"
    assert request["details"]["path"] == name
    assert f"`{name}` contains credentials" in request["details"]["mustAsk"]
    assert request["details"]["alwaysScope"] is None
    assert WORD not in json.dumps(house.events) + repr(house.model.requests) + house.file(key).read_text()


async def test_approval_covers_one_read_only(tmp_path):
    calls = [Call("read", {"path": "app/.env"}), Call("read", {"path": "app/.env", "from": 1})]
    house = house_with(tmp_path, calls)
    key = await house.session()
    run_id = await house.send(key, mode="ask")
    await house.approve("session")
    await house.deny()
    await house.end(run_id)
    first, second = house.results(key).values()
    assert WORD in first["content"]
    assert second["meta"]["status"] == "denied"


async def test_ordinary_file_is_read_without_approval(tmp_path):
    calls = [Call("read", {"path": "app/notes.md"}), Call("list", {"path": "app"}), Call("read", {"path": "app/.envx"})]
    house = house_with(tmp_path, calls)
    key = await house.session()
    await house.run(key)
    assert house.of("exec.approval_request") == []
    notes, names, missing = house.results(key).values()
    assert "laboratory" in notes["content"]
    assert ".env" in names["content"]
    assert "does not exist" in missing["content"]


async def test_search_skips_them_with_notice_and_asks_if_named(tmp_path):
    calls = [Call("search", {"pattern": "LAB"}), Call("search", {"pattern": "LAB", "path": "app/lab.pem"})]
    house = house_with(tmp_path, calls)
    key = await house.session()
    run_id = await house.send(key, mode="ask")
    await house.deny()
    await house.end(run_id)
    found, asked = house.results(key).values()
    assert "app/notes.md:1:" in found["content"]
    assert (
        "Skipped: 1 file that holds credentials (app/lab.pem). To see one, use read, which asks the user."
        in (found["content"])
    )
    assert asked["meta"]["status"] == "denied"
    assert WORD not in json.dumps(house.events) + repr(house.model.requests)


async def test_failed_edit_reveals_no_content(tmp_path):
    house = house_with(tmp_path, [Call("edit", {"path": "app/.env", "oldText": "LAB=x", "newText": "LAB=y"})])
    key = await house.session()
    await house.run(key, mode="auto")
    (result,) = house.results(key).values()
    assert "Read the file first" in result["content"]
    assert WORD not in json.dumps(house.events) + repr(house.model.requests)
