"""What the features of one server bring that others use without knowing whose it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pydantic import BaseModel

from onyx_jupyter.agent.processor import Processor
from onyx_jupyter.toolsets.toolset import Toolset


class Contributions(Protocol):
    """Of the features that work; each list in the order of the features, the same from message to message."""

    def toolsets(self) -> Sequence[Toolset]:
        """What models can call."""
        ...

    def prompt_sections(self) -> Sequence[str]:
        """What the features have to say in the system prompt."""
        ...

    def processors(self) -> Sequence[Processor]:
        """New ones for one run."""
        ...

    async def prepare(self) -> None:
        """Loads what an answer will need. One that fails keeps none from it."""
        ...

    def catch_up(self) -> None:
        """Has their indexes follow what there is to be found, in the background."""
        ...

    def settings(self) -> Mapping[str, type[BaseModel]]:
        """The sections of onyx.json, by name; those of failed features, too."""
        ...


class Preparation(Protocol):
    """Has everything loaded that an answer needs."""

    def begin(self) -> None:
        """A person begins to write. Returns at once."""
        ...

    def follow(self) -> None:
        """A message was sent that nobody was seen writing. Returns at once."""
        ...
