"""Finding, listing and making sessions."""

import logging
import os

import pytest

from onyx_jupyter.errors import NotFound, StorageError
from onyx_jupyter.sessions import store as store_module
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.sessions.places import file_of, store_on
from tests.storage.full_disk import file_size_limit


async def test_new_session_is_stored_privately(tmp_path):
    folder = tmp_path / "sessions"
    transcript = await store_on(folder).create("main", "A title", "openai/x")
    path = file_of(folder, transcript.session_key)
    assert path.parent.name == "main"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    (listed,) = await store_on(folder).list()
    assert listed.session_key == transcript.session_key
    summary = listed.summary
    assert (summary.agent_id, summary.title, summary.model) == ("main", "A title", "openai/x")
    assert (summary.message_count, summary.last_message_preview) == (0, "")


@pytest.mark.parametrize(
    "key",
    [
        "../secret",
        "../main/KEY",
        "main/KEY",
        "*",
        "?" * 26,
        "[a-z]*",
        "",
        ".",
        "..",
        "KEY.jsonl",
        "KEY\n",
        "KEY\x00",
        "/etc/passwd",
        "~",
        "a" * 65,
        "ＫＥＹ",
    ],
)
async def test_key_with_path_traversal_finds_nothing(tmp_path, key):
    folder = tmp_path / "sessions"
    store = store_on(folder)
    real = (await store.create("main", None, None)).session_key
    (tmp_path / "secret.jsonl").write_text('{"id":"a","role":"user","content":"secret"}\n')
    with pytest.raises(NotFound) as caught:
        await store_on(folder).get(key.replace("KEY", real))
    assert "secret" not in str(caught.value).replace("../secret", "")


async def test_same_session_is_always_the_same_object(tmp_path):
    store = store_on(tmp_path)
    key = (await store.create("main", None, None)).session_key
    other = store_on(tmp_path)
    assert await other.get(key) is await other.get(key)


async def test_sessions_are_listed_most_recent_first(tmp_path):
    clock = FakeClock()
    store = store_on(tmp_path, clock)
    sessions = []
    for _ in range(3):
        clock.advance(1)
        sessions.append(await store.create("main", None, None))
    clock.advance(1)
    await sessions[0].append_user("r1", "Hello", {})
    keys = [session.session_key for session in sessions]
    assert [item.session_key for item in await store.list()] == [keys[0], keys[2], keys[1]]


async def test_listing_rereads_only_changed_files(tmp_path, monkeypatch):
    store = store_on(tmp_path)
    first = await store.create("main", None, None)
    await store.create("main", None, None)
    read = []
    original = store_module.read_session
    monkeypatch.setattr(store_module, "read_session", lambda path: read.append(path.stem) or original(path))
    await store.list()
    assert len(read) == 2
    await store.list()
    assert len(read) == 2
    await first.append_user("r1", "Hello", {})
    listed = {item.session_key: item.summary for item in await store.list()}
    assert read[2:] == [first.session_key]
    assert listed[first.session_key].message_count == 1


async def test_unreadable_session_does_not_hide_others(tmp_path, caplog):
    store = store_on(tmp_path)
    good = (await store.create("main", None, None)).session_key
    (tmp_path / "main" / "folder.jsonl").mkdir()
    (tmp_path / "main" / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    with caplog.at_level(logging.WARNING):
        assert [item.session_key for item in await store.list()] == [good]
    assert "folder.jsonl" in caplog.text


async def test_missing_sessions_folder_means_no_sessions(tmp_path):
    assert list(await store_on(tmp_path / "nothing").list()) == []


async def test_session_with_deleted_file_is_not_found_and_not_recreated(tmp_path):
    store = store_on(tmp_path)
    transcript = await store.create("main", None, None)
    path = file_of(tmp_path, transcript.session_key)
    path.unlink()
    with pytest.raises(NotFound):
        await store.get(transcript.session_key)
    with pytest.raises(NotFound):
        await transcript.append_user("r1", "Hello", {})
    assert not path.exists()


async def test_full_disk_creates_no_session(tmp_path):
    store = store_on(tmp_path)
    with file_size_limit(10), pytest.raises(StorageError):
        await store.create("main", None, None)
    assert [path for path in tmp_path.rglob("*.jsonl") if path.stat().st_size] == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
async def test_folder_without_permission_is_a_storage_error(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(StorageError, match="Permission denied"):
        await store_on(tmp_path / "sessions").create("main", None, None)
