"""A way to an embedder, before it is known whether it leads anywhere. It never holds behaviour."""

from __future__ import annotations

from typing import Literal, Protocol

from onyx_jupyter.protocols.retrieval import Embedder, EmbedderIdentity

Purpose = Literal["passage", "query"]


class EmbedderSource(Protocol):
    """Where an embedder may be. `provider` is that of its identity, `title` what a person calls it.

    `expected`: its absence is worth a word, since somebody set it up or it comes with the installation.
    `in_process`: texts do not leave this process, so nothing has to be taken out of them.
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
        """The embedder, after a look at whether it is there; within seconds. Raises: EmbeddingError."""
        ...

    async def still_has(self, identity: EmbedderIdentity) -> bool:
        """Whether it would open that one now, as far as it can say without embedding. Raises: EmbeddingError."""
        ...

    async def close(self) -> None:
        """Lets go of memory, threads and connections."""
        ...
