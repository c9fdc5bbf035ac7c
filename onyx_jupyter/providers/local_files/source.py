"""What every place that a model file comes from can do: give its bytes from an offset on."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol


class Source(Protocol):
    """One place. It is not believed: what it gives counts by its hash alone."""

    @property
    def name(self) -> str:
        """What a person calls it."""
        ...

    def read(self, offset: int) -> AsyncGenerator[bytes, None]:
        """The file from `offset` on. Closing it ends every connection and process. Raises: NotThere, BrokenOff."""
        ...


class NotThere(Exception):
    """The place does not have the file, or not this file: asking again would change nothing."""


class BrokenOff(Exception):
    """The place could not be reached, or stopped in the middle: it may go on later, from where it was."""
