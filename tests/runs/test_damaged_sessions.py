"""A conversation whose file was damaged, or whose disk takes no more: it can be read, it goes on, nothing is lost."""

import logging

import pytest

from onyx_jupyter.errors import StorageError
from tests.runs.house import House
from tests.storage.full_disk import file_size_limit


async def damaged_house(tmp_path) -> tuple[House, str, bytes]:
    """A home with one conversation, the reply of its first run filled with zeros."""
    first = House(tmp_path, ["First answer", "Second answer"])
    key = await first.session(title="Kept")
    await first.run(key, "One")
    await first.run(key, "Two")
    await first.close()
    path = first.file(key)
    lines = path.read_bytes().split(b"\n")
    lines[2] = b"\0" * len(lines[2])
    path.write_bytes(b"\n".join(lines))
    return House(tmp_path, ["Third answer"]), key, path.read_bytes()


async def test_damaged_session_is_read_unchanged_and_repaired_by_next_message(tmp_path, caplog, monkeypatch):
    house, key, damaged = await damaged_house(tmp_path)
    await house.onyx.ready()
    (listed,) = await house.onyx.sessions.list()
    assert listed.summary.title == "Kept"
    assert [e.content for e in (await house.onyx.sessions.get(key)).entries if e.content] == [
        "One", "Two", "Second answer",
    ]  # fmt: skip
    assert house.file(key).read_bytes() == damaged
    monkeypatch.setattr(logging.getLogger("onyx_jupyter"), "propagate", True)
    with caplog.at_level(logging.WARNING):
        assert (await house.run(key, "Three"))[1]["text"] == "Third answer"
    assert [m.content for m in house.model.requests[0].messages] == ["One", "Two", "Second answer", "Three"]
    (kept,) = house.file(key).parent.glob("*.damaged-*")
    assert kept.read_bytes() == damaged
    (note,) = house.of("chat.note")
    assert (note["kind"], note["data"]["kept"]) == ("repaired", kept.name)
    assert note["data"]["damage"] == ["lines 3 cannot be read"]
    (warning,) = {record.getMessage() for record in caplog.records if "repaired" in record.getMessage()}
    assert f"{key}.jsonl" in warning
    assert "lines 3" in warning
    assert [line["content"] for line in house.lines(key) if line["meta"].get("note") == "repaired"] == [note["message"]]


async def test_damaged_session_is_readable_on_full_disk(tmp_path):
    house, key, damaged = await damaged_house(tmp_path)
    await house.session()
    with file_size_limit(100), pytest.raises(StorageError, match="maximum size"):
        await house.send(key, "Three")
    assert house.file(key).read_bytes() == damaged
    assert list(house.file(key).parent.glob("*.damaged-*")) == []
    assert len((await house.onyx.sessions.get(key)).entries) > 3
    assert (await house.run(key, "Again"))[0] == "chat.final"
