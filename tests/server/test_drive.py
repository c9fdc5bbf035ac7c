"""Onyx's files as the file browser gets them: the folders of the drive, all that is in them, nothing beside."""

import json
import shutil
import threading

import pytest
from tornado.httpclient import HTTPClientError

from onyx_jupyter.security.drive_folders import DriveFolders
from onyx_jupyter.server.drive.onyx_drive import PACKAGED
from onyx_jupyter.testing.script import Call
from tests.waiting import until

NOTEBOOK = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
CELL = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
PRIVATE = ("credentials.json", "onyx.json", "grants.json", "audit.jsonl", "sessions/main/x.jsonl", "logs/onyx.jsonl")


@pytest.fixture
def drive(jp_fetch):
    """Asks the drive: the body as JSON, None where there is none."""

    async def ask(path, method="GET", body=None, **params):
        parts = [part for part in path.split("/") if part]
        options = {"body": json.dumps(body) if body is not None else None, "allow_nonstandard_methods": True}
        response = await jp_fetch("onyx", "api", "contents", *parts, method=method, params=params, **options)
        return json.loads(response.body) if response.body else None

    return ask


async def test_server_starts_without_a_home(connect, onyx_home):
    shutil.rmtree(onyx_home)
    client = await connect()
    assert (await client.ask("health.check"))["components"]["storage"]["ok"]
    assert onyx_home.is_dir()


async def refused(request):
    with pytest.raises(HTTPClientError) as error:
        await request
    return error.value.code


def names(model):
    return sorted(item["name"] for item in model["content"])


async def test_drive_contains_exactly_its_folders(drive, onyx_home):
    top = await drive("")
    assert (
        {"runs", "shared", "skills", "workspace"}
        <= set(names(top))
        <= {"runs", "shared", "skills", "workspace", PACKAGED}
    )
    assert (top["type"], top["writable"]) == ("directory", False)
    workspace = await drive("workspace")
    assert "AGENTS.md" in names(workspace)
    assert "soul" in (await drive("workspace/SOUL.md"))["content"].lower()
    assert onyx_home.joinpath("shared").stat().st_mode & 0o777 == 0o700


async def test_file_is_created_written_renamed_and_trashed(drive, onyx_home, monkeypatch, tmp_path):
    trash = tmp_path / "trash"
    trash.mkdir()
    monkeypatch.setattr(
        "jupyter_server.services.contents.filemanager.send2trash", lambda path: shutil.move(path, trash)
    )
    saved = await drive("workspace/notes.md", "PUT", {"type": "file", "format": "text", "content": "first"})
    assert (saved["path"], saved["writable"]) == ("workspace/notes.md", True)
    assert onyx_home.joinpath("workspace/notes.md").read_text() == "first"
    renamed = await drive("workspace/notes.md", "PATCH", {"path": "shared/notes.md"})
    assert renamed["path"] == "shared/notes.md"
    assert not onyx_home.joinpath("workspace/notes.md").exists()
    folder = await drive("workspace", "POST", {"type": "directory"})
    assert onyx_home.joinpath(folder["path"]).is_dir()
    copy = await drive("workspace", "POST", {"copy_from": "shared/notes.md"})
    assert onyx_home.joinpath(copy["path"]).read_text() == "first"
    await drive("shared/notes.md", "DELETE")
    assert not onyx_home.joinpath("shared/notes.md").exists()
    assert trash.joinpath("notes.md").read_text() == "first"


async def test_agent_changes_are_visible_immediately(drive, onyx_home):
    await drive("")
    onyx_home.joinpath("workspace/memory").mkdir(exist_ok=True)
    onyx_home.joinpath("workspace/memory/2026-11-22.md").write_text("- today")
    assert names(await drive("workspace/memory")) == ["2026-11-22.md"]
    onyx_home.joinpath("workspace/memory/2026-11-22.md").write_text("- tomorrow")
    assert (await drive("workspace/memory/2026-11-22.md"))["content"] == "- tomorrow"


@pytest.mark.parametrize("name", PRIVATE)
async def test_private_files_are_not_on_drive(drive, onyx_home, jp_fetch, name):
    await drive("")
    secret = onyx_home / name
    secret.parent.mkdir(parents=True, exist_ok=True)
    secret.touch()
    kept = secret.read_text()
    for path in (name, f"workspace/../{name}", f"workspace/%2e%2e/{name}", f"./{name}"):
        assert await refused(jp_fetch("onyx/api/contents", path)) in (400, 404, 405)
        assert await refused(jp_fetch("onyx/files", path)) in (400, 404, 405)
    for method, body in (("PUT", {"type": "file", "format": "text", "content": "x"}), ("DELETE", None)):
        assert await refused(drive(name, method, body)) in (400, 404, 405)
    await drive("workspace/mine.md", "PUT", {"type": "file", "format": "text", "content": "x"})
    assert await refused(drive("workspace/mine.md", "PATCH", {"path": name})) in (400, 404, 405)
    assert await refused(drive("workspace/mine.md", "PATCH", {"path": f"workspace/../{name}"})) in (400, 404, 405)
    assert await refused(drive("workspace", "POST", {"copy_from": name})) in (400, 404, 405)
    assert secret.read_text() == kept


async def test_escaping_links_are_hidden_and_not_copied(drive, onyx_home, tmp_path):
    await drive("")
    tmp_path.joinpath("elsewhere").mkdir()
    tmp_path.joinpath("elsewhere/secret.txt").write_text("secret")
    workspace = onyx_home / "workspace"
    workspace.joinpath("out").symlink_to(tmp_path / "elsewhere")
    workspace.joinpath("key.json").symlink_to(onyx_home / "onyx.json")
    workspace.joinpath("loop").symlink_to("loop")
    workspace.joinpath("within.md").symlink_to(workspace / "SOUL.md")
    listed = names(await drive("workspace"))
    assert not {"out", "key.json", "loop"} & set(listed)
    assert "within.md" in listed
    for path in ("workspace/out", "workspace/out/secret.txt", "workspace/key.json", "workspace/loop"):
        assert await refused(drive(path)) == 404
    body = {"type": "file", "format": "text", "content": "overwritten"}
    assert await refused(drive("workspace/key.json", "PUT", body)) == 404
    assert "overwritten" not in onyx_home.joinpath("onyx.json").read_text()

    workspace.joinpath("folder").mkdir()
    workspace.joinpath("folder/out").symlink_to(tmp_path / "elsewhere")
    assert await refused(drive("shared", "POST", {"copy_from": "workspace/folder"})) == 400
    assert list(onyx_home.joinpath("shared").iterdir()) == []


async def test_folder_is_copied_without_loops_home_or_itself(drive, onyx_home, monkeypatch):
    threads = []
    copytree = shutil.copytree

    def noted(*places):
        threads.append(threading.current_thread())
        return copytree(*places)

    monkeypatch.setattr(shutil, "copytree", noted)
    await drive("")
    folder = onyx_home / "workspace/folder"
    folder.joinpath("inner").mkdir(parents=True)
    folder.joinpath("inner/a.md").write_text("a")
    before = sorted(onyx_home.rglob("*.md"))
    for source, target in (
        ("/", "workspace"),
        ("workspace", "workspace"),
        ("workspace", "shared"),
        ("workspace/folder", "workspace/folder"),
        ("workspace/folder", "workspace/folder/inner"),
    ):
        assert await refused(drive(target, "POST", {"copy_from": source})) in (400, 404)
    assert threads == []
    assert sorted(onyx_home.rglob("*.md")) == before
    copied = await drive("workspace", "POST", {"copy_from": "workspace/folder"})
    assert onyx_home.joinpath(copied["path"], "inner/a.md").read_text() == "a"
    assert threading.main_thread() not in threads


async def test_listing_needs_one_lookup_of_drive_folders(drive, onyx_home, monkeypatch):
    looks = []
    now = DriveFolders.now

    def counted(folders):
        looks.append(threading.get_ident())
        return now(folders)

    async def looks_for(many):
        for number in range(many):
            onyx_home.joinpath("runs", f"{number}.txt").write_text("x")
        looks.clear()
        listed = await drive("runs")
        assert len(listed["content"]) == many
        assert all(item["writable"] for item in listed["content"])
        return len(looks)

    await drive("runs")
    monkeypatch.setattr(DriveFolders, "now", counted)
    assert await looks_for(3) == await looks_for(30)


async def test_hidden_names_are_neither_listed_nor_created(drive, onyx_home):
    await drive("")
    onyx_home.joinpath("workspace/.env").write_text("KEY=1")
    assert ".env" not in names(await drive("workspace"))
    assert await refused(drive("workspace/.env")) == 404
    body = {"type": "file", "format": "text", "content": "x"}
    assert await refused(drive("workspace/.hidden", "PUT", body)) == 404
    assert not onyx_home.joinpath("workspace/.hidden").exists()


async def test_top_level_folders_cannot_be_changed(drive, onyx_home):
    await drive("")
    for method, body in (("DELETE", None), ("PATCH", {"path": "other"})):
        assert await refused(drive("workspace", method, body)) in (404, 405)
    assert await refused(drive("", "POST", {"type": "file"})) in (404, 405)
    assert await refused(drive("new.md", "PUT", {"type": "file", "format": "text", "content": "x"})) in (404, 405)
    assert onyx_home.joinpath("workspace").is_dir()
    assert not onyx_home.joinpath("new.md").exists()


async def test_checkpoints_are_separate_and_follow_their_file(drive, onyx_home):
    await drive("workspace/n.ipynb", "PUT", {"type": "notebook", "format": "json", "content": NOTEBOOK})
    made = await drive("workspace/n.ipynb/checkpoints", "POST")
    changed = {**NOTEBOOK, "metadata": {"changed": True}}
    await drive("workspace/n.ipynb", "PUT", {"type": "notebook", "format": "json", "content": changed})
    assert [item.name for item in onyx_home.joinpath("workspace").rglob("*checkpoint*")] == []
    assert onyx_home.joinpath("checkpoints/workspace/n-checkpoint.ipynb").is_file()
    await drive(f"workspace/n.ipynb/checkpoints/{made['id']}", "POST")
    assert (await drive("workspace/n.ipynb"))["content"]["metadata"] == {}
    await drive("workspace/n.ipynb", "PATCH", {"path": "workspace/m.ipynb"})
    assert len(await drive("workspace/m.ipynb/checkpoints")) == 1
    assert await refused(drive("sessions/x/checkpoints")) == 404


async def test_packaged_skills_are_read_only(drive, jp_serverapp, tmp_path, monkeypatch):
    brought = tmp_path / "brought"
    brought.mkdir()
    brought.joinpath("s.ipynb").write_text(json.dumps(NOTEBOOK))
    monkeypatch.setattr("onyx_jupyter.server.service.installed_skills", lambda: brought)
    skill = await drive(f"{PACKAGED}/s.ipynb")
    assert skill["writable"] is False
    body = {"type": "notebook", "format": "json", "content": NOTEBOOK}
    assert await refused(drive(f"{PACKAGED}/s.ipynb", "PUT", body)) == 405
    assert await refused(drive(f"{PACKAGED}/s.ipynb", "DELETE")) == 405
    assert await refused(drive(f"{PACKAGED}/s.ipynb", "PATCH", {"path": "skills/s.ipynb"})) == 405
    copied = await drive("skills", "POST", {"copy_from": f"{PACKAGED}/s.ipynb"})
    assert copied["writable"] is True


async def test_each_agent_has_its_folder_unless_it_is_home(drive, onyx_home, tmp_path):
    config = json.loads(onyx_home.joinpath("onyx.json").read_text())
    elsewhere = tmp_path / "elsewhere" / ".agents" / "one"
    folders = {"main": None, "one": str(elsewhere), "all": str(onyx_home), "above": str(tmp_path), "log": "changes"}
    agents = [{"id": name, **({"workspace": folder} if folder else {})} for name, folder in folders.items()]
    onyx_home.joinpath("onyx.json").write_text(json.dumps({**config, "agents": {**config["agents"], "list": agents}}))
    shown = names(await drive(""))
    assert {"workspace", "workspace-one"} <= set(shown)
    assert not {"workspace-all", "workspace-above", "workspace-log"} & set(shown)
    assert "AGENTS.md" in names(await drive("workspace-one"))
    await drive("workspace-one/x.md", "PUT", {"type": "file", "format": "text", "content": "x"})
    assert elsewhere.joinpath("x.md").read_text() == "x"


async def test_file_can_be_downloaded_and_shown_in_sandbox(drive, onyx_home, jp_fetch):
    await drive("")
    onyx_home.joinpath("workspace/page.html").write_text("<script>1</script>")
    response = await jp_fetch("onyx", "files", "workspace", "page.html")
    assert response.body == b"<script>1</script>"
    assert "sandbox" in response.headers["Content-Security-Policy"]
    onyx_home.joinpath("workspace/.env").touch()
    assert await refused(jp_fetch("onyx", "files", "workspace", ".env")) == 404


async def test_without_login_or_permission_there_are_no_files(jp_serverapp, jp_fetch, onyx_home, monkeypatch):
    stranger = {"headers": {"Authorization": ""}, "follow_redirects": False}
    assert await refused(jp_fetch("onyx/api/contents", **stranger)) == 403
    assert await refused(jp_fetch("onyx/api/contents/workspace", **stranger)) == 403
    assert await refused(jp_fetch("onyx/files/workspace/SOUL.md", **stranger)) == 302  # to the login page
    await until(lambda: onyx_home.joinpath("audit.jsonl").exists())
    assert not onyx_home.joinpath("workspace").exists()

    asked = []

    class Nobody:
        def is_authorized(self, handler, user, action, resource):
            asked.append((action, resource))
            return False

    monkeypatch.setitem(jp_serverapp.web_app.settings, "authorizer", Nobody())
    assert await refused(jp_fetch("onyx/api/contents/workspace")) == 403
    assert await refused(jp_fetch("onyx/api/contents/workspace/x", method="PUT", body="{}")) == 403
    assert asked == [("read", "onyx"), ("write", "onyx")]


@pytest.mark.parametrize("path", ["onyx:plan.ipynb", "Onyx:workspace/plan.ipynb"])
async def test_notebook_tools_accept_either_path_of_workspace_notebook(connect, replies, onyx_home, path):
    client = await connect()
    await client.ask("skills.list")
    notebook = onyx_home / "workspace" / "plan.ipynb"
    notebook.write_text(json.dumps({**NOTEBOOK, "cells": [{**CELL, "id": "one", "source": "1"}]}))
    insertion = Call("notebook_insert_cell", {"path": path, "cellType": "code", "source": "1 + 1"})
    reading = Call("notebook_read", {"path": path})
    replies.next = [[insertion], [reading], "done"]
    key = (await client.ask("sessions.create"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="plan"))["runId"]
    asked = await client.event("exec.approval_request")
    assert len(json.loads(notebook.read_text())["cells"]) == 1
    await client.ask("exec.approve", approvalId=asked["approvalId"])
    assert (await client.end(run_id))[0] == "chat.final"
    assert ["".join(cell["source"]) for cell in json.loads(notebook.read_text())["cells"]] == ["1", "1 + 1"]
    inserted, read = client.events("tool.finished")
    assert (inserted["ok"], read["ok"]) == (True, True)
    assert "1 + 1" in read["output"]


async def test_turn_is_undone_in_renamed_drive_notebook(connect, replies, drive, onyx_home):
    client = await connect()
    await drive("")
    notebook = {**NOTEBOOK, "cells": [{**CELL, "id": "one", "source": "1"}]}
    onyx_home.joinpath("workspace/plan.ipynb").write_text(json.dumps(notebook))
    insertion = Call("notebook_insert_cell", {"path": "onyx:plan.ipynb", "cellType": "code", "source": "2"})
    replies.next = [[insertion], "done"]
    key = (await client.ask("sessions.create"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="plan"))["runId"]
    asked = await client.event("exec.approval_request")
    await client.ask("exec.approve", approvalId=asked["approvalId"])
    assert (await client.end(run_id))[0] == "chat.final"
    seen = len(client.events("notebook.changes_updated"))
    await drive("workspace/plan.ipynb", "PATCH", {"path": "workspace/idea.ipynb"})
    await client.until(lambda _: len(client.events("notebook.changes_updated")) > seen)
    undone = await client.ask("notebook.undo", sessionKey=key, runId=run_id)
    assert (undone["cells"], undone["paths"]) == (1, ["Onyx:workspace/idea.ipynb"])
    cells = json.loads(onyx_home.joinpath("workspace/idea.ipynb").read_text())["cells"]
    assert ["".join(cell["source"]) for cell in cells] == ["1"]
