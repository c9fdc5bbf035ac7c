import itertools
from pathlib import Path

from onyx_jupyter.storage.index_history import STAYS_S, IndexHistory
from onyx_jupyter.testing.fake_clock import FakeClock


def test_ways_of_cutting_are_ordered_by_when_they_came_up(tmp_path: Path) -> None:
    old, new = (IndexHistory(tmp_path, "memory", FakeClock()) for _ in range(2))
    assert old.newer_than("rules 1") == frozenset()
    assert old.newer_than("rules 1") == frozenset()
    assert new.newer_than("rules 2") == frozenset()
    assert old.newer_than("rules 1") == {"rules 2"}
    assert new.newer_than("rules 2") == frozenset()
    assert IndexHistory(tmp_path, "session", FakeClock()).newer_than("rules 1") == frozenset()


def test_two_servers_that_want_different_embedders_change_an_index_a_few_times_a_day(tmp_path: Path) -> None:
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


def test_what_one_server_has_changed_it_may_change_again_at_once(tmp_path: Path) -> None:
    clock = FakeClock()
    server = IndexHistory(tmp_path, "memory", clock)
    for _ in range(5):
        server.changed()
        assert server.wait_s() == 0
    assert IndexHistory(tmp_path, "memory", clock).wait_s() > 0


def test_a_day_later_nothing_is_held_against_anybody(tmp_path: Path) -> None:
    clock = FakeClock()
    IndexHistory(tmp_path, "memory", clock).changed()
    assert IndexHistory(tmp_path, "memory", clock).wait_s() == STAYS_S
    clock.advance(24 * 3600)
    assert IndexHistory(tmp_path, "memory", clock).wait_s() == 0


def test_a_file_that_is_lost_or_garbled_or_cannot_be_written_is_an_empty_one(tmp_path: Path) -> None:
    history = IndexHistory(tmp_path / "index", "memory", FakeClock())
    history.changed()
    other = IndexHistory(tmp_path / "index", "memory", FakeClock())
    file = tmp_path / "index/memory.history.json"
    for text in ("", "{", "[]", '{"schema_version": 2}', '{"schema_version": 1, "changes": [1]}'):
        file.write_text(text)
        assert (other.wait_s(), other.newer_than("a")) == (0, frozenset())
    (tmp_path / "file").write_text("no folder")
    nowhere = IndexHistory(tmp_path / "file", "memory", FakeClock())
    nowhere.changed()
    assert (nowhere.wait_s(), nowhere.newer_than("a")) == (0, frozenset())
