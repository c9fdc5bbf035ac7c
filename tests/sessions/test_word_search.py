"""What is found in the transcripts themselves, and that nobody who has stopped waiting keeps a thread busy."""

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from onyx_jupyter.protocols import SearchFilter
from onyx_jupyter.sessions.search import session_of, turn_place
from onyx_jupyter.sessions.store import SessionStore
from onyx_jupyter.sessions.transcript import SessionTranscript
from onyx_jupyter.sessions.word_search import SessionWordSearch
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.sessions.places import file_of, store_on
from tests.waiting import LIMIT_S, until

ALL = SearchFilter()


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return store_on(tmp_path / "sessions")


class Gate:
    """A redaction that waits to be let through; `seen` are the texts, `inside` how many are in it now, and at most."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.inside = self.most = 0
        self.go = threading.Event()

    def __call__(self, text: str) -> str:
        self.seen.append(text)
        self.inside += 1
        self.most = max(self.most, self.inside)
        assert self.go.wait(LIMIT_S)
        self.inside -= 1
        return text


def search_of(store: SessionStore, redact: Callable[[str], str], clock: FakeClock | None = None) -> SessionWordSearch:
    return SessionWordSearch(store, redact, clock or FakeClock())


async def told(store: SessionStore, folder: Path, *messages: str, agent: str = "main", age_s: int = 0) -> str:
    """A session of these messages that was last changed so long ago; its key."""
    transcript: SessionTranscript = await store.create(agent, "Title", None)
    for number, message in enumerate(messages):
        await transcript.append_user(f"r{number}", message, {})
    changed = 1_700_000_000 - age_s
    os.utime(file_of(folder / "sessions", transcript.session_key), (changed, changed))
    return transcript.session_key


async def test_matching_turns_are_found_without_secrets_and_link_back(store: SessionStore, tmp_path: Path) -> None:
    mine = await told(store, tmp_path, "Where do puffins nest, hush?", "And gulls?")
    await told(store, tmp_path, "Where do puffins nest?", agent="other")
    await told(store, tmp_path, "hush")
    search = search_of(store, lambda text: text.replace("hush", "[…]"))
    answer = await search.search("puffins nest", SearchFilter(agents=frozenset({"main"})), 5)
    (found,) = answer.found
    place = turn_place(found)
    assert (session_of(found.path), found.agent, found.score) == (mine, "main", 1.0)
    assert place is not None
    assert place.role == "user"
    assert "[…]" in found.snippet
    assert (answer.read_sessions, answer.sessions, answer.is_whole) == (2, 2, True)
    assert (await search.search("hush", ALL, 5)).found == []


async def test_results_within_deadline_are_returned_newest_first(store: SessionStore, tmp_path: Path) -> None:
    keys = [await told(store, tmp_path, "Where do puffins nest?", age_s=age_s) for age_s in (0, 60, 120)]
    clock = FakeClock()

    def slowly(text: str) -> str:
        clock.advance(0.4)
        return text

    answer = await search_of(store, slowly, clock).search("puffins", ALL, 5, within_s=1.5)
    assert [session_of(found.path) for found in answer.found] == keys[:2]
    assert (answer.read_sessions, answer.sessions, answer.is_whole) == (2, 3, False)
    whole = await search_of(store, slowly, clock).search("puffins", ALL, 5)
    assert (len(whole.found), whole.is_whole) == (3, True), "who does not type waits"


async def test_next_keystroke_cancels_previous_search(store: SessionStore, tmp_path: Path) -> None:
    for _ in range(5):
        await told(store, tmp_path, "puffins")
    gate = Gate()
    search = search_of(store, gate)
    first = asyncio.create_task(search.search("puf", ALL, 5, within_s=60))
    await until(lambda: gate.inside)
    others = [asyncio.create_task(search.search(query, ALL, 5, within_s=60)) for query in ("puff", "puffi", "puffin")]
    await asyncio.sleep(0)
    gate.go.set()
    before, *between, last = [await task for task in (first, *others)]
    assert (before.read_sessions, [one.read_sessions for one in between]) == (0, [0, 0])
    assert (len(last.found), last.is_whole) == (5, True)
    assert gate.most == 1
    assert len(gate.seen) == 1 + 5 * 2, "of five titles and turns each, and of one that was stopped in"


async def test_abandoned_search_stops(store: SessionStore, tmp_path: Path) -> None:
    for _ in range(5):
        await told(store, tmp_path, "puffins")
    gate = Gate()
    search = search_of(store, gate)
    left = asyncio.create_task(search.search("puffins", ALL, 5))
    await until(lambda: gate.inside)
    left.cancel()
    await asyncio.sleep(0)
    gate.go.set()
    with pytest.raises(asyncio.CancelledError):
        await left
    assert len(gate.seen) == 1
    assert (await search.search("puffins", ALL, 5)).is_whole
