"""The service for review and undo of notebook changes: acts, audits, notifies clients and, later, the model."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from onyx_jupyter.clock import Clock, IdSource
from onyx_jupyter.config.paths import Home
from onyx_jupyter.config.schema import NotebooksConfig
from onyx_jupyter.errors import OnyxError
from onyx_jupyter.notebook.file_access import NotebookPlaces
from onyx_jupyter.notebook.review.change_store import ChangeStore
from onyx_jupyter.notebook.review.lines import UserDecision
from onyx_jupyter.notebook.review.recording import Author, ChangeRecorder, RetentionLimits
from onyx_jupyter.notebook.review.review_actions import Outcome, Reviewing
from onyx_jupyter.notebook.review.reviewed_cells import ReviewedCell
from onyx_jupyter.notebook.review.turns import TurnChanges
from onyx_jupyter.operations.dependencies import Key
from onyx_jupyter.protocols import Notebooks
from onyx_jupyter.runs.audit_trail import AuditTrail
from onyx_jupyter.sessions.entry import Entry

log = logging.getLogger(__name__)
DAY_S = 86_400.0
# One file may use 1/SHARE of the limit, so that a single session never fills all of it.
SHARE = 4
# Old changes are pruned each time that 1/OFTEN of the limit has been written.
OFTEN = 20
REVIEW = "review"
_WORDS = {"undo": "undid your changes to", "reject": "rejected your changes to", "put_back": "put back your changes to"}
NOTEBOOK_REVIEW: Key[NotebookReview] = Key("review of notebooks")


class NotebookReview:
    """The changes that runs make to notebooks, and the user's decisions about them.

    `broadcast` sends an event to every connection.
    """

    def __init__(
        self,
        home: Home,
        notebooks: Notebooks,
        places: NotebookPlaces,
        *,
        is_under_way: Callable[[str], bool],
        config: Callable[[], NotebooksConfig],
        audit: AuditTrail,
        broadcast: Callable[[str, dict[str, object]], None],
        clock: Clock,
        ids: IdSource,
    ) -> None:
        self._store = ChangeStore(home.changes)
        self._config = config
        self._audit = audit
        self._broadcast = broadcast
        self._clock = clock
        self._ids = ids
        self._pruned_at: datetime | None = None
        canonical = places.canonical
        self._recorder = ChangeRecorder(
            notebooks, self._store, canonical, clock, ids, self._limits, self._changed, places.path_now
        )
        self._reviewing = Reviewing(self._store, self._recorder, canonical, places.remove, is_under_way, clock, ids)

    def notebooks_for(self, author: Author) -> Notebooks:
        """The notebooks for a tool call of a run; its changes are recorded."""
        return self._recorder.notebooks_for(author)

    async def marks(self, path: str) -> Sequence[ReviewedCell]:
        """The changes in that notebook that wait for the user's decision. Raises: StorageError."""
        return await self._reviewing.marks(path)

    async def turns(self, session_key: str) -> Sequence[TurnChanges]:
        """What each run of the session changed. Raises: StorageError."""
        return await self._reviewing.turns(session_key)

    async def accept(
        self, path: str, cell_ids: Sequence[str] | None, by: str, shown: Mapping[str, str] | None = None
    ) -> int:
        """Returns how many marks were accepted; for `shown` see `Reviewing.accept`. Raises: StorageError."""
        count = await self._reviewing.accept(path, cell_ids, by, shown)
        self._broadcast_changes([path])
        return count

    async def reject(
        self, path: str, cell_ids: Sequence[str] | None, by: str, shown: Mapping[str, str] | None = None
    ) -> Outcome:
        """Raises: InvalidRequest, NotebookError, StorageError."""
        outcome = await self._reviewing.reject(path, cell_ids, by, shown)
        await self._notify_decision("reject", by, outcome, {"path": path})
        return outcome

    async def undo(self, session_key: str, run_id: str, by: str) -> Outcome:
        """Raises: NotFound, InvalidRequest, StorageError."""
        outcome = await self._reviewing.undo(session_key, run_id, by)
        await self._notify_decision("undo", by, outcome, {"session": session_key, "run": run_id})
        return outcome

    async def put_back(self, session_key: str, run_id: str, by: str) -> Outcome:
        """Raises: NotFound, InvalidRequest, StorageError."""
        outcome = await self._reviewing.put_back(session_key, run_id, by)
        await self._notify_decision("put_back", by, outcome, {"session": session_key, "run": run_id})
        return outcome

    async def renamed(self, old: str, new: str) -> None:
        """Called when a notebook or folder was renamed; never raises, since no caller handles it."""
        try:
            await self._store.renamed(old, new, self._ids.new())
        except OnyxError as error:
            log.error("The rename of %s to %s could not be recorded: %s", old, new, error)
        self._broadcast_changes([new])

    async def prune_when_due(self) -> None:
        """Calls `prune` once a day, or sooner if much was written since; never raises."""
        is_old = self._pruned_at is None or (self._clock.now() - self._pruned_at).total_seconds() >= DAY_S
        if is_old or self._store.appended_bytes > self._config().max_changes_bytes // OFTEN:
            await self.prune()

    async def prune(self) -> None:
        """Deletes changes that are too old or exceed the limit; never raises."""
        config = self._config()
        self._pruned_at = self._clock.now()
        try:
            count = await self._store.prune(
                config.keep_changes_days * DAY_S, config.max_changes_bytes, self._clock.now().timestamp()
            )
        except OnyxError as error:
            log.warning("Old change records could not be deleted: %s", error)
            return
        if count:
            log.info("Deleted %d old records of notebook changes", count)

    async def pending_decisions(self, session_key: str, entries: Sequence[Entry]) -> dict[str, Any]:
        """The user's decisions that no message of this session has told the model yet, as `meta` for the next message.

        Never raises: a disk error must not block a message. Also prunes old changes when due.
        """
        await self.prune_when_due()
        try:
            decided = await self._reviewing.reverts(session_key)
        except OnyxError as error:
            log.warning("The decisions on changes could not be read: %s", error)
            return {}
        told = {decision for entry in entries for decision in _reported_ids(entry)}
        news = [line for line in decided if line.id not in told]
        if not news:
            return {}
        back = {line.revert_id for line in news if line.what == "put_back"} & {
            line.revert_id for line in news if line.what == "undo"
        }
        said = [line for line in news if line.revert_id not in back and line.cells]
        return {REVIEW: {"decisions": [line.id for line in news], "text": format_decisions(said)}}

    def _limits(self) -> RetentionLimits:
        config = self._config()
        return RetentionLimits(config.max_output_chars, config.max_changes_bytes // SHARE)

    def _changed(self, path: str, author: Author) -> None:
        self._broadcast_changes([path], author.session_key, author.run_id)

    def _broadcast_changes(
        self,
        paths: Iterable[str],
        session_key: str | None = None,
        run_id: str | None = None,
        removed: Iterable[str] = (),
        removed_cells: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        facts = {
            "sessionKey": session_key,
            "runId": run_id,
            "paths": list(paths),
            "removed": list(removed),
            "removedCells": removed_cells,
        }
        self._broadcast("notebook.changes_updated", {name: value for name, value in facts.items() if value})

    async def _notify_decision(self, what: str, by: str, outcome: Outcome, about: Mapping[str, str]) -> None:
        paths = list(dict.fromkeys([*outcome.paths, *outcome.removed, *outcome.made]))
        facts = {"cells": outcome.cells, "paths": paths, "leftAlone": len(outcome.left), **about}
        await self._audit.reviewed(what, by, facts)
        self._broadcast_changes(paths, about.get("session"), about.get("run"), outcome.removed, outcome.removed_cells)


def format_decisions(decided: Sequence[UserDecision]) -> str:
    """The user's decisions in words for the model; empty if there are none."""
    merged: dict[tuple[str, str], list[str]] = {}
    for line in decided:
        merged.setdefault((line.what, line.path), []).extend(line.cells)
    said = [
        f"{_WORDS[what]} {path} (cells {', '.join(dict.fromkeys(cells))})" for (what, path), cells in merged.items()
    ]
    return (
        f"since your last answer the user {'; '.join(said)}; read a notebook again before you rely on it"
        if said
        else ""
    )


def _reported_ids(entry: Entry) -> Iterable[str]:
    told = entry.meta.get(REVIEW)
    ids = told.get("decisions") if isinstance(told, Mapping) else None
    return [str(decision) for decision in ids] if isinstance(ids, list) else []
