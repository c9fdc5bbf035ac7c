"""The documents of one person: added, read in the background, searched, removed. It never writes to them.

Two items are read at a time: a large folder never slows down a conversation, and a slow item never blocks the others.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Literal

from onyx_jupyter.clock import Clock, IdSource, timestamp
from onyx_jupyter.errors import DocumentUnreadable, NotFound, OnyxError, PathNotAllowed, StorageError
from onyx_jupyter.ingest.copies import check_upload, upload_digest, upload_title
from onyx_jupyter.ingest.document_access import UPLOAD, Reach
from onyx_jupyter.ingest.document_reader import limit_s
from onyx_jupyter.ingest.found_passages import passages
from onyx_jupyter.ingest.item_files import Walk, belongs, files_of, orphaned_names
from onyx_jupyter.ingest.items import FileRecord, Item, ItemStore, Progress, to_knowledge_item
from onyx_jupyter.ingest.pipeline import ALL_AGENTS, Pipeline
from onyx_jupyter.ingest.text_cache import DocumentTexts
from onyx_jupyter.ingest.web_pages import MAX_PAGE_BYTES, Fetch, suffix_of
from onyx_jupyter.protocols.knowledge import KnowledgeAnswer, KnowledgeItem, KnowledgePassage
from onyx_jupyter.protocols.retrieval import Found, Search, SearchFilter, TextIndex
from onyx_jupyter.security.path_guard import PathGuard

log = logging.getLogger(__name__)
SCAN_S = 60.0
UNDO = timedelta(hours=1)
_AT_ONCE = 2


@dataclass(frozen=True)
class FolderAccess:
    """`guard` returns an agent's allowed folders, `shown` a real path as JupyterLab writes it.

    `walk` and `fetch` access folders and the web; `is_memory` detects files of any agent's memory, which are not
    documents.
    """

    guard: Callable[[str | None], PathGuard]
    is_memory: Callable[[Path], bool]
    shown: Callable[[Path], str]
    walk: Walk
    fetch: Fetch
    parse_url: Callable[[str], str]


class DocumentKnowledge:
    """Implements protocols.Knowledge; `folder` holds the list and the copies, `texts` a cache.

    `on_change` gets every step of an item, and None when an item is gone.
    """

    def __init__(
        self,
        folder: Path,
        texts: DocumentTexts,
        index: TextIndex,
        search: Search,
        around: FolderAccess,
        clock: Clock,
        ids: IdSource,
        on_change: Callable[[KnowledgeItem | None], None],
        *,
        reading_limit_s: Callable[[int], float] = limit_s,
    ) -> None:
        self._items = ItemStore(folder)
        self._texts = texts
        self._index = index
        self._search = search
        self._around = around
        self._clock = clock
        self._ids = ids
        self._on_change = on_change
        self._pipeline = Pipeline(index, texts, clock, reading_limit_s)
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._progress: dict[str, Progress] = {}
        self._again: set[str] = set()
        self._watchers: dict[str, list[Callable[[KnowledgeItem], None]]] = {}
        self._scanned_at: float | None = None
        self._scan_task: asyncio.Task[None] | None = None

    # ── reading ─────────────────────────────────────────────────────────────────────────────────────

    async def items(self) -> Sequence[KnowledgeItem]:
        """Oldest first. Raises: StorageError."""
        return [self._to_item(item) for item in await self._there()]

    async def search(
        self, query: str, *, limit: int | None = None, paths: Sequence[str] | None = None, agent_id: str | None = None
    ) -> KnowledgeAnswer:
        """See protocols.Knowledge. Starts reading files that have changed since the last check, without waiting."""
        self.scan()
        items = await self._there()
        reach = Reach(self._around.guard(agent_id), self._around.is_memory) if agent_id is not None else None
        below = await asyncio.to_thread(self._below, items, paths, agent_id, reach)
        answer = await self._search.search(
            query, only=SearchFilter(kinds=frozenset({"document"}), paths=below), limit=limit
        )
        titles = {file.name: file.title for item in items for file in item.files}

        def shown() -> list[KnowledgePassage]:
            nobody_s = orphaned_names([one.path for one in answer.found], items)
            there = [one for one in answer.found if one.path not in nobody_s]
            found = [one for one in there if reach is None or reach.shows(one.path)]
            return passages(found, titles, self._texts, self._shown)

        found = await asyncio.to_thread(shown)
        under_way = any(progress.state in ("waiting", "reading") for progress in self._progress.values())
        reading = "Some documents are still being read." if under_way else None
        return KnowledgeAnswer(found, " ".join(note for note in (answer.note, reading) if note) or None)

    async def by_words(self, query: str, only: SearchFilter, limit: int) -> Sequence[Found]:
        """Documents that contain the words, without the index; only a part of very many. Raises: StorageError."""
        items = await self._there()
        names = [file.name for item in items for file in item.files if file.checksum]
        return await asyncio.to_thread(self._texts.search, names, query, only, limit)

    # ── changing ────────────────────────────────────────────────────────────────────────────────────

    async def add(self, where: str, agent_id: str | None, *, is_url: bool) -> KnowledgeItem:
        """See protocols.Knowledge."""
        if is_url:
            return await self._added("url", self._around.parse_url(where), agent_id)
        real = await asyncio.to_thread(self._around.guard(agent_id).resolve, where)
        if not await asyncio.to_thread(real.exists):
            raise NotFound(f"There is no file or folder {where!r}. Give the path as in JupyterLab's file browser.")
        if await asyncio.to_thread(self._around.is_memory, real):
            raise PathNotAllowed(
                f"{where!r} is an agent's memory, which only that agent searches, without adding it here."
            )
        return await self._added("path", str(real), agent_id)

    async def add_upload(self, name: str, data: bytes) -> KnowledgeItem:
        """Adds an uploaded file; a copy is kept, and the same file is one item.

        Raises: DocumentUnreadable if it is of an unknown kind or too large, StorageError.
        """
        title = upload_title(name)
        check_upload(title, len(data))
        digest = await asyncio.to_thread(upload_digest, title, data)
        kept = f"{digest}{PurePosixPath(title).suffix.lower()}"
        return await self._added("upload", f"{UPLOAD}{digest}/{title}", None, kept, data)

    async def refresh(self, item_id: str | None = None) -> Sequence[KnowledgeItem]:
        """Reads changed files again, and fetches pages again; None is everything. Raises: NotFound, StorageError."""
        items = [await asyncio.to_thread(self._items.one, item_id)] if item_id else await self._there()
        for item in items:
            self._begin(item, asked=True)
        return [self._to_item(item) for item in items]

    async def stop(self, item_id: str) -> KnowledgeItem:
        """Stops the reading; what was read so far can be found. Raises: NotFound, StorageError."""
        await self._cancel(item_id)
        item = await asyncio.to_thread(self._items.change, item_id, stopped=True)
        return self._report(item, Progress("stopped", len(item.files), len(item.files)))

    async def remove(self, item_id: str) -> None:
        """Removes it from search; its files stay where they are. `restore` brings it back for an hour.

        Raises: NotFound, StorageError.
        """
        await self._cancel(item_id)
        await asyncio.to_thread(self._items.remove, item_id, timestamp(self._clock.now()))
        await self._gone(item_id)

    async def restore(self, item_id: str) -> KnowledgeItem:
        """Reads a removed item again, a page from its copy. Raises: NotFound, also after the hour; StorageError."""
        item = await asyncio.to_thread(self._items.restore, item_id)
        self._begin(item, asked=True, fetch=False)
        return self._to_item(item)

    # ── background work ─────────────────────────────────────────────────────────────────────────────

    def scan(self, *, at_once: bool = False) -> None:
        """Reads changed files in the background; at most once a minute unless `at_once`."""
        now = self._clock.monotonic()
        due = self._scanned_at is None or now - self._scanned_at >= SCAN_S
        if (due or at_once) and (self._scan_task is None or self._scan_task.done()):
            self._scanned_at = now
            self._scan_task = asyncio.create_task(self._scan(), name="onyx knowledge, look")

    async def finished(self, item_id: str, progress: Callable[[KnowledgeItem], None]) -> KnowledgeItem:
        """See protocols.Knowledge."""
        watchers = self._watchers.setdefault(item_id, [])
        watchers.append(progress)
        try:
            task = self._tasks.get(item_id)
            if task is not None:
                await asyncio.wait([task])
        finally:
            watchers.remove(progress)
        return self._to_item(await asyncio.to_thread(self._items.one, item_id))

    async def close(self) -> None:
        """Stops all reading; it continues at the next start."""
        tasks = [*self._tasks.values(), *([self._scan_task] if self._scan_task else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _scan(self) -> None:
        under_way = set(self._tasks)  # taken before the list, which contained them when their reading began
        try:
            items = await self._there()
        except StorageError as error:
            log.warning("The documents could not be checked for changes: %s", error)
            return
        for item_id in under_way - {item.id for item in items}:  # removed by another server
            await self._cancel(item_id)
            self._progress.pop(item_id, None)
            self._on_change(None)
        await self._tidy()
        for item in items:
            if not item.stopped:
                self._begin(item, asked=False)

    async def _tidy(self) -> None:
        """Deletes what can't be restored any more, and index entries without an item.

        The latter were removed, perhaps while another server read them.
        """
        try:
            if not await asyncio.to_thread(self._items.clear, self._clock.now() - UNDO):
                return
            names = [name for _, name in await self._index.checksums(ALL_AGENTS)]
            # Read the list after the names: an added item is in the list before it is in the index.
            await self._pipeline.forget(orphaned_names(names, await self._there()))
        except OnyxError as error:
            log.warning("Removed documents could not all be deleted; they stay hidden: %s", error)

    async def _added(
        self,
        kind: Literal["path", "url", "upload"],
        location: str,
        agent_id: str | None,
        kept: str | None = None,
        copy: bytes | None = None,
    ) -> KnowledgeItem:
        new = Item(
            id=self._ids.new(),
            kind=kind,
            location=location,
            agent_id=agent_id or "",
            added_at=timestamp(self._clock.now()),
            kept=kept,
        )
        item = await asyncio.to_thread(self._items.add, new, copy)
        self._begin(item, asked=True)
        return self._to_item(item)

    def _begin(self, item: Item, *, asked: bool, fetch: bool = True) -> None:
        """Starts its reading in the background; `asked` by a person, who gets a report even if nothing has changed."""
        if asked:
            self._progress[item.id] = Progress("waiting", 0, 0)
        if item.id in self._tasks:
            self._again |= {item.id} if asked else set()
            return
        task = asyncio.create_task(
            self._read(item.id, asked=asked, fetch=asked and fetch), name=f"onyx knowledge {item.id}"
        )
        self._tasks[item.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(item.id, None))

    async def _cancel(self, item_id: str) -> None:
        task = self._tasks.get(item_id)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        self._again.discard(item_id)

    async def _read(self, item_id: str, *, asked: bool, fetch: bool) -> None:
        """Reads one item; any error is reported as its problem."""
        async with self._turns:
            self._again.discard(item_id)
            try:
                item = await asyncio.to_thread(self._items.one, item_id)
                item = await self._fetched(item) if fetch and item.kind == "url" else item
                await self._read_files(item, asked=asked)
            except DocumentUnreadable as error:
                await self._failed(item_id, str(error))
            except OnyxError as error:
                log.warning("A document could not be read: %s", error)
                await self._failed(item_id, f"{error} {error.hint or 'Onyx will try again later.'}")
            except Exception:
                log.exception("A document could not be read")
                await self._failed(item_id, "Onyx hit an internal error. See the server log for details.")
        if item_id in self._again:
            await self._read(item_id, asked=True, fetch=True)

    async def _fetched(self, item: Item) -> Item:
        """The item with its page fetched again; if that fails, the former copy is kept."""
        self._report(item, Progress("reading", 0, 1))
        page = await self._around.fetch(item.location, MAX_PAGE_BYTES)
        kept = f"{item.id}{suffix_of(page)}"
        return await asyncio.to_thread(self._items.keep_copy, item.id, kept, page.body)

    async def _read_files(self, item: Item, *, asked: bool) -> None:
        guard = self._around.guard(item.agent_id or None)
        around, copies = self._around, self._items.copies.folder
        found = await asyncio.to_thread(files_of, item, guard, around.walk, copies, around.is_memory)
        if found.problem is not None:
            await self._failed(item.id, found.problem)
            return
        known = {file.name: file for file in item.files}
        wanted = {file.name for file in found.files}
        records: dict[str, FileRecord] = {}
        total = len(found.files)
        if asked:
            self._report(item, Progress("reading", 0, total))

        def report(done: Sequence[FileRecord]) -> None:
            records.update((record.name, record) for record in done)
            if any(known.get(record.name) != record for record in done):
                now = item.model_copy(update={"files": tuple({**known, **records}.values())})
                self._report(now, Progress("reading", len(records), total))

        try:
            await self._pipeline.run(found.files, known, report)
            gone = [name for name in await self._indexed_only_for(item) if name not in wanted]
            await self._pipeline.forget(gone)
            files = tuple(records[file.name] for file in found.files if file.name in records)
        except BaseException:
            files = tuple({**known, **records}.values())
            with suppress(NotFound):
                await asyncio.shield(asyncio.to_thread(self._save, item, files))
            raise
        saved = await asyncio.to_thread(self._save, item, files)
        if asked or saved != item:
            self._report(saved, Progress("done", total, total))

    async def _indexed_only_for(self, item: Item) -> list[str]:
        """The names in the index that belong only to this item."""
        others = [one for one in await self._there() if one.id != item.id]
        return orphaned_names(
            [name for _, name in await self._index.checksums(ALL_AGENTS) if belongs(name, item)], others
        )

    def _save(self, item: Item, files: tuple[FileRecord, ...]) -> Item:
        return self._items.change(item.id, files=files, problem=None, stopped=False)

    async def _failed(self, item_id: str, problem: str) -> None:
        try:
            item = await asyncio.to_thread(self._items.change, item_id, problem=problem)
        except NotFound:
            await self._gone(item_id)
        except StorageError as error:
            log.warning("The failure to read a document could not be recorded: %s", error)
        else:
            self._report(item, Progress("failed", len(item.files), len(item.files)))

    async def _gone(self, item_id: str) -> None:
        self._progress.pop(item_id, None)
        await self._tidy()
        self._on_change(None)

    async def _there(self) -> Sequence[Item]:
        return await asyncio.to_thread(self._items.all)

    def _report(self, item: Item, progress: Progress) -> KnowledgeItem:
        self._progress[item.id] = progress
        now = self._to_item(item)
        self._on_change(now)
        for watcher in self._watchers.get(item.id, ()):
            watcher(now)
        return now

    def _to_item(self, item: Item) -> KnowledgeItem:
        return to_knowledge_item(item, self._progress.get(item.id), self._shown)

    def _shown(self, name: str) -> str:
        """A name in the index as the user sees it."""
        if name.startswith(UPLOAD):
            return name.partition("/")[2]
        return name if "://" in name else self._around.shown(Path(name))

    def _below(
        self, items: Sequence[Item], paths: Sequence[str] | None, agent_id: str | None, reach: Reach | None
    ) -> Sequence[str] | None:
        """Prefixes of the names to search; None for all."""
        if paths is None:
            return None if reach is None else reach.prefixes(items)
        guard = self._around.guard(agent_id)
        uploads = [item.location for item in items if item.kind == "upload" and self._shown(item.location) in paths]
        reals = [path if "://" in path else guard.resolve(path) for path in paths]
        named = [f"{real}{os.sep}" if isinstance(real, Path) and real.is_dir() else str(real) for real in reals]
        return [*named, *uploads]
