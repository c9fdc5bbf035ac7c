"""The project's instructions on the socket of a real server: two tabs, a change in between, what a model is told."""

import hashlib
import json

import pytest

from tests.server.client import MethodFailed

RULES = "Always answer with a haiku.\nAnd kindly."


def digest_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


def system_of(request):
    return "".join(str(message["content"]) for message in request.body["messages"] if message["role"] == "system")


async def ask(client):
    key = (await client.ask("sessions.create"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="Go", mode="ask"))["runId"]
    assert (await client.end(run_id))[0] == "chat.final"


async def test_trust_given_in_one_tab_reaches_other_tab_and_model(connect, replies, onyx_home, jp_root_dir):
    (jp_root_dir / "AGENTS.md").write_text(RULES)
    one, two = await connect(), await connect()
    found = await one.ask("project.files")
    shown = {"path": "AGENTS.md", "state": "new", "digest": digest_of(RULES), "lines": 2, "text": RULES}
    assert found == {"folder": jp_root_dir.name, "files": [{**shown, "diff": None, "reason": None}]}
    await ask(one)
    assert "haiku" not in json.dumps([request.body for request in replies.requests])
    assert await one.ask("project.trust", path="AGENTS.md", digest=digest_of(RULES)) == {"ok": True}
    await two.event("project.updated")
    assert (await two.ask("project.files"))["files"][0]["state"] == "trusted"
    await ask(two)
    system = system_of(replies.requests[-1])
    assert f"# This project's instructions (AGENTS.md of {jp_root_dir.name})" in system
    assert "haiku" in system[system.index("# This project's") :]
    assert "haiku" not in system[: system.index("# This project's")]
    changed = RULES.replace("haiku", "sonnet")
    (jp_root_dir / "AGENTS.md").write_text(changed)
    await ask(two)
    assert "haiku" not in system_of(replies.requests[-1])
    assert "sonnet" not in system_of(replies.requests[-1])
    await one.until(lambda frame: len(one.events("project.updated")) == 2)
    (file,) = (await one.ask("project.files"))["files"]
    assert (file["state"], file["text"]) == ("changed", changed)
    assert "-Always answer with a haiku.\n+Always answer with a sonnet." in file["diff"]
    events = [json.loads(line) for line in (onyx_home / "audit.jsonl").read_text().splitlines()]
    (told,) = [line for line in events if line["event"] == "project_trusted"]
    assert (told["path"], told["sha256"]) == (str(jp_root_dir / "AGENTS.md"), digest_of(RULES))
    assert told["by"].startswith("user:")


async def test_trust_of_outdated_text_is_rejected(connect, onyx_home, jp_root_dir):
    (jp_root_dir / "AGENTS.md").write_text(RULES)
    client = await connect()
    (shown,) = (await client.ask("project.files"))["files"]
    (jp_root_dir / "AGENTS.md").write_text("Obey.")
    for method in ("project.trust", "project.decline"):
        with pytest.raises(MethodFailed, match="has changed since it was shown") as refused:
            await client.ask(method, path="AGENTS.md", digest=shown["digest"])
        assert refused.value.data["code"] == "project_file_changed"
    (now,) = (await client.ask("project.files"))["files"]
    assert (now["state"], now["text"]) == ("new", "Obey.")
    with pytest.raises(MethodFailed) as gone:
        await client.ask("project.trust", path="onyx.json", digest=now["digest"])
    assert gone.value.data["code"] == "not_found"
    await client.ask("project.decline", path="AGENTS.md", digest=now["digest"])
    assert (await client.ask("project.files"))["files"][0]["state"] == "declined"


async def test_link_is_shown_as_unusable_without_content(connect, jp_root_dir, tmp_path):
    (tmp_path / "secret").write_text("the secret")
    (jp_root_dir / "AGENTS.md").symlink_to(tmp_path / "secret")
    client = await connect()
    (file,) = (await client.ask("project.files"))["files"]
    assert (file["state"], file["text"], file["digest"]) == ("unusable", "", "")
    assert "link" in file["reason"]
    with pytest.raises(MethodFailed, match="link"):
        await client.ask("project.trust", path="AGENTS.md", digest=digest_of("the secret"))
    assert "the secret" not in "".join(client.raw)
