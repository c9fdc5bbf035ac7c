"""A memory during whose work somebody else does something: another save, an error of the disk, the process's end."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from onyx_jupyter.clock import Clock
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.storage import atomic_swap as take_place
from onyx_jupyter.storage.versions import Recorded, VersionStore


class Killed(BaseException):
    """The process is no more."""


class InterruptedStore(VersionStore):
    """Before it keeps a state, what is next in `meanwhile` is done; the file was looked at just before."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        super().__init__(folder, clock)
        self.meanwhile: list[Callable[[], object]] = []

    def record(self, *arguments: Any, **more: Any) -> Recorded:
        if self.meanwhile:
            self.meanwhile.pop(0)()
        return super().record(*arguments, **more)


class Steps:
    """Whatever is about to be done to the disk is counted; `meanwhile` is called first, by its number or what it is.

    After `kill` nothing reaches the disk any more, whoever cleans up.
    """

    def __init__(self, meanwhile: dict[int | str, Callable[[], object]] | None = None) -> None:
        self.meanwhile = meanwhile or {}
        self.count = 0
        self._is_dead = False
        self._is_other = False

    def kill(self) -> None:
        self._is_dead = True
        raise Killed

    def fail(self) -> None:
        raise OSError(errno.EIO, "the disk fails")

    @contextmanager
    def counted(self) -> Iterator[None]:
        real = [(os, "link"), (os, "rename"), (os, "replace"), (os, "unlink"), (VersionStore, "record")]
        real += [(take_place, "swap"), (take_place, "content_at")]
        patches = [mock.patch.object(owner, name, self._step(name, getattr(owner, name))) for owner, name in real]
        patches.append(mock.patch.object(os, "fsync", self._step("fsync", lambda descriptor: None)))
        with ExitStack() as stack:
            for patch in patches:
                stack.enter_context(patch)
            yield

    def _step(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **more: Any) -> Any:
            if not self._is_other:
                self._next(name)
            return real(*arguments, **more)

        return call

    def _next(self, name: str) -> None:
        if self._is_dead:
            raise Killed
        meanwhile = [self.meanwhile.pop(key, None) for key in (name, self.count)]
        self.count += 1
        self._is_other = True
        try:
            for one in meanwhile:
                if one is not None:
                    one()
        finally:
            self._is_other = False


async def texts(memory: MemoryFiles, path: str) -> list[tuple[str, str]]:
    """Author and text of each version, the oldest first."""
    found = await memory.versions(path)
    return [(version.author, (await memory.version_content(path, version.number)).text) for version in found]
