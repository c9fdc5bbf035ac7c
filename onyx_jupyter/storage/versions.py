"""Keeps every state of a file: records, lists, reads and prunes versions.

`<folder>/<owner>/<path>.jsonl` lists a file's versions, oldest first; `<folder>/contents/ab/<sha256>.z` holds each
content once, compressed. A content is on disk before the line that names it, so every listed version can be read. Lines
of a newer Onyx that this one cannot read are kept, together with what they name.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

from onyx_jupyter.clock import Clock, timestamp
from onyx_jupyter.errors import NotFound, StorageError
from onyx_jupyter.protocols import FileVersion, MemoryAuthor
from onyx_jupyter.storage.atomic_write import make_private_folder, write_bytes_atomically
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.jsonl import append_line, encode_line, read_lines
from onyx_jupyter.storage.shared_lock import SharedLock

SCHEMA_VERSION = 1
MAX_PER_FILE = 50
MAX_BYTES = 200_000_000
CONTENTS = "contents"
SHARED_OWNER = "_shared"
_LONGEST_NAME = 200
# Between two checks of the total size, this share of the limit may be added.
_ADDED_SHARE = 20
_LINE_BYTES = 200
_AUTHORS: tuple[MemoryAuthor, ...] = get_args(MemoryAuthor)


@dataclass(frozen=True, slots=True)
class VersionedFile:
    """A file by its owner (an agent's id, "" for shared files) and its path among the owner's files."""

    owner: str
    path: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """The newest version of a file, None if it never existed; `is_new` says that it was not known before."""

    version: FileVersion | None
    is_new: bool


class VersionStore:
    """The versions of all files of one home. To write a file, hold the lock `held`, which covers all servers on it.

    Every method blocks: call them in a worker thread.
    """

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        *,
        max_bytes: Callable[[], int] = lambda: MAX_BYTES,
        max_per_file: int = MAX_PER_FILE,
        on_grown: Callable[[], None] | None = None,
    ) -> None:
        """The newest `max_per_file` versions of each file stay, even beyond `max_bytes`.

        `on_grown` is called when `prune` should run, so that it can be done without blocking anyone: after the first
        version that a process records, however short-lived it is, and when much was added. None runs it at once.
        """
        self._folder = folder
        self._clock = clock
        self._max_bytes = max_bytes
        self._kept = max_per_file
        self._on_grown = on_grown or self.prune
        self._lock = SharedLock(folder / "versions")
        self._added = 0
        self._has_grown = False

    def held(self) -> AbstractContextManager[None]:
        """Locks recording; reentrant. Raises: StorageError."""
        return self._lock.held()

    def record(
        self,
        file: VersionedFile,
        content: bytes | None,
        author: MemoryAuthor,
        *,
        session_key: str | None = None,
        restored: int | None = None,
    ) -> Recorded:
        """Records the file's new content (None: deleted), unless that is its newest version already.

        `restored` is the version that was restored. Raises: StorageError.
        """
        with self.held():
            log = self._log(file)
            lines = _lines(log)
            newest = next((line for line in reversed(lines) if isinstance(line.get("checksum"), str)), None)
            checksum = checksum_of(content) if content is not None else ""
            if (newest["checksum"] if newest else "") == checksum:
                return Recorded(_from_json(newest) if newest else None, is_new=False)
            version = FileVersion(
                number=max((line["version"] for line in lines if isinstance(line.get("version"), int)), default=0) + 1,
                at=timestamp(self._clock.now()),
                author=author,
                checksum=checksum,
                size_bytes=len(content or b""),
                session_key=session_key,
                restored=restored,
            )
            if content is not None:
                self._keep(checksum, content)
            make_private_folder(log.parent)
            append_line(log, _to_json(file, version))
            self._grown(_LINE_BYTES)
            return Recorded(version, is_new=True)

    def history(self, file: VersionedFile) -> Sequence[FileVersion]:
        """Oldest first; skips unreadable lines. Raises: StorageError."""
        return _known(_lines(self._log(file)))

    def files(self, owner: str) -> Sequence[VersionedFile]:
        """The files that have versions, sorted by path. Raises: StorageError."""
        paths = (_path_in(log) for log in self._logs(owner or SHARED_OWNER))
        return [VersionedFile(owner, path) for path in sorted(path for path in paths if path is not None)]

    def read(self, file: VersionedFile, number: int) -> bytes:
        """That version's content. Raises: NotFound, StorageError if it is damaged."""
        found = next((version for version in self.history(file) if version.number == number), None)
        if found is None:
            raise NotFound(f"There is no version {number} of {file.path}.", hint="List the versions first.")
        if not found.checksum:
            raise NotFound(f"{file.path} was deleted in version {number}, so it has no content.")
        place = self._place(found.checksum)
        with disk_errors("read", place):
            packed = place.read_bytes()
        content = _unpacked(packed, found.size_bytes)
        if content is None or checksum_of(content) != found.checksum:
            raise StorageError(f"Version {number} of {file.path} is damaged on disk and cannot be read.")
        return content

    def prune(self) -> int:
        """Deletes the oldest versions until the rest fits, never a file's newest ones. Returns how many.

        Also deletes contents that no line names. If everything fits, recording is not blocked. Raises: StorageError.
        """
        self._added = 0
        if self._size_bytes() <= self._max_bytes():
            return 0
        with self.held(), disk_errors("thin", self._folder):
            lines = {log: _lines(log) for log in self._logs("*")}
            sizes = {place.stem: place.stat().st_size for place in self._contents()}
            named = Counter(str(line.get("checksum")) for found in lines.values() for line in found)
            total = sum(size for checksum, size in sizes.items() if checksum in named)
            total += sum(log.stat().st_size for log in lines)
            spare = [(*one, log) for log, found in lines.items() for one in _aged(_known(found))[: -self._kept]]
            gone: dict[Path, set[int]] = {}
            max_bytes = self._max_bytes()
            for _, version, log in sorted(spare, key=lambda one: (one[0], one[1].number)):
                if total <= max_bytes:
                    break
                gone.setdefault(log, set()).add(version.number)
                named[version.checksum] -= 1
                total -= sizes.get(version.checksum, 0) * (not named[version.checksum]) + _LINE_BYTES
            for log, numbers in gone.items():
                left = (line for line in lines[log] if (one := _from_json(line)) is None or one.number not in numbers)
                write_bytes_atomically(log, b"".join(encode_line(line) + b"\n" for line in left))
            for checksum in sizes.keys() - {checksum for checksum, count in named.items() if count > 0}:
                self._place(checksum).unlink(missing_ok=True)
            return sum(map(len, gone.values()))

    def _grown(self, size_bytes: int) -> None:
        """Requests `prune` at the first growth in this process, and when much was added since it last ran."""
        is_first, self._has_grown = not self._has_grown, True
        self._added += size_bytes
        if is_first or self._added > self._max_bytes() // _ADDED_SHARE:
            self._on_grown()

    def _size_bytes(self) -> int:
        """The approximate size on disk: others may be writing."""
        total = 0
        for place in (*self._logs("*"), *self._contents()):
            with suppress(FileNotFoundError):
                total += place.stat().st_size
        return total

    def _keep(self, checksum: str, content: bytes) -> None:
        place = self._place(checksum)
        if place.exists():
            return
        packed = zlib.compress(content)
        make_private_folder(place.parent)
        write_bytes_atomically(place, packed)
        self._added += len(packed)

    def _log(self, file: VersionedFile) -> Path:
        name = quote(file.path, safe="")
        name = name if len(name) <= _LONGEST_NAME else hashlib.sha256(file.path.encode()).hexdigest()
        return self._folder / (file.owner or SHARED_OWNER) / f"{name}.jsonl"

    def _logs(self, owner: str) -> list[Path]:
        with disk_errors("list", self._folder):
            return sorted(self._folder.glob(f"{owner}/*.jsonl"))

    def _place(self, checksum: str) -> Path:
        return self._folder / CONTENTS / checksum[:2] / f"{checksum}.z"

    def _contents(self) -> list[Path]:
        with disk_errors("list", self._folder):
            return sorted(self._folder.glob(f"{CONTENTS}/*/*.z"))


def checksum_of(content: bytes) -> str:
    """SHA-256, in hex: the name of a content, here and in the index."""
    return hashlib.sha256(content).hexdigest()


def _unpacked(packed: bytes, size_bytes: int) -> bytes | None:
    """Decompresses at most the expected size, whatever is on disk; None if it is not compressed content."""
    with suppress(zlib.error):
        return zlib.decompressobj().decompress(packed, size_bytes + 1)
    return None


def _lines(log: Path) -> Sequence[dict[str, Any]]:
    return read_lines(log).objects if log.exists() else ()


def _known(lines: Sequence[Mapping[str, Any]]) -> list[FileVersion]:
    found = (_from_json(line) for line in lines)
    return [version for version in found if version is not None]


def _aged(versions: Sequence[FileVersion]) -> list[tuple[str, FileVersion]]:
    """Each version with an upper bound of its time: that of a later one if the clock was set back since."""
    aged: list[tuple[str, FileVersion]] = []
    earliest = ""
    for version in reversed(versions):
        earliest = min(filter(None, (earliest, version.at)), default="")
        aged.append((earliest, version))
    return aged[::-1]


def _path_in(log: Path) -> str | None:
    """The path of the file that the log belongs to."""
    paths = (line.get("path") for line in read_lines(log).objects)
    return next((path for path in paths if isinstance(path, str)), None)


def _to_json(file: VersionedFile, version: FileVersion) -> dict[str, Any]:
    line = {
        "schema_version": SCHEMA_VERSION,
        "version": version.number,
        "at": version.at,
        "path": file.path,
        "author": version.author,
        "checksum": version.checksum,
        "size": version.size_bytes,
        "session": version.session_key,
        "restored": version.restored,
    }
    return {name: value for name, value in line.items() if value is not None}


def _from_json(line: Mapping[str, Any]) -> FileVersion | None:
    number, checksum, size_bytes = line.get("version"), line.get("checksum"), line.get("size")
    session, restored = line.get("session"), line.get("restored")
    author = next((name for name in _AUTHORS if name == line.get("author")), None)
    if not (isinstance(number, int) and isinstance(checksum, str) and isinstance(size_bytes, int)):
        return None
    if author is None or not isinstance(session, str | None) or not isinstance(restored, int | None):
        return None
    return FileVersion(number, str(line.get("at", "")), author, checksum, size_bytes, session, restored)
