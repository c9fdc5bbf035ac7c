"""Conversations that were left before a start, and clocks that jump: none of them is lost to the memory."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

import pytest

from onyx_jupyter.clock import timestamp
from onyx_jupyter.config.schema import MemoryConfig
from onyx_jupyter.errors import StorageError
from onyx_jupyter.features.memory import consolidation_scheduler as consolidating
from onyx_jupyter.features.memory.consolidation_scheduler import (
    BACKLOG_PER_DAY,
    MAX_AGE_DAYS,
    RETRIES_S,
    ConsolidationScheduler,
)
from onyx_jupyter.sessions.conversation import Summary
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.sessions.store import ListedSession, SessionStore
from onyx_jupyter.sessions.transcript import SessionTranscript
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.script import Hold
from tests.features.memory.test_consolidation import APRIL, MEMORY, SAID, Writer, house, memory_of, notes_of, wants
from tests.sessions.test_unconsolidated import turn
from tests.storage.full_disk import file_size_limit
from tests.waiting import until

DAY_S = 86_400.0


class JumpingClock(FakeClock):
    """Its time of day is put forwards or back; what it counts in between is not."""

    jump = timedelta()

    def now(self) -> datetime:
        return super().now() + self.jump


class Empty:
    """A transcript with nothing in it that is still to be looked through."""

    entries: tuple[Entry, ...] = ()

    def __init__(self, session_key: str) -> None:
        self.session_key = session_key


class Sessions:
    async def get(self, session_key: str) -> Empty:
        return Empty(session_key)


class Looked:
    """Which conversations were looked through, in order; those in `failing` cannot be."""

    def __init__(self, folder: Path, clock: FakeClock) -> None:
        self.keys: list[str] = []
        self.failing: set[str] = set()
        self.clock = clock
        self.consolidating = ConsolidationScheduler(
            cast("SessionStore", Sessions()),
            self.run,
            MemoryConfig,
            lambda session_key: True,
            folder / "consolidation.lock",
            clock,
        )

    async def run(self, transcript: SessionTranscript) -> None:
        self.keys.append(transcript.session_key)
        if transcript.session_key in self.failing:
            raise StorageError("It fails.")

    async def quiet(self) -> None:
        """What is due after the quiet is looked through."""
        self.clock.advance(MemoryConfig().consolidation_idle_ms / 1000)
        self.consolidating.check_due()


def left(clock: FakeClock, count: int, *, days: float = 1) -> list[ListedSession]:
    """Conversations as the list of all gives them, the last used first, each with words not looked through."""
    at = timestamp(clock.now() - timedelta(days=days))
    summary = Summary("main", "Title", None, at, at, 2, 0, "", (), (), to_consolidate=30)
    return [ListedSession(f"s{number:02}", summary) for number in range(count)]


async def test_abandoned_sessions_are_processed_at_daily_rate(tmp_path: Path) -> None:
    looked = Looked(tmp_path, FakeClock())
    sessions = left(looked.clock, 45)
    looked.consolidating.start(sessions)
    looked.consolidating.opened("s44")  # its person goes on with the oldest
    await looked.quiet()
    for expected in (20, 40, 44):
        await until(lambda expected=expected: len(looked.keys) == expected)
        assert looked.keys == [f"s{number:02}" for number in range(expected)]
        if expected < 44:
            await until(lambda: looked.consolidating.next_due()[0] > DAY_S - 3_600)
            looked.clock.advance(DAY_S)
            looked.consolidating.check_due()
    assert BACKLOG_PER_DAY == 20
    looked.consolidating.opened("another")
    await until(lambda: len(looked.keys) == 45)
    assert looked.keys[-1] == "s44"
    await looked.consolidating.close()


@pytest.mark.parametrize(("hours", "count", "today"), [(23, 15, 5), (23, 30, 0), (25, 30, 20), (-5, 30, 20)])
async def test_restart_respects_remaining_daily_quota(tmp_path: Path, hours: float, count: int, today: int) -> None:
    looked = Looked(tmp_path, FakeClock())
    at = timestamp(looked.clock.now() - timedelta(hours=hours))
    done = Summary("main", "Title", None, at, at, 2, 0, "", (), (), consolidated_at=at)
    looked.consolidating.start([*left(looked.clock, 25), *(ListedSession(f"d{n:02}", done) for n in range(count))])
    await looked.quiet()
    await until(lambda: len(looked.keys) == today and looked.consolidating.next_due()[0] > DAY_S - 3_600)
    looked.clock.advance(DAY_S)
    looked.consolidating.check_due()
    await until(lambda: len(looked.keys) == min(today + BACKLOG_PER_DAY, 25))
    await looked.consolidating.close()


async def test_resumed_session_does_not_wait_for_quota(tmp_path: Path) -> None:
    looked = Looked(tmp_path, FakeClock())
    looked.consolidating.start(left(looked.clock, BACKLOG_PER_DAY + 2))
    last = Empty(f"s{BACKLOG_PER_DAY + 1}")
    last.entries = tuple(turn("A"))
    looked.consolidating.touched(cast("SessionTranscript", last))
    await looked.quiet()
    await until(lambda: len(looked.keys) == BACKLOG_PER_DAY + 1)
    assert last.session_key in looked.keys
    assert looked.consolidating.next_due() == (DAY_S - 600, f"s{BACKLOG_PER_DAY}")
    await looked.consolidating.close()


async def test_unprocessable_sessions_do_not_block_others(tmp_path: Path) -> None:
    looked = Looked(tmp_path, FakeClock())
    looked.failing = {"s00"}
    looked.consolidating.start(left(looked.clock, 20))
    await looked.quiet()
    await until(lambda: len(looked.keys) == 20)
    for number, rest_s in enumerate(RETRIES_S, start=1):
        await until(lambda rest_s=rest_s: looked.consolidating.next_due() == (rest_s, "s00"))
        looked.clock.advance(rest_s)
        looked.consolidating.check_due()
        await until(lambda number=number: len(looked.keys) == 20 + number)
    await until(lambda: looked.consolidating.next_due()[1] is None)
    await looked.consolidating.close()


async def test_backlog_size_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []  # a server of another test in this process may have taken the log for itself
    monkeypatch.setattr(consolidating.log, "info", lambda line, *given: told.append(line % given))
    looked = Looked(tmp_path, FakeClock())
    looked.consolidating.start([])
    assert told == []
    looked.consolidating.start(left(looked.clock, 45))
    assert told == ["45 conversations wait to be looked through, 20 a day."]
    await looked.consolidating.close()


@pytest.mark.parametrize(("days", "is_due"), [(8, True), (21, True), (89.9, True), (90.1, False)])
async def test_three_weeks_away_lose_nothing_and_very_old_sessions_are_skipped(
    tmp_path: Path, days: float, is_due: bool
) -> None:
    looked = Looked(tmp_path, FakeClock())
    looked.consolidating.start(left(looked.clock, 1, days=days))
    assert MAX_AGE_DAYS == 90
    assert (looked.consolidating.next_due()[1] is not None) == is_due
    await looked.consolidating.close()


async def test_clock_set_back_before_start_hides_no_session(tmp_path: Path) -> None:
    clock = JumpingClock()
    sessions = left(clock, 2)
    clock.jump = -timedelta(days=4_000)
    looked = Looked(tmp_path, clock)
    looked.consolidating.start(sessions)
    await looked.quiet()
    await until(lambda: sorted(looked.keys) == ["s00", "s01"])
    await looked.consolidating.close()


async def test_clock_far_ahead_at_start_hides_sessions_only_temporarily(tmp_path: Path) -> None:
    clock = JumpingClock()
    sessions = left(clock, 1)
    clock.jump = timedelta(days=4_000)
    looked = Looked(tmp_path, clock)
    looked.consolidating.start(sessions)
    assert looked.consolidating.next_due()[1] is None
    clock.jump = timedelta()
    looked.consolidating.start(sessions)
    assert looked.consolidating.next_due()[1] == "s00"
    await looked.consolidating.close()


@pytest.mark.parametrize("days", [-4_000, 4_000])
async def test_clock_jumps_neither_lose_nor_duplicate_nor_reschedule(tmp_path: Path, days: int) -> None:
    clock, writer = JumpingClock(), Writer(wants(APRIL), wants())
    one = house(tmp_path, writer, clock=clock, consolidationWindow=25)
    key = await one.session()
    await one.run(key, SAID)
    await one.session()
    clock.jump = timedelta(days=days)
    assert one.onyx.consolidating.next_due() == (600, key)
    await one.run(key, "And we close it in March.")
    await one.session()
    clock.jump = timedelta()
    clock.advance(600)
    one.onyx.consolidating.check_due()
    await until(lambda: notes_of(one))
    assert [SAID in text and "close it in March" in text for text in writer.asked] == [True]
    assert memory_of(one) == MEMORY.replace("- Owns a boat\n", "- Owns a boat\n- The fiscal year starts in April\n")
    assert one.onyx.consolidating.next_due()[1] is None
    await one.close()


async def test_full_disk_leaves_memory_unchanged_and_is_retried(tmp_path: Path) -> None:
    clock, hold = FakeClock(), Hold()
    writer = Writer([hold, wants(APRIL)], wants(APRIL))
    one = house(tmp_path, writer, clock=clock)
    key = await one.session()
    await one.run(key, SAID)
    await until(hold.reached.is_set)
    with file_size_limit(0):
        hold.released.set()
        await until(lambda: one.onyx.consolidating.next_due() == (RETRIES_S[0], key))
        assert (memory_of(one), notes_of(one)) == (MEMORY, [])
    assert not list((one.home.root / "workspace").glob(".MEMORY.md.*"))
    clock.advance(RETRIES_S[0])
    one.onyx.consolidating.check_due()
    await until(lambda: notes_of(one))
    assert memory_of(one).count("The fiscal year starts in April") == 1
    await one.close()
