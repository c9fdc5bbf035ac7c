"""Versions during whose keeping somebody else does something: the moment between looking at a file and writing it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from onyx_jupyter.clock import Clock
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.storage.versions import Recorded, VersionStore


class InterruptedStore(VersionStore):
    """Before it keeps a state, what is next in `meanwhile` is done; the file was looked at just before."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        super().__init__(folder, clock)
        self.meanwhile: list[Callable[[], object]] = []

    def record(self, *arguments: Any, **more: Any) -> Recorded:
        if self.meanwhile:
            self.meanwhile.pop(0)()
        return super().record(*arguments, **more)


async def texts(memory: MemoryFiles, path: str) -> list[tuple[str, str]]:
    """Author and text of each version, the oldest first."""
    found = await memory.versions(path)
    return [(version.author, (await memory.version_content(path, version.number)).text) for version in found]
