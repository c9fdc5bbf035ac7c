"""The interface of every place that a model file can come from: its bytes, starting at an offset."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol


class Source(Protocol):
    """One place. It is not trusted: only the hash decides whether its bytes are accepted."""

    @property
    def name(self) -> str:
        """The name shown to people."""
        ...

    def read(self, offset: int) -> AsyncGenerator[bytes, None]:
        """The file from `offset` on. Closing it ends every connection and process.

        Raises: FileNotAvailable, DownloadInterrupted.
        """
        ...


class FileNotAvailable(Exception):
    """The place does not have the file, or has another one: asking again would change nothing."""


class DownloadInterrupted(Exception):
    """The place could not be reached, or stopped in the middle: it may be resumed later."""
