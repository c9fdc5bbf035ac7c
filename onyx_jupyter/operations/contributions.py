"""What the features of one server contribute for others to use without knowing which feature it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pydantic import BaseModel

from onyx_jupyter.agent.processor import Processor
from onyx_jupyter.toolsets.toolset import Toolset


class Contributions(Protocol):
    """From the features that work; each list in the order of the features, the same from message to message."""

    def toolsets(self) -> Sequence[Toolset]:
        """The toolsets that models can call."""
        ...

    def prompt_sections(self) -> Sequence[str]:
        """The features' sections of the system prompt."""
        ...

    def processors(self) -> Sequence[Processor]:
        """New processors for one run."""
        ...

    async def prepare(self) -> None:
        """Loads what an answer will need. A feature that fails does not block the others."""
        ...

    def catch_up(self) -> None:
        """Brings the features' indexes up to date, in the background."""
        ...

    def settings(self) -> Mapping[str, type[BaseModel]]:
        """The sections of onyx.json, by name, including those of failed features."""
        ...


class Preparation(Protocol):
    """Loads everything that an answer needs."""

    def begin(self) -> None:
        """Called when a person begins to write. Returns at once."""
        ...

    def follow(self) -> None:
        """Called for a message that was sent without a `begin`. Returns at once."""
        ...
