"""Search over the sessions: keeps their index up to date and returns the matching turns.

It starts with the first client or the first search, and never blocks a caller for long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from onyx_jupyter.clock import Clock
from onyx_jupyter.index_process.client import OpenIndex
from onyx_jupyter.operations.dependencies import Key
from onyx_jupyter.protocols import Found, SearchFilter
from onyx_jupyter.retrieval.chunking import NOTE_SIZE, fingerprint
from onyx_jupyter.retrieval.index_updater import IndexUpdater
from onyx_jupyter.retrieval.search import HybridSearch
from onyx_jupyter.retrieval.settings import SearchSettings
from onyx_jupyter.sessions.conversation import Summary
from onyx_jupyter.sessions.search import SessionSync, TurnPlace, session_of, snippet_text, turn_place
from onyx_jupyter.sessions.store import SessionStore
from onyx_jupyter.sessions.word_search import SessionWordSearch, WordSearchResult

SESSION_SEARCH: Key[SessionSearch] = Key("session search")

COLLECTION = "session"
SEEN_FILE = "session_files.json"
INDEXING = "The sessions are still being indexed, so only keywords were searched."
SEARCHED_NEWEST = "The sessions are still being indexed, so only keywords were searched, in the newest {} of {}."
# A new server gives its first answer first.
_FIRST_S = 3.0
# A run appends many entries in a row. They are indexed together, because each update rewrites a whole part of the
# session. A search triggers the update at once and waits for it, but not for long.
_QUIET_S = 5.0
_CATCH_UP_S = 1.0
# Long turns consist of several passages, and several turns of one session may match.
_PASSAGES_A_RESULT = 3


@dataclass(frozen=True, slots=True)
class SessionHit:
    """A matching turn; `score` is between 0 and 1, `summary` describes its session."""

    session_key: str
    summary: Summary
    place: TurnPlace
    score: float
    snippet: str


@dataclass(frozen=True, slots=True)
class SessionAnswer:
    """The matching turns, best first and each once, and a note if the search was limited in some way.

    `is_whole` is False if time ran out before everything was searched.
    """

    hits: Sequence[SessionHit]
    note: str | None = None
    is_whole: bool = True


class SessionSearch:
    """`settings` configure the ranking, as for memory search; `redact` removes secrets from what is indexed."""

    def __init__(
        self,
        folder: Path,
        store: SessionStore,
        open_index: OpenIndex,
        settings: Callable[[], SearchSettings],
        redact: Callable[[str], str],
        clock: Clock,
    ) -> None:
        self._store = store
        self._updater = IndexUpdater("sessions", self._update, first_s=_FIRST_S, quiet_s=_QUIET_S)
        self._index = open_index(COLLECTION, chunking=fingerprint(NOTE_SIZE), on_emptied=self._updater.lost)
        self._sync = SessionSync(self._index, store, folder / SEEN_FILE, redact)
        self._words = SessionWordSearch(store, redact, clock)
        self._search = HybridSearch(self._index, settings, clock, fallback=self._by_words)

    def start(self) -> None:
        """Starts following the conversations in the background; later calls do nothing."""
        self._updater.start()

    def changed(self) -> None:
        """Called when a session has new entries or was deleted."""
        self._updater.changed()

    async def search(
        self,
        query: str,
        agent_id: str | None = None,
        *,
        limit: int,
        min_score: float | None = None,
        within_s: float | None = None,
    ) -> SessionAnswer:
        """`agent_id` None searches the sessions of all agents. Raises: StorageError.

        `within_s` is for search as you type: until everything is indexed, the newest sessions are searched for at most
        that long, and only until the next such search.
        """
        self._updater.want()
        only = SearchFilter(agents=None if agent_id is None else frozenset({agent_id}))
        most = limit * _PASSAGES_A_RESULT
        if self._updater.is_complete:
            await self._updater.current(_CATCH_UP_S if within_s is None else min(within_s, _CATCH_UP_S))
            asked = self._search.search(query, only=only, limit=most, min_score=min_score)
            if (answer := await self._updater.ask(asked)) is not None:
                return SessionAnswer((await self._hits(answer.found))[:limit], answer.note)
        read = await self._words.search(query, only, most, within_s=within_s)
        return SessionAnswer((await self._hits(read.found))[:limit], self._note(read), read.is_whole)

    async def close(self) -> None:
        await self._updater.close()
        await self._index.close()

    async def _by_words(self, query: str, only: SearchFilter, limit: int) -> Sequence[Found]:
        return (await self._words.search(query, only, limit)).found

    async def _hits(self, found: Sequence[Found]) -> list[SessionHit]:
        """The hits in sessions that still exist."""
        summaries = {item.session_key: item.summary for item in await self._store.list()} if found else {}
        hits: dict[tuple[str, str], SessionHit] = {}
        for one in found:
            key, place = session_of(one.path), turn_place(one)
            if key in summaries and place is not None:
                hit = SessionHit(key, summaries[key], place, one.score, snippet_text(one))
                hits.setdefault((key, place.entry_id), hit)
        return list(hits.values())

    async def _update(self) -> None:
        await self._sync.run()
        self._updater.updated(is_complete=True)

    def _note(self, read: WordSearchResult) -> str:
        if self._updater.problem is not None:
            return self._updater.problem
        all_of_them = read.read_sessions == read.sessions
        return INDEXING if all_of_them else SEARCHED_NEWEST.format(read.read_sessions, read.sessions)
