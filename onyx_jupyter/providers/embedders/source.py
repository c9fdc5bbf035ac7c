"""The interface of a possible embedder, before it is known whether it is available."""

from __future__ import annotations

from typing import Literal, Protocol

from onyx_jupyter.messages import Usage
from onyx_jupyter.protocols.retrieval import Embedder, EmbedderIdentity

Purpose = Literal["passage", "query"]


class EmbeddingMeter(Protocol):
    """Counts the calls of an embedder that may be paid for; `model_id` is provider/model."""

    async def admit(self, model_id: str) -> None:
        """Checks the budget before a call. Raises: EmbeddingError."""
        ...

    async def record(self, model_id: str, usage: Usage) -> None: ...


class EmbedderSource(Protocol):
    """A possible embedder. `provider` is that of its identity, `title` the name shown to people.

    `expected`: its absence is worth reporting, since the user set it up or it comes with the installation.
    `in_process`: texts do not leave this process, so nothing has to be redacted.
    """

    @property
    def provider(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def expected(self) -> bool: ...

    @property
    def in_process(self) -> bool: ...

    async def open(self) -> Embedder:
        """The embedder, after checking that it is available; within seconds. Raises: EmbeddingError."""
        ...

    async def still_has(self, identity: EmbedderIdentity) -> bool:
        """Whether it would open that one now, as far as it can tell without embedding. Raises: EmbeddingError."""
        ...

    async def close(self) -> None:
        """Releases memory, threads and connections."""
        ...
