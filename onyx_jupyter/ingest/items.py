"""What was added, and which of its files were read: `knowledge/documents.json`. It reads no document.

The list is the truth of what belongs to the knowledge; the index is made from the places that it names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from onyx_jupyter.errors import StorageError
from onyx_jupyter.events import to_camel
from onyx_jupyter.protocols.knowledge import KnowledgeKind
from onyx_jupyter.storage.atomic_write import make_private_folder, write_text_atomically
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.shared_lock import SharedLock


class _Stored(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", strict=True, frozen=True)


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
    `stopped`: its person ended the reading. `problem` is of the item as a whole. What has a `removed_at` is found no
    more, and is kept for a while so that this can be undone.
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
    model_config = ConfigDict(extra="forbid", strict=True)

    schema_version: Literal[1] = 1
    items: list[Item]


class ItemStore:
    """The list, shared by all servers on one home. Each call blocks and reads the file anew."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = SharedLock(path)

    def all(self) -> Sequence[Item]:
        """The oldest first, removed ones too. Raises: StorageError.

        Where the file is damaged nothing is changed in it.
        """
        try:
            with disk_errors("read", self._path):
                text = self._path.read_text("utf-8")
        except StorageError:
            if not self._path.exists():
                return []
            raise
        except UnicodeDecodeError as error:
            raise self._damaged() from error
        try:
            return _File.model_validate_json(text).items
        except ValidationError as error:
            raise self._damaged() from error

    def add(self, item: Item) -> Item:
        """The item, or the one that has been there for that location, removed or not. Raises: StorageError."""

        def is_same(one: Item) -> bool:
            return (one.kind, one.location) == (item.kind, item.location)

        def change(items: Sequence[Item]) -> Sequence[Item]:
            there = [one.model_copy(update={"removed_at": None}) if is_same(one) else one for one in items]
            return there if any(map(is_same, items)) else [*items, item]

        return next(filter(is_same, self._change(change)))

    def replace(self, item: Item) -> None:
        """In the place of the one with its id; one that was removed meanwhile stays away. Raises: StorageError."""
        self._change(lambda items: [item if one.id == item.id else one for one in items])

    def drop(self, item_id: str) -> None:
        """For good. Raises: StorageError."""
        self._change(lambda items: [one for one in items if one.id != item_id])

    def _change(self, change: Callable[[Sequence[Item]], Sequence[Item]]) -> Sequence[Item]:
        make_private_folder(self._path.parent)
        with self._lock.held():
            old = self.all()
            new = change(old)
            if list(new) != list(old):
                text = _File(items=list(new)).model_dump_json(by_alias=True, exclude_defaults=False, indent=1)
                write_text_atomically(self._path, f"{text}\n")
            return new

    def _damaged(self) -> StorageError:
        return StorageError(
            f"{self._path} is damaged, so what was added to the knowledge is not known.",
            hint="Put a copy of the file back, or move it away and add the documents again.",
        )
