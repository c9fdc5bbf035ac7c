import itertools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from onyx_jupyter.storage.index_history import STAYS_S, History, IndexHistory
from onyx_jupyter.testing.fake_clock import FakeClock


def test_chunking_versions_are_ordered_by_first_use(tmp_path: Path) -> None:
    old, new = (IndexHistory(tmp_path, "memory", FakeClock()) for _ in range(2))
    assert old.newer_than("rules 1") == frozenset()
    assert old.newer_than("rules 1") == frozenset()
    assert new.newer_than("rules 2") == frozenset()
    assert old.newer_than("rules 1") == {"rules 2"}
    assert new.newer_than("rules 2") == frozenset()
    assert IndexHistory(tmp_path, "session", FakeClock()).newer_than("rules 1") == frozenset()


def test_servers_with_different_embedders_may_change_index_a_few_times_a_day(tmp_path: Path) -> None:
    clock = FakeClock()
    servers = [IndexHistory(tmp_path, "memory", clock) for _ in range(2)]
    changes: list[float] = []
    wants = itertools.cycle(servers)
    server = next(wants)
    for minute in range(3 * 24 * 60):
        if server.wait_s() == 0:
            server.changed()
            changes.append(minute)
            server = next(wants)
        clock.advance(60)
    waits = [later - earlier for earlier, later in itertools.pairwise(changes)]
    assert waits[:3] == [10, 20, 40]
    assert len(changes) < 3 * 8


def test_own_change_may_be_repeated_immediately(tmp_path: Path) -> None:
    clock = FakeClock()
    server = IndexHistory(tmp_path, "memory", clock)
    for _ in range(5):
        server.changed()
        assert server.wait_s() == 0
    assert IndexHistory(tmp_path, "memory", clock).wait_s() > 0


def test_history_expires_after_a_day(tmp_path: Path) -> None:
    clock = FakeClock()
    IndexHistory(tmp_path, "memory", clock).changed()
    assert IndexHistory(tmp_path, "memory", clock).wait_s() == STAYS_S
    clock.advance(24 * 3600)
    assert IndexHistory(tmp_path, "memory", clock).wait_s() == 0


def test_missing_damaged_or_unwritable_file_counts_as_empty(tmp_path: Path) -> None:
    history = IndexHistory(tmp_path / "index", "memory", FakeClock())
    history.changed()
    other = IndexHistory(tmp_path / "index", "memory", FakeClock())
    file = tmp_path / "index/memory.history.json"
    for text in ("", "{", "[]", "{}", '{"schema_version": 0}', '{"schema_version": 1, "changes": [1]}'):
        file.write_text(text)
        assert (other.wait_s(), other.newer_than("a")) == (0, frozenset())
    (tmp_path / "file").write_text("no folder")
    nowhere = IndexHistory(tmp_path / "file", "memory", FakeClock())
    nowhere.changed()
    assert (nowhere.wait_s(), nowhere.newer_than("a")) == (0, frozenset())


def test_concurrent_updates_lose_nothing(tmp_path: Path) -> None:
    count = 8
    barrier = Barrier(count)

    def work(number: int) -> None:
        server = IndexHistory(tmp_path, "memory", FakeClock())
        barrier.wait()
        server.newer_than(f"rules {number}")
        server.changed()

    with ThreadPoolExecutor(count) as threads:
        list(threads.map(work, range(count)))
    history = History.model_validate_json((tmp_path / "memory.history.json").read_bytes())
    assert sorted(history.chunkings) == sorted(f"rules {number}" for number in range(count))
    assert len({change.by for change in history.changes}) == count


def test_temporarily_unreadable_file_is_unchanged_and_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "memory.history.json"
    old, new, changing = (IndexHistory(tmp_path, "memory", FakeClock()) for _ in range(3))
    old.newer_than("rules 1")
    new.newer_than("rules 2")
    changing.changed()
    assert (old.newer_than("rules 1"), old.wait_s()) == ({"rules 2"}, STAYS_S)
    before = file.read_bytes()

    def refuse(path: Path) -> bytes:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as system:
        system.setattr(Path, "read_bytes", refuse)
        assert (old.newer_than("rules 1"), old.wait_s()) == ({"rules 2"}, STAYS_S)
        changing.changed()
        assert IndexHistory(tmp_path, "memory", FakeClock()).newer_than("rules 3") == frozenset()
    assert file.read_bytes() == before


def test_file_of_newer_version_is_left_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "memory.history.json"
    file.write_text('{"schema_version": 2, "by_version": {}}')
    server = IndexHistory(tmp_path, "memory", FakeClock())
    server.changed()
    assert (server.newer_than("rules 1"), server.wait_s()) == (frozenset(), 0)
    assert file.read_text() == '{"schema_version": 2, "by_version": {}}'
