"""One session's file: what is appended, what survives, and two servers on one home."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from onyx_jupyter.errors import NotFound, SessionBusy, StorageError
from onyx_jupyter.messages import Attachment, ToolCall, ToolResult, Usage
from onyx_jupyter.sessions.entry import to_json
from tests.sessions.places import file_of, store_on
from tests.storage.full_disk import file_size_limit

CALL = ToolCall("c1", "exec", {"command": "ls"})


async def test_entries_are_one_line_each_in_published_format(tmp_path):
    transcript = await store_on(tmp_path).create("main", None, None)
    await transcript.append_user("r1", "Hello 😀\nthere", {"mode": "ask"})
    await transcript.append_assistant("r1", "Hi", [CALL], Usage(3, 2, 1, 0.5), {"model": "a/b"})
    picture = Attachment("image", "image/png", "AAAA")
    await transcript.append_result("r1", CALL, ToolResult("out", True, (picture,), 0, True), {"status": "ok"})
    await transcript.append_end("r1", "final", {})
    raw = file_of(tmp_path, transcript.session_key).read_text("utf-8")
    lines = [json.loads(line) for line in raw.splitlines()]
    assert [line["role"] for line in lines] == ["system", "user", "assistant", "tool", "system"]
    assert all(line["v"] == 1 for line in lines)
    assert [line["parent"] for line in lines] == [None, *(line["id"] for line in lines[:-1])]
    assert [line["id"] for line in lines] == sorted({line["id"] for line in lines})
    assert lines[1]["ts"] == "2026-01-01T00:00:00.000Z"
    assert lines[2]["tool_calls"] == [{"id": "c1", "name": "exec", "arguments": {"command": "ls"}}]
    assert lines[2]["usage"] == {"inputTokens": 3, "outputTokens": 2, "cachedTokens": 1, "costUsd": 0.5}
    assert lines[3]["tool_call_id"] == "c1"
    assert lines[3]["meta"]["attachments"][0]["mimeType"] == "image/png"
    assert (lines[3]["meta"]["exitCode"], lines[3]["meta"]["truncated"]) == (0, True)
    assert (lines[4]["meta"]["kind"], lines[4]["meta"]["outcome"]) == ("run_end", "final")


async def test_unknown_fields_survive_reading_and_appending(tmp_path):
    transcript = await store_on(tmp_path).create("main", None, None)
    path = file_of(tmp_path, transcript.session_key)
    added = {
        "v": 1, "id": "x1", "parent": None, "ts": "2027-01-01T00:00:00.000Z", "role": "user", "content": "Hi",
        "meta": {"runId": "r1", "colour": "red"}, "later": {"deep": [1, None]}, "also": 3,
    }  # fmt: skip
    with path.open("a") as file:
        file.write(json.dumps(added) + "\n")
    before = path.read_bytes()
    await transcript.load()
    assert to_json(transcript.entries[-1]) == added
    await transcript.append_user("r2", "More", {})
    assert path.read_bytes().startswith(before)
    (_, again, _) = (await store_on(tmp_path).get(transcript.session_key)).entries
    assert to_json(again) == added


async def test_transcript_truncated_mid_line_is_read_and_appended_to(tmp_path):
    transcript = await store_on(tmp_path).create("main", None, None)
    await transcript.append_user("r1", "First", {})
    await transcript.append_user("r2", "Second", {})
    path = file_of(tmp_path, transcript.session_key)
    cut = path.read_bytes()[:-20]
    path.write_bytes(cut)
    again = await store_on(tmp_path).get(transcript.session_key)
    assert [entry.content for entry in again.entries] == ["", "First"]
    await again.append_user("r3", "Third", {})
    assert path.read_bytes().startswith(cut + b"\n")
    last = await store_on(tmp_path).get(transcript.session_key)
    assert [entry.content for entry in last.entries] == ["", "First", "Third"]
    assert last.entries[2].parent == last.entries[1].id


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        '{"id":1,"role":"user","content":"x"}',
        '{"id":"a","role":[],"content":"x"}',
        '{"id":"a","role":"robot","content":"x"}',
        '{"id":"a","role":"user","content":null}',
        '{"id":"a","role":"user","content":"x","meta":[1]}',
        '{"id":"a","role":"assistant","content":"x","tool_calls":{"a":1}}',
        '{"id":"a","role":"assistant","content":"x","tool_calls":[3]}',
        '{"id":"a","role":"assistant","content":"x","usage":{"inputTokens":null}}',
        '{"id":"a","role":"assistant","content":"x","usage":{"inputTokens":[]}}',
        '{"id":"a","role":"tool","content":"x","tool_call_id":{}}',
    ],
)
async def test_invalid_line_is_skipped_and_stays_on_disk(tmp_path, line):
    transcript = await store_on(tmp_path).create("main", None, None)
    path = file_of(tmp_path, transcript.session_key)
    with path.open("a") as file:
        file.write(line + "\n")
    await transcript.append_user("r1", "Hello", {})
    again = await store_on(tmp_path).get(transcript.session_key)
    assert "Hello" in [entry.content for entry in again.entries]
    assert any(line in file.read_text() for file in path.parent.glob(f"{path.name}*"))
    assert len(list(await store_on(tmp_path).list())) == 1


async def test_full_disk_leaves_file_and_memory_unchanged(tmp_path):
    transcript = await store_on(tmp_path).create("main", None, None)
    path = file_of(tmp_path, transcript.session_key)
    before = path.read_bytes()
    with file_size_limit(len(before) + 50), pytest.raises(StorageError):
        await transcript.append_user("r1", "x" * 5000, {})
    assert path.read_bytes() == before
    assert len(transcript.entries) == 1
    await transcript.append_user("r2", "There is room again", {})
    assert [entry.content for entry in transcript.entries] == ["", "There is room again"]


async def test_cancelled_append_is_completed_on_disk_and_in_memory(tmp_path):
    transcript = await store_on(tmp_path).create("main", None, None)
    writing = asyncio.create_task(transcript.append_user("r1", "Hello", {}))
    for _ in range(3):
        await asyncio.sleep(0)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert [entry.content for entry in transcript.entries] == ["", "Hello"]
    assert '"Hello"' in file_of(tmp_path, transcript.session_key).read_text()


async def test_lone_surrogate_is_kept_and_pairs_become_one_character(tmp_path):
    transcript = await store_on(tmp_path).create("main", None, None)
    await transcript.append_assistant("r1", "\ud83d\ude00 and \ud83d", (), None, {})
    again = await store_on(tmp_path).get(transcript.session_key)
    assert again.entries[-1].content == transcript.entries[-1].content == "😀 and \ufffd"
    file_of(tmp_path, transcript.session_key).read_text("utf-8")


async def test_session_in_use_by_one_server_is_busy_for_another(tmp_path):
    here, there = store_on(tmp_path), store_on(tmp_path)
    mine = await here.create("main", None, None)
    theirs = await there.get(mine.session_key)
    mine.lock()
    with pytest.raises(SessionBusy, match="Another Jupyter server"):
        theirs.lock()
    mine.unlock()
    theirs.lock()
    with pytest.raises(SessionBusy):
        mine.lock()
    theirs.unlock()


async def test_lines_of_another_server_are_seen_and_none_lost(tmp_path):
    here, there = store_on(tmp_path), store_on(tmp_path)
    mine = await here.create("main", None, None)
    theirs = await there.get(mine.session_key)
    await theirs.append_user("r1", "From there", {})
    await mine.append_user("r2", "From here", {})
    assert [entry.content for entry in mine.entries] == ["", "From there", "From here"]
    assert mine.entries[2].parent == mine.entries[1].id
    await theirs.load()
    assert [entry.content for entry in theirs.entries] == ["", "From there", "From here"]


HOLD_LOCK = """
import asyncio, sys
from pathlib import Path
from onyx_jupyter.clock import IdSource, SystemClock
from onyx_jupyter.sessions.store import SessionStore

async def main():
    clock = SystemClock()
    transcript = await SessionStore(Path(sys.argv[1]), clock, IdSource(clock)).get(sys.argv[2])
    transcript.lock()
    await transcript.append_user("r1", "From the other process", {})
    print("locked", flush=True)
    sys.stdin.readline()

asyncio.run(main())
"""


def locking_process(folder: Path, session_key: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLD_LOCK, str(folder), session_key]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


async def test_lock_of_killed_process_is_released(tmp_path):
    mine = await store_on(tmp_path).create("main", None, None)
    with locking_process(tmp_path, mine.session_key) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(SessionBusy):
            mine.lock()
        other.kill()
    mine.lock()
    await mine.load()
    assert mine.entries[-1].content == "From the other process"
    mine.unlock()
    assert file_of(tmp_path, mine.session_key).with_suffix(".lock").stat().st_mode & 0o777 == 0o600


async def test_folder_without_lock_support_is_a_storage_error(tmp_path):
    mine = await store_on(tmp_path).create("main", None, None)
    file_of(tmp_path, mine.session_key).with_suffix(".lock").mkdir()
    with pytest.raises(StorageError, match="Could not lock"):
        mine.lock()


async def test_manually_deleted_session_is_not_found(tmp_path):
    mine = await store_on(tmp_path).create("main", None, None)
    file_of(tmp_path, mine.session_key).unlink()
    with pytest.raises(NotFound, match="deleted"):
        await mine.load()
