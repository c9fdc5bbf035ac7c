"""Manages which table of a collection serves, shared by all processes on one home.

`<name>.json` beside the tables names the serving table, and the one being built to follow it. Table names are never
reused, so a process that still writes to a deleted or replaced table writes where nothing is read.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from onyx_jupyter.clock import IdSource, SystemClock
from onyx_jupyter.errors import IndexUnavailable, StorageError
from onyx_jupyter.protocols.retrieval import EmbedderIdentity
from onyx_jupyter.storage.atomic_write import PRIVATE_FILE, make_private_folder, write_text_atomically
from onyx_jupyter.storage.lance import LanceFolder, LanceTable
from onyx_jupyter.storage.shared_lock import SharedLock

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
_log = logging.getLogger(__name__)
_DAMAGED = "damaged"
_TRIES = 5
# Errors of the machine, not of the table: the data on disk may be intact, and is left as it is.
_MACHINE_ERRORS = (
    "permission denied",
    "no space left",
    "read-only",
    "too many open files",
    "quota",
    "out of memory",
    "cannot allocate memory",
    "input/output error",
    "stale file handle",
    "stale nfs file handle",
    "timed out",
    "transport endpoint",
    "host is down",
    "no route to host",
    "device or resource busy",
    "temporarily unavailable",
)
_OS_ERROR = re.compile(r"os error (\d+)")
_MACHINE_ERRNOS = {
    errno.EACCES,
    errno.EAGAIN,
    errno.EBUSY,
    errno.ECONNREFUSED,
    errno.ECONNRESET,
    errno.EDQUOT,
    errno.EHOSTDOWN,
    errno.EHOSTUNREACH,
    errno.EINTR,
    errno.EIO,
    errno.EMFILE,
    errno.ENETDOWN,
    errno.ENETUNREACH,
    errno.ENFILE,
    errno.ENOMEM,
    errno.ENOSPC,
    errno.ENOTCONN,
    errno.EPERM,
    errno.EROFS,
    errno.ESTALE,
    errno.ETIMEDOUT,
}


class TableState(BaseModel):
    """A table and whose vectors it holds; None: no vectors."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    identity: EmbedderIdentity | None


class CollectionState(BaseModel):
    """What `<name>.json` holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    serving: TableState
    following: TableState | None = None


class LanceCollection:
    """One collection. A lost or damaged table is recreated empty, and `on_emptied` is called (in a thread).

    `identity` is the embedder of tables to be created; the owner keeps it up to date.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        schema: Callable[[EmbedderIdentity | None], pa.Schema],
        *,
        keys: Sequence[str],
        groups: Sequence[str] = (),
        words: str | None = None,
        on_emptied: Callable[[str], None] = lambda why: None,
        ids: IdSource | None = None,
    ) -> None:
        self.identity: EmbedderIdentity | None = None
        self._folder = LanceFolder(folder)
        self._name = name
        self._schema = schema
        self._keys = keys
        self._groups = groups
        self._words = words
        self._on_emptied = on_emptied
        self._ids = ids or IdSource(SystemClock())
        self._lock = SharedLock(folder / f"{name}.json")
        self._opened: dict[str, LanceTable] = {}
        self._served: str | None = None
        self._known_state: tuple[tuple[int, ...], CollectionState] | None = None

    def state(self) -> CollectionState:
        """The current state; creates an empty table if there is none. Raises: IndexUnavailable."""
        state = self._read_state()
        if state is None or not self._folder.has(state.serving.name):
            state = self._recreate("The index was deleted and is being rebuilt.")
        self._served = state.serving.name
        return state

    def has_table(self) -> bool:
        """Whether a table exists, so that none has to be created. Raises: IndexUnavailable."""
        state = self._read_state()
        return state is not None and self._folder.has(state.serving.name)

    def read(self, work: Callable[[LanceTable, TableState], T]) -> T:
        """Runs `work` on the serving table; retries if the table was replaced, lost or damaged meanwhile."""
        for attempt in range(1, _TRIES + 1):
            try:
                table_state = self.state().serving
            except IndexUnavailable:
                if self._folder.path.is_dir() or attempt == _TRIES:
                    raise
                continue  # the folder was deleted while its first table was created
            try:
                return work(self._open(table_state.name), table_state)
            except IndexUnavailable as error:
                self._diagnose(table_state, error)
        raise IndexUnavailable(f"The index {self._name} keeps being deleted while it is in use.")

    def write(self, work: Callable[[LanceTable, TableState], T]) -> T:
        """Like `read`, with other processes kept from writing; repeats it if the folder was deleted meanwhile."""
        with self.locked():
            result = self.read(work)
            if self._read_state() is None:
                result = self.read(work)
            return result

    def table(self, state: TableState) -> LanceTable:
        """Raises: IndexUnavailable."""
        return self._open(state.name)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One writer at a time. Reentrant. Raises: IndexUnavailable."""
        with _index_errors(), self._lock.held():
            yield

    def following_lock(self) -> FollowingLock:
        """The lock for long work by one process: building the following table or the vector index."""
        return FollowingLock(self._folder.path / f"{self._name}.following.lock")

    def begin_following(self) -> TableState:
        """The table to be filled with vectors of `identity`; continues one that was begun before."""
        with self.locked():
            state = self.state()
            following = state.following
            if following and following.identity == self.identity and self._folder.has(following.name):
                return following
            following = self._create()
            self._write_state(state.model_copy(update={"following": following}))
            self._drop_others()
            return following

    def swap(self, following: TableState) -> bool:
        """Makes the following table serve; False if another process has decided otherwise."""
        with self.locked():
            state = self._read_state()
            if state is None or state.following != following:
                return False
            self._write_state(CollectionState(serving=following))
            self._drop_others()
            return True

    def _open(self, name: str) -> LanceTable:
        table = self._opened.get(name)
        if table is None:
            table = self._opened[name] = self._folder.open(name)
        return table

    def _diagnose(self, table_state: TableState, error: IndexUnavailable) -> None:
        """Returns if a retry is worthwhile. Raises: `error` if the table is intact or the machine is at fault."""
        self._opened.pop(table_state.name, None)
        state = self._read_state()
        if state is None or state.serving != table_state or not self._folder.has(table_state.name):
            return
        if not _is_table_error(error):
            raise error
        try:
            self._open(table_state.name).check_rows(self._schema(table_state.identity))
        except IndexUnavailable as found:
            if not _is_table_error(found):
                raise error from None
            self._move_aside(table_state, found)
            return
        try:
            self._open(table_state.name).check_indices()
        except IndexUnavailable as found:
            self._repair(table_state, found)
            return
        if self._folder.has(table_state.name):
            raise error

    def _repair(self, table_state: TableState, why: IndexUnavailable) -> None:
        """Rebuilds the indices of a table with readable rows."""
        _log.warning("The index %s no longer finds anything and is being repaired: %s", self._name, why)
        with self.locked():
            try:
                self._open(table_state.name).index(self._words, self._keys, self._groups)
            except IndexUnavailable as error:
                self._move_aside(table_state, error)

    def _move_aside(self, table_state: TableState, why: IndexUnavailable) -> None:
        with self.locked():
            state = self._read_state()
            if state is None or state.serving != table_state:
                return  # another process was faster
            target = self._folder.path / _DAMAGED / self._name
            with _index_errors():
                if not self._folder.move_aside(table_state.name, target):
                    return  # it was deleted meanwhile
            _log.warning(
                "The index %s is damaged and is being rebuilt; the old one is in %s: %s", self._name, target, why
            )
            self._recreate(f"The index was damaged and is being rebuilt. {why}")

    def _recreate(self, why: str) -> CollectionState:
        with self.locked():
            state = self._read_state()
            if state is not None and self._folder.has(state.serving.name):
                return state
            self._opened.clear()
            state = CollectionState(serving=self._create())
            if self._served is not None:
                self._on_emptied(why)  # before any process can see the empty table and take it for complete
            self._write_state(state)
            self._drop_others()
        return state

    def _create(self) -> TableState:
        identity, name = self.identity, f"{self._name}-{self._ids.new().lower()}"
        with _index_errors():
            self._opened[name] = self._folder.create(
                name, self._schema(identity), words=self._words, keys=self._keys, groups=self._groups
            )
        return TableState(name=name, identity=identity)

    def _drop_others(self) -> None:
        """Deletes tables left by crashes and swaps; call it under the lock, with the state on disk."""
        state = self._read_state()
        if state is None:
            return
        kept = {table.name for table in (state.serving, state.following) if table}
        mine = [name for name in self._folder.names() if name.rpartition("-")[0] == self._name]
        for name in set(mine) - kept:
            self._opened.pop(name, None)
            self._folder.drop(name)

    @property
    def _state_file(self) -> Path:
        return self._folder.path / f"{self._name}.json"

    def _read_state(self) -> CollectionState | None:
        try:
            return self._parsed_state()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise IndexUnavailable(f"Could not read {self._state_file}: {os.strerror(error.errno or 0)}") from error
        except ValidationError:
            _log.warning("%s is not readable; the index %s is being rebuilt.", self._state_file, self._name)
            return None

    def _parsed_state(self) -> CollectionState:
        """The file is never written in place, so a changed file has another stamp."""
        status = self._state_file.stat()
        stamp = (status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size)
        if self._known_state is None or self._known_state[0] != stamp:
            self._known_state = stamp, CollectionState.model_validate_json(self._state_file.read_bytes())
        return self._known_state[1]

    def _write_state(self, state: CollectionState) -> None:
        with _index_errors():
            write_text_atomically(self._state_file, state.model_dump_json(indent=1) + "\n")


class FollowingLock:
    """A lock for one owner, which takes it at most once and finally gives it back. All methods block."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = FileLock(file, thread_local=False, mode=PRIVATE_FILE)
        self._changing = threading.Lock()
        self._is_released = False
        self._under_way = 0

    def take(self) -> bool:
        """Tries to take the lock without waiting. Raises: IndexUnavailable."""
        with self._changing:
            if self._is_released:  # by an owner that was cancelled and did not wait for this
                return False
            with _index_errors():
                make_private_folder(self._file.parent)
            try:
                self._lock.acquire(blocking=False)
            except (Timeout, OSError):
                return False
            return True

    def during(self, work: Callable[[], None]) -> None:
        """Runs `work`, unless the lock was given back; a `release_lock` meanwhile takes effect when it has ended."""
        with self._changing:
            if self._is_released:
                return
            self._under_way += 1
        try:
            work()
        finally:
            with self._changing:
                self._under_way -= 1
                self._release()

    def release_lock(self) -> None:
        """Gives the lock back, taken or not."""
        with self._changing:
            self._is_released = True
            self._release()

    def _release(self) -> None:
        if self._is_released and not self._under_way:
            self._lock.release()


def _is_table_error(error: IndexUnavailable) -> bool:
    """Whether the table is at fault: neither the error nor its cause names an error of disk, network or memory."""
    said = f"{error}\n{error.__cause__ or ''}".casefold()
    numbers = {int(number) for number in _OS_ERROR.findall(said)}
    return not (numbers & _MACHINE_ERRNOS) and not any(words in said for words in _MACHINE_ERRORS)


@contextmanager
def _index_errors() -> Iterator[None]:
    """Raises IndexUnavailable for StorageError: without an index, the files can still be read."""
    try:
        yield
    except StorageError as error:
        raise IndexUnavailable(str(error), hint=error.hint) from error
