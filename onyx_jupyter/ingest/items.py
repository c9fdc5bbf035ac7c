"""What was added, and which of its files were read: `knowledge/documents.json`.

The list is the source of truth for what belongs to the knowledge; the index is made from the places in it. Removed
items are kept for a while in `removed.json`: an item in both files, after a kill, is not removed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from onyx_jupyter.errors import NotFound, StorageError
from onyx_jupyter.events import to_camel
from onyx_jupyter.ingest.copies import Copies
from onyx_jupyter.protocols.knowledge import FileProblem, KnowledgeItem, KnowledgeKind, ReadingState
from onyx_jupyter.storage.atomic_write import write_text_atomically
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.shared_lock import SharedLock


class _Stored(BaseModel):
    """What a newer Onyx has added to it stays, and defaults are not written, so that an older one can read it."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow", strict=True, frozen=True)


class FileRecord(_Stored):
    """A file as it was last read; `name` is its name in the index.

    `checksum` is "" where it could not be read, `note` what could not be read of it. `size_bytes` and `changed_ns`
    tell without reading it whether it may have changed.
    """

    name: str
    checksum: str
    size_bytes: int
    changed_ns: int
    chunks: int = 0
    title: str = ""
    problem: str | None = None
    note: str | None = None


class Item(_Stored):
    """What was added at once: `location` is an absolute path, a URL, or the name of an uploaded file.

    `agent_id` is whose allowed folders counted; `kept` is the copy of a page or an upload, by its name in `files/`.
    `stopped`: its person ended the reading. `problem` is of the item as a whole. `removed_at` is when it was taken out.
    """

    id: str
    kind: KnowledgeKind
    location: str
    agent_id: str
    added_at: str
    kept: str | None = None
    stopped: bool = False
    problem: str | None = None
    removed_at: str | None = None
    files: tuple[FileRecord, ...] = ()


class _File(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    schema_version: Literal[1]
    items: Sequence[Item]


class ItemStore:
    """The list, shared by all servers on one home. Every method blocks, reads the files and may raise StorageError.

    A damaged list of documents is left as it is. A damaged list of removed items, which only serves undo, is put aside
    by the next removal.
    """

    def __init__(self, folder: Path) -> None:
        self.copies = Copies(folder / "files")
        self._path = folder / "documents.json"
        self._removed_path = folder / "removed.json"
        self._lock = SharedLock(self._path)

    def all(self) -> Sequence[Item]:
        """Oldest first."""
        return _present(self._load(self._path))

    def one(self, item_id: str) -> Item:
        """Raises: NotFound."""
        return _found(item_id, next((one for one in self.all() if one.id == item_id), None))

    def add(self, item: Item, copy: bytes | None = None) -> Item:
        """Adds the item, or returns the known one for its location, even if removed; `copy` becomes its `kept` file."""
        with self._lock.held():
            place = (item.kind, item.location)
            there = self._bring(lambda one: (one.kind, one.location) == place, self._known_removed())
            if item.kept is not None and copy is not None:
                self.copies.keep(item.kept, copy)
            return there or self._put(item)

    def restore(self, item_id: str) -> Item:
        """Restores a removed item; returns an existing one. Raises: NotFound if it was removed for good."""
        with self._lock.held():
            return _found(item_id, self._bring(lambda one: one.id == item_id, self._load(self._removed_path)))

    def keep_copy(self, item_id: str, name: str, data: bytes) -> Item:
        """Replaces the item's copy. Raises: as `change`."""
        with self._lock.held():
            former = self.one(item_id).kept
            self.copies.keep(name, data)
            item = self.change(item_id, kept=name)
            if former not in (None, name):
                self.copies.remove(former)
            return item

    def change(self, item_id: str, **changes: object) -> Item:
        """Changes the item. Raises: NotFound if any server has removed it: it stays removed."""
        with self._lock.held():
            documents = self._load(self._path)
            old = _found(item_id, next((one for one in _present(documents) if one.id == item_id), None))
            new = old.model_copy(update=changes)
            if new != old:
                self._write(self._path, documents, [new if one is old else one for one in documents.items])
            return new

    def remove(self, item_id: str, removed_at: str) -> None:
        """Removes the item; it can be restored until `clear`. Raises: NotFound."""
        with self._lock.held():
            gone = self.one(item_id).model_copy(update={"removed_at": removed_at, "files": ()})
            documents, removed = self._load(self._path), self._known_removed()
            self._write_removed(removed, [*_removed(documents, removed), gone])
            self._write(self._path, documents, [one for one in _present(documents) if one.id != item_id])

    def clear(self, before: datetime) -> bool:
        """Deletes for good what was removed before that time, with its copies; False if nothing was ever added.

        A copy that no list names stays: its list may have been moved away, and come back.
        """
        if not self._path.parent.is_dir():
            return False
        with self._lock.held():
            documents, removed = self._load(self._path), self._known_removed()
            away = _removed(documents, removed)
            later = [one for one in away if _is_later(one.removed_at, before)]
            kept = {item.kept for item in (*_present(documents), *later)}
            gone = {one.id for one in away if one not in later and self._is_without_copy(one, kept)}
            left = [one for one in away if one.id not in gone]
            if left != list(removed.items):
                self._write_removed(removed, left)
            present = _present(documents)
            if present != list(documents.items):
                self._write(self._path, documents, present)
        return True

    def _is_without_copy(self, item: Item, kept: Collection[str | None]) -> bool:
        """Whether its copy is gone: deletes it now, unless it is one of the `kept`."""
        return item.kept is None or item.kept in kept or self.copies.remove(item.kept)

    def _bring(self, is_wanted: Callable[[Item], bool], removed: _File) -> Item | None:
        """The wanted item, restored if it was removed."""
        documents = self._load(self._path)
        there = next(filter(is_wanted, _present(documents)), None)
        away = _removed(documents, removed)
        item = next(filter(is_wanted, away), None)
        if there is not None or item is None:
            return there
        back = self._put(item.model_copy(update={"removed_at": None}))
        self._write_removed(removed, [one for one in away if one.id != item.id])
        return back

    def _put(self, item: Item) -> Item:
        documents = self._load(self._path)
        others = [one for one in documents.items if one.id != item.id]
        self._write(self._path, documents, sorted([*others, item], key=lambda one: one.added_at))
        return item

    def _load(self, path: Path) -> _File:
        file = self._read(path)
        if file is None:
            raise self._damaged(path)
        return file

    def _known_removed(self) -> _File:
        """The removed items, empty if unreadable."""
        return self._read(self._removed_path) or _File(schema_version=1, items=[])

    def _read(self, path: Path) -> _File | None:
        """None if it is damaged."""
        try:
            with disk_errors("read", path):
                text = path.read_text("utf-8")
            return _File.model_validate_json(text)
        except StorageError:
            if not path.exists():
                return _File(schema_version=1, items=[])
            raise
        except (UnicodeDecodeError, ValidationError):
            return None

    def _write_removed(self, removed: _File, items: Sequence[Item]) -> None:
        path = self._removed_path
        if self._read(path) is None:
            with disk_errors("move aside", path):
                path.replace(path.with_name(f"{path.name}.damaged"))
        self._write(path, removed, items)

    def _write(self, path: Path, file: _File, items: Sequence[Item]) -> None:
        changed = file.model_copy(update={"items": items})
        write_text_atomically(path, f"{changed.model_dump_json(by_alias=True, exclude_defaults=True, indent=1)}\n")

    def _damaged(self, path: Path) -> StorageError:
        if path == self._removed_path:
            return StorageError(
                f"{path} is damaged, so Onyx no longer knows which documents were removed.",
                hint="Move it away; recently removed documents can then no longer be restored.",
            )
        return StorageError(
            f"{path} is damaged, so Onyx no longer knows which documents were added.",
            hint="Restore the file from a backup, or move it away and add the documents again.",
        )


def _present(documents: _File) -> list[Item]:
    return [item for item in documents.items if item.removed_at is None]


def _removed(documents: _File, removed: _File) -> list[Item]:
    """The removed items; an older Onyx left them in the list of documents."""
    there = {item.id for item in _present(documents)}
    away = {item.id: item for item in (*documents.items, *removed.items) if item.id not in there}
    return list(away.values())


def _found(item_id: str, item: Item | None) -> Item:
    if item is None:
        raise NotFound(f"There is no document {item_id!r}. It may already have been removed.")
    return item


def _is_later(removed_at: str | None, before: datetime) -> bool:
    return removed_at is not None and datetime.fromisoformat(removed_at) > before


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an item has been read: `done` of `total` files were checked."""

    state: ReadingState
    done: int
    total: int


def to_knowledge_item(item: Item, progress: Progress | None, shown: Callable[[str], str]) -> KnowledgeItem:
    """The item as shown to the user; `shown` converts a name in the index. `progress`: None if nothing is going on."""
    progress = progress or Progress(_state(item), len(item.files), len(item.files))
    problems = [(file.name, message) for file in item.files for message in (file.problem, file.note) if message]
    titles = [file.title for file in item.files if file.title] if len(item.files) == 1 else []
    path = shown(item.location)
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
        problems=[FileProblem(shown(name), message) for name, message in problems],
        problem=item.problem,
    )


def _state(item: Item) -> ReadingState:
    if item.stopped:
        return "stopped"
    if item.problem is not None:
        return "failed"
    return "done" if item.files else "waiting"
