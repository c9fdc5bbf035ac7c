"""What is allowed for good: on disk, shared by servers, and nothing at all where the file is damaged."""

import asyncio
import json
import logging

import pytest

from onyx_jupyter.clock import IdSource
from onyx_jupyter.errors import NotFound, StorageError
from onyx_jupyter.human_requests.grants import GrantStore
from onyx_jupyter.testing.fake_clock import FakeClock


def store(folder, changes=None, redact=str):
    clock = FakeClock()
    on_change = (lambda: None) if changes is None else (lambda: changes.append(1))
    return GrantStore(folder / "grants.json", clock, IdSource(clock), redact=redact, on_change=on_change)


def grant(grants, digest="d1", agent="main"):
    return grants.new(agent, "exec", f"`{digest}` in /work", digest, "ada")


async def test_grant_is_stored_privately_and_read_after_restart(tmp_path):
    grants = store(tmp_path)
    given = grant(grants)
    await grants.add([given])
    path = tmp_path / "grants.json"
    assert path.stat().st_mode & 0o777 == 0o600
    (on_disk,) = json.loads(path.read_text())["grants"]
    assert json.loads(path.read_text())["schema_version"] == 1
    assert on_disk == {
        "id": given.id,
        "agentId": "main",
        "tool": "exec",
        "what": "`d1` in /work",
        "digest": "d1",
        "createdAt": "2026-01-01T00:00:00.000Z",
        "by": "ada",
    }
    assert list(await store(tmp_path).list()) == [given]


async def test_every_requested_grant_must_exist_for_the_agent(tmp_path):
    grants = store(tmp_path)
    first, second = grant(grants, "d1"), grant(grants, "d2")
    await grants.add([first, second])
    assert await grants.covering("main", ["d2", "d1", "d2"]) == [second, first, second]
    assert await grants.covering("main", ["d1", "d3"]) is None
    assert await grants.covering("main", []) is None
    assert await grants.covering("other", ["d1"]) is None


async def test_two_servers_on_one_home_lose_no_grants(tmp_path):
    one, two = store(tmp_path), store(tmp_path)
    given = [grant(one if number % 2 else two, f"d{number}") for number in range(20)]
    await asyncio.gather(*((one if number % 2 else two).add([item]) for number, item in enumerate(given)))
    for grants in (one, two, store(tmp_path)):
        assert {item.digest for item in await grants.list()} == {item.digest for item in given}
    await one.revoke(given[0].id)
    assert await two.covering("main", [given[0].digest]) is None


async def test_existing_grant_is_not_duplicated(tmp_path):
    changes = []
    grants = store(tmp_path, changes)
    await grants.add([grant(grants)])
    await grants.add([grant(grants), grant(grants, agent="other")])
    assert [item.agent_id for item in await grants.list()] == ["main", "other"]
    assert len(changes) == 2


async def test_revoked_grant_is_gone_and_cannot_be_revoked_twice(tmp_path):
    changes = []
    grants = store(tmp_path, changes)
    given = grant(grants)
    await grants.add([given])
    assert await grants.revoke(given.id) == given
    assert "d1" not in (tmp_path / "grants.json").read_text()
    with pytest.raises(NotFound, match="revoked already"):
        await grants.revoke(given.id)
    assert len(changes) == 2


async def test_file_contains_no_secrets(tmp_path):
    grants = store(tmp_path, redact=lambda text: text.replace("hunter2", "[removed]"))
    await grants.add([grants.new("main", "exec", "`login hunter2`", "d1", "ada")])
    assert "hunter2" not in (tmp_path / "grants.json").read_text()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-20],
        lambda text: "",
        lambda text: "[]",
        lambda text: text.replace('"schema_version": 1', '"schema_version": 2'),
        lambda text: text.replace('"by"', '"bye"'),
        lambda text: text.replace('"ada"', "7"),
        lambda text: text.replace("{", "\0", 1),
    ],
)
async def test_damaged_file_grants_nothing_and_is_set_aside_and_reported(tmp_path, damage, caplog):
    grants = store(tmp_path)
    await grants.add([grant(grants)])
    path = tmp_path / "grants.json"
    damaged = damage(path.read_text())
    path.write_text(damaged)
    with caplog.at_level(logging.ERROR):
        assert await grants.covering("main", ["d1"]) is None
    assert "is damaged" in caplog.text
    assert (tmp_path / "grants.json.damaged").read_text() == damaged
    assert not path.exists()
    for server in (grants, store(tmp_path)):
        assert "grants.json.damaged" in (await server.problem() or "")
    await grants.add([grant(grants, "d2")])
    assert [item.digest for item in await store(tmp_path).list()] == ["d2"]
    path.write_text("again")
    assert await grants.covering("main", ["d2"]) is None
    assert (tmp_path / "grants.json.damaged").read_text() == damaged
    assert (tmp_path / "grants.json.damaged1").read_text() == "again"
    for aside in tmp_path.glob("*.damaged*"):
        aside.unlink()
    assert await grants.problem() is None


async def test_unreadable_file_grants_nothing_and_is_left_alone(tmp_path):
    grants = store(tmp_path)
    (tmp_path / "grants.json").mkdir()
    assert await grants.covering("main", ["d1"]) is None
    assert "Could not read" in (await grants.problem() or "")
    with pytest.raises(StorageError):
        await grants.add([grant(grants)])
