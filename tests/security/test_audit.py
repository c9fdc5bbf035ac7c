"""The audit file: every line on disk in its order, by many writers, and what was done to it afterwards is found."""

import asyncio
import json
import os

import pytest

from onyx_jupyter.errors import StorageError
from onyx_jupyter.security.audit import TRUST_S, AuditLog, Verified
from onyx_jupyter.security.audit_chain import Broken
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.storage.full_disk import file_size_limit


@pytest.fixture
def path(tmp_path):
    return tmp_path / "home" / "audit.jsonl"


def log(path, clock=None):
    return AuditLog(path, clock or FakeClock())


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


async def filled(path, count=5):
    audit = log(path)
    for number in range(count):
        await audit.write("tool", {"number": number, "text": "naïve\u2028 \ud83d"})
    return audit


async def test_entries_are_numbered_chained_and_private(path):
    audit = await filled(path, 2)
    begin, first, second = lines(path)
    assert (begin["event"], begin["prev"]) == ("begin", "0" * 64)
    assert [item["n"] for item in (begin, first, second)] == [1, 2, 3]
    assert (first["prev"], second["prev"]) == (begin["hash"], first["hash"])
    assert (first["v"], first["event"], first["number"]) == (1, "tool", 0)
    assert first["ts"] == "2026-01-01T00:00:00.000Z"
    for file in path.parent.iterdir():
        assert file.stat().st_mode & 0o077 == 0, file
    assert await audit.verify() == Verified(3)
    assert await log(path).verify() == Verified(3)


async def test_concurrent_writers_take_turns(path):
    one, two = log(path), log(path)
    await asyncio.gather(*((one, two)[number % 2].write("tool", {"number": number}) for number in range(30)))
    assert sorted(item.get("number", -1) for item in lines(path)) == list(range(-1, 30))
    assert await one.verify() == await two.verify() == Verified(31)


async def test_empty_home_passes_check(path):
    assert await log(path).verify() == Verified(0)


@pytest.mark.parametrize(
    ("damage", "line", "reason"),
    [
        (lambda a: [*a[:2], a[2].replace(b'"number":1', b'"number":7'), *a[3:]], 3, "changed"),
        (lambda a: [*a[:2], a[2].replace(b",", b", ", 1), *a[3:]], 3, "changed"),
        (lambda a: [*a[:2], *a[3:]], 3, "removed"),
        (lambda a: [*a[:2], a[3], a[2], *a[4:]], 3, "moved"),
        (lambda a: [*a[:3], a[2], *a[3:]], 4, "added"),
        (lambda a: a[1:], 1, "removed"),
        (lambda a: [*a[:3], b"\n", *a[3:]], 4, "changed"),
        (lambda a: a[:-1], 6, "from here on were removed"),
        (lambda a: [], 1, "from here on were removed"),
        (lambda a: [*a[:-1], a[-1][:-9]], 6, "cut off"),
        (lambda a: [*a[:-1], a[-1].replace(b"4", b"5", 1)], 6, "changed"),
    ],
)
async def test_first_altered_line_is_named_also_after_later_writes(path, damage, line, reason):
    await filled(path)
    path.write_bytes(b"".join(damage(path.read_bytes().splitlines(keepends=True))))
    found = (await log(path).verify()).broken
    assert found is not None
    assert found.line == line
    assert reason in found.reason
    for _ in range(2):
        await log(path).write("tool", {"number": "later"})
    later = (await log(path).verify()).broken
    assert later is not None
    assert later.line == line
    assert lines_that_read(path)[-1]["number"] == "later"


def lines_that_read(path):
    readable = []
    for line in path.read_bytes().splitlines():
        try:
            readable.append(json.loads(line))
        except ValueError:
            continue
    return readable


async def test_missing_log_or_head_record_is_detected(path):
    await filled(path)
    head = path.with_suffix(".head")
    kept = head.read_bytes()
    head.unlink()
    assert (await log(path).verify()).broken == Broken(7, "lines from here on may have been removed")
    await log(path).write("tool", {})
    broken = (await log(path).verify()).broken
    assert broken is not None
    assert "record of the newest line was gone" in broken.reason
    path.unlink()
    head.write_bytes(kept)
    assert (await log(path).verify()).broken == Broken(1, "lines from here on were removed")


async def test_running_server_detects_loss_of_both_files(path):
    audit = await filled(path)
    path.unlink()
    path.with_suffix(".head").unlink()
    assert not (await audit.verify()).ok
    await audit.write("tool", {})
    assert (await log(path).verify()).broken == Broken(1, "lines before it were removed, added or moved")


async def test_line_torn_by_power_loss_is_explained_by_the_next(path):
    await filled(path)
    with path.open("ab") as file:
        file.write(b'{"v":1,"n":7,"ts":"20')
    assert (await log(path).verify()).broken == Broken(7, "it was cut off")
    audit = log(path)
    await audit.write("tool", {"number": "later"})
    assert await audit.verify() == Verified(8)
    torn = path.read_bytes().replace(b'"n":7,"ts":"20\n', b'"n":7,"ts":"21\n')
    path.write_bytes(torn)
    assert (await log(path).verify()).broken == Broken(7, "it was changed")


async def test_kill_between_line_and_head_record_loses_nothing(path):
    audit = await filled(path)
    head = path.with_suffix(".head").read_bytes()
    await audit.write("tool", {"number": "last"})
    path.with_suffix(".head").write_bytes(head)
    assert await log(path).verify() == Verified(7)
    await log(path).write("tool", {})
    assert await log(path).verify() == Verified(8)


async def test_full_disk_rejects_and_chain_continues_afterwards(path):
    audit = await filled(path)
    before = path.read_bytes()
    with file_size_limit(len(before) + 20), pytest.raises(StorageError):
        await audit.write("tool", {"text": "x" * 100})
    assert path.read_bytes() == before
    await audit.write("tool", {})
    assert await audit.verify() == Verified(7)


async def test_cancelled_write_completes(path):
    audit = await filled(path, 1)
    writing = asyncio.create_task(audit.write("tool", {"number": "cancelled"}))
    await asyncio.sleep(0)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert lines(path)[-1]["number"] == "cancelled"


async def test_frequent_checks_read_only_new_lines_until_full_check_is_old(path):
    clock = FakeClock()
    audit = log(path, clock)
    for _ in range(3):
        await audit.write("tool", {})
    assert await audit.check() == Verified(4)
    await audit.write("tool", {})
    status = path.stat()
    path.write_bytes(path.read_bytes().replace(b'"n":2', b'"n":9'))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert await audit.check() == Verified(5)
    assert not (await audit.verify()).ok
    other = log(path, clock)
    assert not (await other.check()).ok


async def test_old_check_is_repeated_and_smaller_or_broken_file_immediately(path):
    clock = FakeClock()
    audit = log(path, clock)
    for _ in range(3):
        await audit.write("tool", {})
    await audit.check()
    path.write_bytes(path.read_bytes().replace(b'"n":2', b'"n":9'))
    await audit.write("tool", {})
    clock.advance(TRUST_S + 1)
    assert (await audit.check()).broken == Broken(2, "it was changed")
    path.write_bytes(b"")
    assert not (await audit.check()).ok
