"""When an index is updated, and whether its answers count."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from onyx_jupyter.errors import IndexUnavailable
from onyx_jupyter.retrieval.index_updater import IndexUpdater
from tests.waiting import until

LONG_S = 3600.0


class Index:
    """Counts its updates; one of them waits while `held` is not set, and fails if there is an `error`."""

    def __init__(self, **times: float) -> None:
        self.updates = 0
        self.changes = 0
        self.again_s: float | None = None
        self.error: Exception | None = None
        self.held = asyncio.Event()
        self.held.set()
        self.updater = IndexUpdater("notes", self._update, on_change=self._changed, **{"first_s": LONG_S, **times})

    def _changed(self) -> None:
        self.changes += 1

    async def _update(self) -> float | None:
        self.updates += 1
        await self.held.wait()
        if self.error is not None:
            raise self.error
        self.updater.updated(is_complete=True)
        return self.again_s


@asynccontextmanager
async def index(prepare: Callable[[Index], None] = lambda one: None, **times: float) -> AsyncIterator[Index]:
    one = Index(**times)
    prepare(one)
    one.updater.want()
    await until(lambda: one.updates)
    try:
        yield one
    finally:
        await one.updater.close()


async def test_first_update_yields_to_page_but_not_to_search() -> None:
    one = Index()
    one.updater.start()
    await asyncio.sleep(0.02)
    assert (one.updater.has_started, one.updates) == (True, 0)
    one.updater.want()
    await until(lambda: one.updater.is_complete)
    await one.updater.close()


async def test_change_during_update_triggers_another() -> None:
    async with index(lambda one: one.held.clear()) as one:
        one.updater.changed()
        one.held.set()
        await until(lambda: one.updates == 2)


async def test_consecutive_changes_are_one_update_unless_searched() -> None:
    async with index(quiet_s=LONG_S) as one:
        await one.updater.current(LONG_S)
        for _ in range(3):
            one.updater.changed()
            await asyncio.sleep(0.01)
        assert one.updates == 1, "it waits for more changes"
        one.updater.want()
        await one.updater.current(LONG_S)
        assert one.updates == 2


async def test_file_being_written_is_rechecked_automatically() -> None:
    async with index(lambda one: setattr(one, "again_s", 0.01)) as one:
        await until(lambda: one.updates >= 3)


@pytest.mark.parametrize(
    ("error", "says"),
    [(IndexUnavailable("the disk is full"), "the disk is full"), (KeyError("x"), "hit an internal error")],
)
async def test_failed_update_says_why_and_next_one_recovers(error: Exception, says: str) -> None:
    async with index(lambda one: setattr(one, "error", error)) as one:
        await until(lambda: one.updater.problem)
        assert (says in str(one.updater.problem), one.updater.is_complete, one.changes) == (True, False, 1)
        one.error = None
        one.updater.changed()
        await until(lambda: one.updater.is_complete)
        assert one.updater.problem is None


async def test_update_does_not_count_if_index_was_lost_meanwhile() -> None:
    async with index() as one:
        await one.updater.current(LONG_S)

        async def answer(of: str, *, loses: bool = False) -> str:
            if loses:
                one.updater.lost("It was deleted.")
                assert (one.updater.is_complete, one.updater.problem) == (
                    False,
                    "It was deleted. Only keywords were searched.",
                )
                await until(lambda: one.updater.is_complete)
            return of

        assert await one.updater.ask(answer("all")) == "all"
        assert await one.updater.ask(answer("nothing", loses=True)) is None
        assert await one.updater.ask(answer("all again")) == "all again"


async def test_callers_wait_at_most_their_timeout() -> None:
    async with index(lambda one: one.held.clear()) as one:
        await one.updater.current(0.01)
        assert not one.updater.is_complete
