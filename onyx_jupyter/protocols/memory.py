"""The Markdown files of an agent's workspace, as the agent reads and writes them. It never holds behaviour."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

MemoryAuthor = Literal["user", "agent", "consolidation"]


@dataclass(frozen=True, slots=True)
class BootstrapFile:
    """A file that belongs into every prompt; `left_out` counts the characters at its end that did not fit."""

    name: str
    text: str
    size: int
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class MemoryText:
    """A file's text, and the checksum on which a change of it is based."""

    path: str
    text: str
    checksum: str


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A state that a file was in from `at` on (ISO 8601, UTC); `author` brought it about.

    `number` counts from 1 and is never given twice; `checksum` is the content's SHA-256 in hex, empty where the file
    was deleted; `restored` is the version that was brought back by it.
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
        """Appends to today's file, or to a section of MEMORY.md; the path written. Raises: ToolError, StorageError."""
        ...

    async def versions(self, path: str) -> Sequence[FileVersion]:
        """What a file was, the oldest first and the last as it is now. Raises: ToolError, StorageError."""
        ...

    async def version_content(self, path: str, number: int) -> MemoryText:
        """What the file was then, empty where it was deleted. Raises: NotFound, ToolError, StorageError."""
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
        """Makes a former version the present one; `based_on` is the checksum of what its person saw.

        Raises: NotFound, MemoryConflict, ToolError, StorageError.
        """
        ...

    def state(self, real: Path) -> str | None:
        """What a change of that memory file is based on, as it is now; None for other files.

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
        """Around whatever puts `content` into that real file: of a memory file both states are kept.

        `based_on` is the `state` from which the content was made, None where the file may have changed since. What
        comes out is to be called with what the content replaces: it raises where the file has changed.

        Blocks. Raises: MemoryConflict, ToolError, StorageError.
        """
        ...

    def why_asked(self, real: Path) -> str:
        """Why a person is asked before any tool writes that real file, whatever was allowed; empty for other files."""
        ...

    async def bootstrap_files(self) -> Sequence[BootstrapFile]:
        """The files that belong into every prompt, in the prompt's order; empty ones left out."""
        ...
