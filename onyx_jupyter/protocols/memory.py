"""The Markdown files of an agent's workspace, as the agent reads and writes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

MemoryAuthor = Literal["user", "agent", "consolidation"]


@dataclass(frozen=True, slots=True)
class BootstrapFile:
    """A file that is part of every prompt; `left_out` counts the characters at its end that did not fit."""

    name: str
    text: str
    size: int
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class MemoryText:
    """A file's text, and the checksum on which a change is based."""

    path: str
    text: str
    checksum: str


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A state of a file from `at` on (ISO 8601, UTC); `author` made it.

    `number` counts from 1 and is never reused; `checksum` is the content's SHA-256 in hex, empty if the file was
    deleted; `restored` is the version that this one brought back.
    """

    number: int
    at: str
    author: MemoryAuthor
    checksum: str
    size_bytes: int
    session_key: str | None = None
    restored: int | None = None


class Memory(Protocol):
    """The Markdown files of one agent's workspace."""

    async def read(self, path: str, *, start_line: int = 1, line_count: int | None = None) -> str:
        """Lines of a memory file, `start_line` counted from 1. Raises: ToolError."""
        ...

    async def write(
        self,
        content: str,
        target: str | None = None,
        *,
        author: MemoryAuthor = "agent",
        session_key: str | None = None,
    ) -> str:
        """Appends to today's file, or to a section of MEMORY.md; returns the path. Raises: ToolError, StorageError."""
        ...

    async def versions(self, path: str) -> Sequence[FileVersion]:
        """The versions of a file, oldest first and the current one last. Raises: ToolError, StorageError."""
        ...

    async def version_content(self, path: str, number: int) -> MemoryText:
        """The content of that version, empty if the file was deleted. Raises: NotFound, ToolError, StorageError."""
        ...

    async def restore(
        self,
        path: str,
        number: int,
        *,
        author: MemoryAuthor,
        based_on: str | None = None,
        session_key: str | None = None,
    ) -> FileVersion | None:
        """Makes an earlier version current; `based_on` is the checksum of what the user saw.

        Raises: NotFound, MemoryConflict, ToolError, StorageError.
        """
        ...

    def state(self, real: Path) -> str | None:
        """The current state of that memory file, on which a change is based; None for other files.

        Blocks. Raises: ToolError, StorageError.
        """
        ...

    def writing(
        self,
        real: Path,
        content: bytes,
        *,
        author: MemoryAuthor,
        session_key: str | None = None,
        based_on: str | None = None,
    ) -> AbstractContextManager[Callable[[bytes | None], None]]:
        """A context around code that writes `content` to that real file: both states of a memory file are kept.

        `based_on` is the `state` from which the content was made, None if the file may have changed since. Call the
        yielded function with the content that is being replaced: it raises if the file has changed.

        Blocks. Raises: MemoryConflict, ToolError, StorageError.
        """
        ...

    def why_asked(self, real: Path) -> str:
        """Why any tool needs an approval to write that real file, whatever was allowed; empty for other files."""
        ...

    async def bootstrap_files(self) -> Sequence[BootstrapFile]:
        """The files that are part of every prompt, in the prompt's order; empty ones are left out."""
        ...
