"""The documents of one person: added, read in the background, searched, removed. It writes into none of them.

One item is read at a time, so that a large folder never takes the server's attention away from a conversation.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from onyx_jupyter.clock import Clock, IdSource, timestamp
from onyx_jupyter.errors import DocumentUnreadable, NotFound, OnyxError, StorageError
from onyx_jupyter.ingest.finding import passages
from onyx_jupyter.ingest.items import FileRecord, Item, ItemStore
from onyx_jupyter.ingest.kept_text import DocumentTexts
from onyx_jupyter.ingest.pages import MAX_PAGE_BYTES, Fetch, suffix_of
from onyx_jupyter.ingest.pipeline import ALL_AGENTS, Pipeline
from onyx_jupyter.ingest.places import Walk, belongs, files_of
from onyx_jupyter.protocols.knowledge import FileProblem, KnowledgeAnswer, KnowledgeItem, ReadingState
from onyx_jupyter.protocols.retrieval import Search, SearchFilter, TextIndex
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.storage.atomic_write import make_private_folder, write_bytes_atomically

log = logging.getLogger(__name__)
LOOK_S = 60.0
_NO_TITLE = "Untitled"


@dataclass(frozen=True)
class Surroundings:
    """`guard` gives an agent's allowed folders, `shown` a real path as JupyterLab writes it; `walk` and `fetch` reach
    folders and the web."""

    guard: Callable[[str | None], PathGuard]
    shown: Callable[[Path], str]
    walk: Walk
    fetch: Fetch
    parse_url: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class _Progress:
    state: ReadingState
    done: int
    total: int


class DocumentKnowledge:
    """protocols.Knowledge; `folder` holds the list and the copies, `texts` what can be made again.

    `on_news` is told of every step of an item, and None when an item has gone.
    """

    def __init__(
        self,
        folder: Path,
        texts: DocumentTexts,
        index: TextIndex,
        search: Search,
        around: Surroundings,
        clock: Clock,
        ids: IdSource,
        on_news: Callable[[KnowledgeItem | None], None],
    ) -> None:
        self._kept = folder / "files"
        self._items = ItemStore(folder / "documents.json")
        self._texts = texts
        self._index = index
        self._search = search
        self._around = around
        self._clock = clock
        self._ids = ids
        self._on_news = on_news
        self._pipeline = Pipeline(index, texts)
        self._turn = asyncio.Lock()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._progress: dict[str, _Progress] = {}
        self._again: set[str] = set()
        self._watchers: dict[str, list[Callable[[KnowledgeItem], None]]] = {}
        self._looked_at: float | None = None
        self._looking: asyncio.Task[None] | None = None

    # ── what is there ───────────────────────────────────────────────────────────────────────────────

    async def items(self) -> Sequence[KnowledgeItem]:
        """The oldest first. Raises: StorageError."""
        return [self._told(item) for item in await asyncio.to_thread(self._items.all)]

    async def search(
        self, query: str, *, limit: int | None = None, paths: Sequence[str] | None = None, agent_id: str | None = None
    ) -> KnowledgeAnswer:
        """See protocols.Knowledge. What has changed since the last look is read again, without waiting for it."""
        self.look()
        below = None if paths is None else await asyncio.to_thread(self._prefixes, paths, agent_id)
        only = SearchFilter(kinds=frozenset({"document"}), paths=below)
        answer = await self._search.search(query, only=only, limit=limit)
        titles = {file.name: file.title for item in await asyncio.to_thread(self._items.all) for file in item.files}
        found = await asyncio.to_thread(passages, answer.found, titles, self._texts, self._shown)
        under_way = any(progress.state in ("waiting", "reading") for progress in self._progress.values())
        reading = "Some documents are still being read." if under_way else None
        return KnowledgeAnswer(found, " ".join(note for note in (answer.note, reading) if note) or None)

    # ── what is changed ─────────────────────────────────────────────────────────────────────────────

    async def add(self, where: str, agent_id: str | None, *, is_url: bool) -> KnowledgeItem:
        """See protocols.Knowledge."""
        if is_url:
            return await self._added("url", self._around.parse_url(where), agent_id)
        real = await asyncio.to_thread(self._around.guard(agent_id).resolve, where)
        if not await asyncio.to_thread(real.exists):
            raise NotFound(f"There is no file or folder {where!r}. Paths are as in JupyterLab's file browser.")
        return await self._added("path", str(real), agent_id)

    async def add_upload(self, name: str, data: bytes, agent_id: str | None) -> KnowledgeItem:
        """A file that its person gives; a copy of it is kept. Raises: StorageError."""
        name = Path(name.replace("\\", "/")).name or _NO_TITLE
        item_id = self._ids.new()
        kept = f"{item_id}{Path(name).suffix.lower()[:20]}"
        await asyncio.to_thread(self._keep, kept, data)
        return await self._added("upload", name, agent_id, item_id, kept)

    async def refresh(self, item_id: str | None = None) -> Sequence[KnowledgeItem]:
        """Reads again what has changed, and pages anew; None is everything. Raises: NotFound, StorageError."""
        items = [await self._item(item_id)] if item_id else await asyncio.to_thread(self._items.all)
        for item in items:
            self._begin(item, asked=True)
        return [self._told(item) for item in items]

    async def stop(self, item_id: str) -> KnowledgeItem:
        """Ends the reading; what has been read is found. Raises: NotFound, StorageError."""
        await self._cancel(item_id)
        item = (await self._item(item_id)).model_copy(update={"stopped": True})
        await asyncio.to_thread(self._items.replace, item)
        return self._tell(item, _Progress("stopped", len(item.files), len(item.files)))

    async def remove(self, item_id: str) -> None:
        """It is found no more; its files stay where they are. Raises: NotFound, StorageError, IndexUnavailable."""
        await self._cancel(item_id)
        item = await self._item(item_id)
        await self._pipeline.forget(await self._indexed_only_for(item))
        await asyncio.to_thread(self._items.remove, item_id)
        if item.kept is not None:
            await asyncio.to_thread((self._kept / item.kept).unlink, missing_ok=True)
        self._progress.pop(item_id, None)
        self._on_news(None)

    # ── what goes on ────────────────────────────────────────────────────────────────────────────────

    def look(self, *, at_once: bool = False) -> None:
        """Reads what has changed, in the background; at most once a minute unless `at_once`."""
        now = self._clock.monotonic()
        due = self._looked_at is None or now - self._looked_at >= LOOK_S
        if (due or at_once) and (self._looking is None or self._looking.done()):
            self._looked_at = now
            self._looking = asyncio.create_task(self._look(), name="onyx knowledge, look")

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
        return self._told(await self._item(item_id))

    async def close(self) -> None:
        """Ends all reading; it goes on at the next start."""
        tasks = [*self._tasks.values(), *([self._looking] if self._looking else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _look(self) -> None:
        try:
            items = await asyncio.to_thread(self._items.all)
        except StorageError as error:
            log.warning("The documents could not be looked at: %s", error)
            return
        for item in items:
            if not item.stopped:
                self._begin(item, asked=False)

    async def _added(
        self,
        kind: Literal["path", "url", "upload"],
        location: str,
        agent_id: str | None,
        item_id: str | None = None,
        kept: str | None = None,
    ) -> KnowledgeItem:
        new = Item(
            id=item_id or self._ids.new(),
            kind=kind,
            location=location,
            agent_id=agent_id or "",
            added_at=timestamp(self._clock.now()),
            kept=kept,
        )
        if kind == "upload":
            new = new.model_copy(update={"location": f"upload:{new.id}/{location}"})
        item = await asyncio.to_thread(self._items.add, new)
        self._begin(item, asked=True)
        return self._told(item)

    def _begin(self, item: Item, *, asked: bool) -> None:
        """Its reading, in the background; `asked` by a person, who is told of it also where nothing has changed."""
        if asked:
            self._progress[item.id] = _Progress("waiting", 0, 0)
        if item.id in self._tasks:
            self._again |= {item.id} if asked else set()
            return
        task = asyncio.create_task(self._read(item.id, asked=asked), name=f"onyx knowledge {item.id}")
        self._tasks[item.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(item.id, None))

    async def _cancel(self, item_id: str) -> None:
        task = self._tasks.get(item_id)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        self._again.discard(item_id)

    async def _read(self, item_id: str, *, asked: bool) -> None:
        """The work of one item; whatever goes wrong is told as its problem."""
        async with self._turn:
            self._again.discard(item_id)
            try:
                item = await self._item(item_id)
                item = await self._fetched(item) if asked and item.kind == "url" else item
                await self._read_files(item, asked=asked)
            except DocumentUnreadable as error:
                await self._failed(item_id, str(error))
            except OnyxError as error:
                log.warning("A document could not be read: %s", error)
                await self._failed(item_id, f"{error} {error.hint or 'It is tried again later.'}")
            except Exception:
                log.exception("A document could not be read")
                await self._failed(item_id, "Something in Onyx went wrong. The server's log says what.")
        if item_id in self._again:
            await self._read(item_id, asked=True)

    async def _fetched(self, item: Item) -> Item:
        """The item with its page as it is now; where that cannot be had, the copy of before is kept."""
        self._tell(item, _Progress("reading", 0, 1))
        page = await self._around.fetch(item.location, MAX_PAGE_BYTES)
        kept = f"{item.id}{suffix_of(page)}"
        await asyncio.to_thread(self._keep, kept, page.body)
        if item.kept not in (None, kept):
            await asyncio.to_thread((self._kept / str(item.kept)).unlink, missing_ok=True)
        item = item.model_copy(update={"kept": kept})
        await asyncio.to_thread(self._items.replace, item)
        return item

    async def _read_files(self, item: Item, *, asked: bool) -> None:
        guard = self._around.guard(item.agent_id or None)
        found = await asyncio.to_thread(files_of, item, guard, self._around.walk, self._kept)
        if found.problem is not None:
            await self._failed(item.id, found.problem)
            return
        known = {file.name: file for file in item.files}
        wanted = {file.name for file in found.files}
        records: dict[str, FileRecord] = {}
        total = len(found.files)
        if asked:
            self._tell(item, _Progress("reading", 0, total))

        def report(done: Sequence[FileRecord]) -> None:
            records.update((record.name, record) for record in done)
            if any(known.get(record.name) != record for record in done):
                now = item.model_copy(update={"files": tuple({**known, **records}.values())})
                self._tell(now, _Progress("reading", len(records), total))

        try:
            await self._pipeline.run(found.files, known, report)
            gone = [name for name in await self._indexed_only_for(item) if name not in wanted]
            await self._pipeline.forget(gone)
            files = tuple(records[file.name] for file in found.files if file.name in records)
        except BaseException:
            files = tuple({**known, **records}.values())
            await asyncio.shield(asyncio.to_thread(self._save, item, files))
            raise
        saved = await asyncio.to_thread(self._save, item, files)
        if asked or saved != item:
            self._tell(saved, _Progress("done", total, total))

    async def _indexed_only_for(self, item: Item) -> list[str]:
        """The names in the index that are of this item and of no other one."""
        others = [one for one in await asyncio.to_thread(self._items.all) if one.id != item.id]
        names = [name for _, name in await self._index.checksums(ALL_AGENTS) if belongs(name, item)]
        return [name for name in names if not any(belongs(name, other) for other in others)]

    def _save(self, item: Item, files: tuple[FileRecord, ...]) -> Item:
        item = item.model_copy(update={"files": files, "problem": None, "stopped": False})
        self._items.replace(item)
        return item

    async def _failed(self, item_id: str, problem: str) -> None:
        try:
            item = (await self._item(item_id)).model_copy(update={"problem": problem})
            await asyncio.to_thread(self._items.replace, item)
        except OnyxError as error:  # removed meanwhile, or the disk is full
            log.warning("That a document could not be read is not kept: %s", error)
            return
        self._tell(item, _Progress("failed", len(item.files), len(item.files)))

    def _keep(self, name: str, data: bytes) -> None:
        make_private_folder(self._kept)
        write_bytes_atomically(self._kept / name, data)

    async def _item(self, item_id: str) -> Item:
        for item in await asyncio.to_thread(self._items.all):
            if item.id == item_id:
                return item
        raise NotFound(f"There is no document {item_id!r} in the knowledge. It may have been removed before.")

    def _tell(self, item: Item, progress: _Progress) -> KnowledgeItem:
        self._progress[item.id] = progress
        told = self._told(item)
        self._on_news(told)
        for watcher in self._watchers.get(item.id, ()):
            watcher(told)
        return told

    def _told(self, item: Item) -> KnowledgeItem:
        progress = self._progress.get(item.id) or _Progress(_state(item), len(item.files), len(item.files))
        problems = [(file.name, message) for file in item.files for message in (file.problem, file.note) if message]
        titles = [file.title for file in item.files if file.title] if len(item.files) == 1 else []
        path = self._shown(item.location)
        return KnowledgeItem(
            item_id=item.id,
            kind=item.kind,
            path=path,
            title=titles[0] if titles else path.rstrip("/").rpartition("/")[2] or path,
            added_at=item.added_at,
            state=progress.state,
            done=progress.done,
            total=progress.total,
            chunks=sum(file.chunks for file in item.files),
            problems=[FileProblem(self._shown(name), message) for name, message in problems],
            problem=item.problem,
        )

    def _shown(self, name: str) -> str:
        """A name of the index as a person writes it."""
        if name.startswith("upload:"):
            return name.partition("/")[2]
        return name if "://" in name else self._around.shown(Path(name))

    def _prefixes(self, paths: Sequence[str], agent_id: str | None) -> list[str]:
        guard = self._around.guard(agent_id)
        reals = [path if "://" in path else guard.resolve(path) for path in paths]
        return [f"{real}{os.sep}" if isinstance(real, Path) and real.is_dir() else str(real) for real in reals]


def _state(item: Item) -> ReadingState:
    if item.stopped:
        return "stopped"
    if item.problem is not None:
        return "failed"
    return "done" if item.files else "waiting"
