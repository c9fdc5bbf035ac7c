import os
import signal
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from onyx_jupyter.errors import NotFound, StorageError
from onyx_jupyter.storage.versions import MAX_BYTES, MAX_PER_FILE, Recorded, VersionedFile, VersionStore, checksum_of
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.storage.full_disk import file_size_limit

MEMORY = VersionedFile("main", "MEMORY.md")
DAY = VersionedFile("main", "memory/2026-01-01.md")
KILLED_WRITER = """
import sys
from pathlib import Path
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.storage.versions import VersionedFile, VersionStore

store = VersionStore(Path(sys.argv[1]), SystemClock(), max_bytes=lambda: 40_000, max_per_file=5)
file = VersionedFile("main", "MEMORY.md")
print("ready", flush=True)
for number in range(1_000_000):
    store.record(file, f"{sys.argv[2]} {number} ".encode() * 400, "agent")
"""


def store_of(
    folder: Path, clock: FakeClock | None = None, *, max_bytes: int = MAX_BYTES, max_per_file: int = MAX_PER_FILE
) -> VersionStore:
    return VersionStore(
        folder / "versions", clock or FakeClock(), max_bytes=lambda: max_bytes, max_per_file=max_per_file
    )


def test_each_version_is_readable_with_author(tmp_path: Path) -> None:
    clock = FakeClock()
    store = store_of(tmp_path, clock)
    store.record(MEMORY, b"one", "user")
    clock.advance(60)
    store.record(MEMORY, b"two", "agent", session_key="01S")
    store.record(DAY, b"two", "consolidation")
    first, second = store.history(MEMORY)
    assert (first.number, first.at, first.author, first.session_key) == (1, "2026-01-01T00:00:00.000Z", "user", None)
    assert (second.number, second.at, second.author) == (2, "2026-01-01T00:01:00.000Z", "agent")
    assert (second.session_key, second.checksum, second.size_bytes) == ("01S", checksum_of(b"two"), 3)
    assert [store.read(MEMORY, number) for number in (1, 2)] == [b"one", b"two"]
    assert store.files("main") == [MEMORY, DAY]
    assert store_of(tmp_path).history(DAY)[0].author == "consolidation", "another server reads the same"


def test_unchanged_text_is_no_new_version_and_restored_text_is(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    new = [store.record(MEMORY, content, "user").is_new for content in (b"one", b"one", b"two", b"one")]
    assert new == [True, False, True, True]
    assert [version.number for version in store.history(MEMORY)] == [1, 2, 3]
    assert len(list((tmp_path / "versions/contents").rglob("*.z"))) == 2, "a content is kept once"


def test_deleted_file_keeps_versions_and_can_be_restored(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    assert store.record(MEMORY, None, "user") == Recorded(None, is_new=False)
    store.record(MEMORY, b"one", "user")
    gone = store.record(MEMORY, None, "user").version
    assert gone is not None
    assert (gone.number, gone.checksum) == (2, "")
    with pytest.raises(NotFound, match="was deleted"):
        store.read(MEMORY, 2)
    assert store.read(MEMORY, 1) == b"one"
    back = store.record(MEMORY, b"one", "user", restored=1).version
    assert back is not None
    assert (back.number, back.restored) == (3, 1)
    assert store.history(MEMORY)[-1].restored == 1


def test_unknown_version_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no version 7 of MEMORY"):
        store_of(tmp_path).read(MEMORY, 7)


def test_versions_are_private(tmp_path: Path) -> None:
    store_of(tmp_path).record(VersionedFile("", "shared/user-profile.md"), b"one", "user")
    made = list((tmp_path / "versions").rglob("*"))
    assert len(made) > 3
    for place in made:
        assert place.stat().st_mode & 0o077 == 0, place


def test_damaged_content_is_never_returned(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    store.record(MEMORY, b"one", "user")
    (place,) = (tmp_path / "versions/contents").rglob("*.z")
    for damage in (b"x", zlib.compress(b"two"), zlib.compress(b"0" * 50_000_000)):
        place.write_bytes(damage)
        with pytest.raises(StorageError, match=r"Version 1 of MEMORY\.md is damaged"):
            store.read(MEMORY, 1)


def test_unreadable_lines_hide_no_others(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    store.record(MEMORY, b"one", "user")
    log = tmp_path / "versions/main/MEMORY.md.jsonl"
    with log.open("a") as file:
        file.write('{"version":2,"author":"nobody","checksum":"x","size":1}\n[]\n{"version":3,"check')
    store.record(MEMORY, b"two", "user")
    assert [version.number for version in store.history(MEMORY)] == [1, 3], "a number that was given is given no more"
    assert store.read(MEMORY, 3) == b"two"


def test_versions_of_newer_release_survive_pruning_by_older_one(tmp_path: Path) -> None:
    clock = FakeClock()
    store = store_of(tmp_path, clock, max_bytes=1, max_per_file=1)
    newer = store_of(tmp_path, clock)
    for number in range(3):
        newer.record(MEMORY, f"state {number}".encode(), "user")
        clock.advance(1)
    log = tmp_path / "versions/main/MEMORY.md.jsonl"
    lines = log.read_text().replace('"version":2,', '"version":2,"place":{"line":7},').splitlines()
    lines[1] = (
        lines[1].replace('"author":"user"', '"author":"import"').replace('"schema_version":1', '"schema_version":2')
    )
    log.write_text("\n".join(lines) + "\n")
    assert store.prune() == 1
    assert log.read_text().splitlines() == lines[1:]
    log.write_text(log.read_text().replace('"author":"import"', '"author":"user"'))
    assert store.read(MEMORY, 2) == b"state 1"


def test_numbering_continues_after_unreadable_version(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    store.record(MEMORY, b"one", "user")
    log = tmp_path / "versions/main/MEMORY.md.jsonl"
    log.write_text(log.read_text().replace('"author":"user"', '"author":"import"'))
    assert store.record(MEMORY, b"one", "user") == Recorded(None, is_new=False)
    second = store.record(MEMORY, b"two", "user").version
    assert second is not None
    assert second.number == 2


def test_short_lived_servers_respect_limit(tmp_path: Path) -> None:
    clock = FakeClock()
    for number in range(30):
        store = store_of(tmp_path, clock, max_bytes=100_000, max_per_file=2)
        store.record(MEMORY, os.urandom(20_000), "user")
        clock.advance(1)
        assert store.history(MEMORY)[-1].number == number + 1
    kept = sum(place.stat().st_size for place in (tmp_path / "versions").rglob("*") if place.is_file())
    assert 40_000 < kept <= 100_000


def test_pruning_is_signalled_at_first_version_and_after_many(tmp_path: Path) -> None:
    told: list[int] = []

    def tell() -> None:
        told.append(len(store.history(MEMORY)))
        store.prune()

    store = VersionStore(tmp_path / "versions", FakeClock(), max_bytes=lambda: 100_000, on_grown=tell)
    for _ in range(4):
        store.record(MEMORY, os.urandom(2_000), "user")
    assert told == [1, 4], "three more are more than a twentieth of the bound"
    for number in range(36):
        store.record(MEMORY, b"one" if number % 2 else b"two", "user")
    assert len(told) == 3, "what a line takes counts, too"


def test_oldest_are_pruned_but_never_the_latest_of_a_file(tmp_path: Path) -> None:
    clock = FakeClock()
    store = store_of(tmp_path, clock, max_bytes=1, max_per_file=50)
    for number in range(80):
        store.record(MEMORY, os.urandom(500) + str(number).encode(), "agent")
        clock.advance(1)
    store.record(DAY, b"a day's only note", "agent")
    store.prune()
    assert [version.number for version in store.history(MEMORY)] == list(range(31, 81))
    assert store.read(MEMORY, 31)
    assert store.read(DAY, 1) == b"a day's only note"
    assert len(list((tmp_path / "versions/contents").rglob("*.z"))) == 51, "what nothing names has gone"
    next_one = store.record(MEMORY, b"more", "agent").version
    assert next_one is not None
    assert next_one.number == 81, "a number is never given twice"


def test_only_necessary_versions_are_pruned_oldest_of_all_files_first(tmp_path: Path) -> None:
    clock = FakeClock()
    store = store_of(tmp_path, clock, max_bytes=130_000, max_per_file=2)
    for _ in range(4):
        for file in (MEMORY, DAY):
            store.record(file, os.urandom(20_000), "agent")
            clock.advance(1)
    store.prune()
    assert [[version.number for version in store.history(file)] for file in (MEMORY, DAY)] == [[2, 3, 4], [2, 3, 4]]
    assert store.prune() == 0


def test_full_disk_leaves_existing_versions(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    store.record(MEMORY, b"one", "user")
    with file_size_limit(100), pytest.raises(StorageError):
        store.record(MEMORY, os.urandom(5000), "user")
    assert [version.number for version in store.history(MEMORY)] == [1]
    assert not list((tmp_path / "versions").rglob(".*.z.*")), "nothing half-written stays"
    store.record(MEMORY, b"two", "user")
    assert store.read(MEMORY, 2) == b"two"


def test_two_servers_killed_anytime_leave_only_readable_versions(tmp_path: Path) -> None:
    folder = tmp_path / "versions"
    store = VersionStore(folder, FakeClock())
    for round_ in range(4):
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", KILLED_WRITER, str(folder), f"{round_}{name}"], stdout=subprocess.PIPE
            )
            for name in "ab"
        ]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
        before = len(store.history(MEMORY))
        newest = store.history(MEMORY)[-1].number if before else 0
        while not (versions := store.history(MEMORY)) or versions[-1].number < newest + 10 + round_ * 3:
            assert all(writer.poll() is None for writer in writers)
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            writer.communicate()
        versions = store.history(MEMORY)
        numbers = [version.number for version in versions]
        assert numbers == sorted(set(numbers)), "two servers never give one number twice"
        assert all(store.read(MEMORY, version.number) for version in versions)
    store.record(MEMORY, b"after all that", "user")
    assert store.read(MEMORY, store.history(MEMORY)[-1].number) == b"after all that"


def test_after_clock_jump_older_versions_are_pruned_first(tmp_path: Path) -> None:
    ahead, right = FakeClock(), FakeClock()
    ahead.advance(1000)
    for clock in (ahead, right):
        store = store_of(tmp_path, clock, max_per_file=2)
        for _ in range(5):
            store.record(MEMORY, os.urandom(20_000), "agent")
            clock.advance(1)
    assert store_of(tmp_path, right, max_bytes=110_000, max_per_file=2).prune() == 5
    assert [version.number for version in store.history(MEMORY)] == [6, 7, 8, 9, 10]
