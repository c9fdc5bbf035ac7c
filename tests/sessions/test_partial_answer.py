"""The words of an answer under way, kept for the case of a kill."""

import asyncio

from onyx_jupyter.sessions.partial_answer import PartialFile, recovered_texts
from tests.storage.full_disk import file_size_limit
from tests.waiting import until


async def test_text_reaches_disk_even_if_no_more_arrives(tmp_path):
    path = tmp_path / "s.partial"
    partial = PartialFile(path, write_every_s=0)
    await partial.begin("r1")
    partial.add("Half an ")
    partial.add("answer 😀")
    await until(lambda: recovered_texts(path).get("r1") == "Half an answer 😀")
    assert path.stat().st_mode & 0o777 == 0o600
    await partial.discard()


async def test_text_is_batched_before_writing(tmp_path):
    path = tmp_path / "s.partial"
    partial = PartialFile(path, write_every_s=3600)
    await partial.begin("r1")
    for word in ("one ", "two ", "three"):
        partial.add(word)
    assert not path.exists()
    await partial.flush()
    assert path.read_text().count("\n") == 1
    assert recovered_texts(path) == {"r1": "one two three"}
    await partial.discard()
    assert not path.exists()


async def test_nothing_is_written_after_discard(tmp_path):
    path = tmp_path / "s.partial"
    partial = PartialFile(path, write_every_s=0)
    await partial.begin("r1")
    partial.add("gone")
    await partial.discard()
    await partial.flush()
    for _ in range(5):
        await asyncio.sleep(0)
    assert not path.exists()


async def test_line_truncated_by_kill_loses_only_itself(tmp_path):
    path = tmp_path / "s.partial"
    path.write_bytes(b'{"runId":"r1","text":"kept "}\n[1]\n{"runId":"r2","text":"other"}\n{"runId":"r1","te')
    assert recovered_texts(path) == {"r1": "kept ", "r2": "other"}
    assert recovered_texts(tmp_path / "none.partial") == {}


async def test_full_disk_does_not_affect_answer(tmp_path):
    path = tmp_path / "s.partial"
    partial = PartialFile(path, write_every_s=3600)
    await partial.begin("r1")
    with file_size_limit(0):
        partial.add("words")
        await partial.flush()
    await partial.discard()
    assert recovered_texts(path) == {}
