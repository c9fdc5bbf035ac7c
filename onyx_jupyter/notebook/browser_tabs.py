"""Tracks which notebooks are open in which browser tab, and sends requests to a tab."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NewType

from onyx_jupyter.clock import IdSource
from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.paths import NotebookPaths

TabId = NewType("TabId", str)
Send = Callable[[str, str, Mapping[str, Any]], Awaitable[None]]
"""Sends a request (id, action, params) to one tab; any error it raises means that the tab is gone."""

_log = logging.getLogger(__name__)
_OPENING_S = 15.0


@dataclass(frozen=True, slots=True)
class OpenNotebook:
    """A notebook in a tab, with the path as the tab spells it; `active` is the one in front."""

    path: str
    active: bool = False


@dataclass(frozen=True, slots=True)
class OpenIn:
    """Where a notebook is open: the tab, and the path as that tab spells it."""

    tab: TabId
    path: str


@dataclass(slots=True)
class _Tab:
    send: Send
    notebooks: tuple[OpenNotebook, ...] = ()
    last_active_at: int = 0
    page: str | None = None
    cards: frozenset[str] = frozenset()
    folder: str | None = None
    pending: dict[str, asyncio.Future[dict[str, Any]]] = field(default_factory=dict)


class TabRequests:
    """The connected tabs, which a transport feeds by calling `opened`, `updated`, `responded` and `closed`.

    A request is sent to one tab, once, and only that tab's first answer counts. After a tab has gone, calls on the
    notebooks it had open wait up to `reconnect_s`, so that nothing is written under a page that only reloads.
    """

    def __init__(self, ids: IdSource, paths: NotebookPaths, *, reconnect_s: float = 8.0) -> None:
        self._ids = ids
        self._paths = paths
        self._reconnect_s = reconnect_s
        self._tabs: dict[TabId, _Tab] = {}
        self._turns = 0
        self._written_in: dict[str, TabId] = {}
        self._may_return: dict[str, float] = {}
        self._changed = asyncio.Event()

    def opened(self, send: Send) -> TabId:
        """A tab has connected; nothing is open in it until it says so."""
        tab = TabId(self._ids.new())
        self._tabs[tab] = _Tab(send)
        return tab

    def updated(
        self,
        tab: TabId,
        notebooks: Iterable[OpenNotebook],
        page: str | None = None,
        cards: Iterable[str] = (),
        folder: str | None = None,
    ) -> None:
        """The tab reports its open notebooks, which of our output MIME types it draws, and the folder it shows.

        Ends an earlier connection of the same page if that is still registered.
        """
        if tab not in self._tabs:
            return
        if page is not None:
            self._tabs[tab].page = page
            for former in [other for other, state in self._tabs.items() if state.page == page and other != tab]:
                self.closed(former)
        self._turns += 1
        self._tabs[tab].notebooks = tuple(notebooks)
        self._tabs[tab].cards = frozenset(cards)
        self._tabs[tab].folder = folder
        self._tabs[tab].last_active_at = self._turns
        for notebook in self._tabs[tab].notebooks:
            self._may_return.pop(self._paths.canonical(notebook.path), None)
        self._changed.set()
        self._changed = asyncio.Event()

    def responded(
        self, tab: TabId, request_id: str, result: Mapping[str, Any] | None, error: NotebookError | None
    ) -> bool:
        """Passes an answer to the waiting request; False and a log line if none waits, or if another tab was asked."""
        waiting = self._tabs[tab].pending.pop(request_id, None) if tab in self._tabs else None
        if waiting is None or waiting.done():
            _log.info("Ignored an unexpected response to %s from a browser tab.", request_id)
            return False
        if error is not None:
            waiting.set_exception(error)
        elif result is None:
            waiting.set_exception(NotebookError("bad_response", "The browser tab answered with nothing."))
        else:
            waiting.set_result(dict(result))
        return True

    def closed(self, tab: TabId) -> None:
        """The tab's connection has ended: its pending requests fail."""
        gone = self._tabs.pop(tab, None)
        if gone is None:
            return
        self._written_in = {path: kept for path, kept in self._written_in.items() if kept != tab}
        until = asyncio.get_running_loop().time() + self._reconnect_s
        self._may_return.update({self._paths.canonical(notebook.path): until for notebook in gone.notebooks})
        for waiting in gone.pending.values():
            if not waiting.done():
                waiting.set_exception(_tab_gone())

    def tab_with(self, path: str) -> OpenIn | None:
        """Prefers the tab it was last written in, then one where it is in front, then the tab that spoke last.

        None if no tab has it open.
        """
        found = self._places(path)
        kept = self._written_in.get(self._paths.canonical(path))
        return next((place for place in found if place.tab == kept), found[0] if found else None)

    def write_place(self, path: str, *, is_shared: bool) -> OpenIn | None:
        """Like `tab_with`, which then keeps returning this tab.

        Raises: NotebookError (open_twice) if several tabs have it open without sharing one document.
        """
        found = self._places(path)
        if len({place.tab for place in found}) > 1 and not is_shared:
            raise NotebookError(
                "open_twice",
                f"{path} is open in two or more browser windows, each with its own version of it, so nothing was "
                "changed. Ask the user to close it in all but one.",
            )
        place = self.tab_with(path)
        if place is not None:
            self._written_in[self._paths.canonical(path)] = place.tab
        return place

    def _places(self, path: str) -> list[OpenIn]:
        """Where it is open: in front first, then by which tab spoke last."""
        wanted = self._paths.canonical(path)
        found = [
            (notebook.active, state.last_active_at, OpenIn(tab, notebook.path))
            for tab, state in self._tabs.items()
            for notebook in state.notebooks
            if self._paths.canonical(notebook.path) == wanted
        ]
        return [entry[2] for entry in sorted(found, key=lambda entry: entry[:2], reverse=True)]

    def count_with(self, path: str) -> int:
        """The number of tabs that have the notebook open."""
        wanted = self._paths.canonical(path)
        return sum(
            any(self._paths.canonical(notebook.path) == wanted for notebook in state.notebooks)
            for state in self._tabs.values()
        )

    def cards_with(self, path: str) -> list[str]:
        """What every tab with the notebook open can draw, since the user may be looking at any of them."""
        drawn = [self._tabs[place.tab].cards for place in self._places(path)]
        return sorted(frozenset.intersection(*drawn)) if drawn else []

    def open_notebooks(self) -> tuple[list[str], str | None]:
        """Everything open in any tab, and the one in front of the tab that spoke last."""
        tabs = sorted(self._tabs.values(), key=lambda state: state.last_active_at, reverse=True)
        paths = dict.fromkeys(notebook.path for state in tabs for notebook in state.notebooks)
        fronts = (notebook.path for state in tabs for notebook in state.notebooks if notebook.active)
        return list(paths), next(fronts, None)

    def open_folder(self) -> str | None:
        """The folder shown in the file browser of the tab that spoke last; None if there is no such tab."""
        tab = self._last_active()
        return self._tabs[tab].folder if tab is not None else None

    async def show(self, path: str) -> bool:
        """Opens the notebook in the tab that spoke last; returns whether it is open now."""
        tab = self._last_active()
        if tab is None:
            return False
        try:
            await self.request(tab, "notebook.open", {"path": path}, _OPENING_S)
            async with asyncio.timeout(_OPENING_S):
                while self.tab_with(path) is None:
                    await self._changed.wait()
        except (NotebookError, TimeoutError) as error:
            _log.info("%s could not be opened in a browser tab: %s", path, error)
            return False
        return True

    def _last_active(self) -> TabId | None:
        """Considers only tabs whose page shows folders, since kernels and programs connect too."""
        pages = [(state.last_active_at, tab) for tab, state in self._tabs.items() if state.folder is not None]
        return max(pages)[1] if pages else None

    async def settled(self, path: str) -> None:
        """Returns once no tab that had the notebook open might still come back (reload, short break)."""
        wanted = self._paths.canonical(path)
        while self.tab_with(path) is None and (until := self._may_return.get(wanted)) is not None:
            left_s = until - asyncio.get_running_loop().time()
            if left_s <= 0:
                del self._may_return[wanted]
                return
            try:
                async with asyncio.timeout(left_s):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def request(
        self, tab: TabId, action: str, params: Mapping[str, Any], timeout_s: float | None
    ) -> dict[str, Any]:
        """The tab's answer. Raises: NotebookError with the tab's own code, tab_gone or tab_silent."""
        state = self._tabs.get(tab)
        if state is None:
            raise _tab_gone()
        request_id = self._ids.new()
        waiting: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        state.pending[request_id] = waiting
        try:
            async with asyncio.timeout(timeout_s):
                try:
                    await state.send(request_id, action, params)
                except Exception as error:
                    _log.info("A request could not be sent to a browser tab: %s", error)
                    raise _tab_gone() from error
                return await waiting
        except TimeoutError:
            raise NotebookError(
                "tab_silent",
                f"The browser tab has not answered {action} for {timeout_s:g} s. It may be asleep in the background.",
            ) from None
        finally:
            state.pending.pop(request_id, None)
            if waiting.done() and not waiting.cancelled():
                waiting.exception()  # retrieved, so that asyncio doesn't warn about it


def _tab_gone() -> NotebookError:
    return NotebookError(
        "tab_gone",
        "The browser tab with this notebook closed before it answered, so the change may or may not have been made. "
        "Read the notebook again to see.",
    )
