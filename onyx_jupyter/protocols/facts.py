"""Single facts that an agent keeps and forgets."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Outcome = Literal["new", "reinforced", "changed"]


@dataclass(frozen=True, slots=True)
class KnownFact:
    """One fact in its current form; `id` is permanent, `since` is when it was first stated (ISO 8601, UTC)."""

    id: str
    text: str
    category: str
    confidence: float
    since: str


@dataclass(frozen=True, slots=True)
class FactOutcome:
    """The outcome of remembering a fact: it was new, was known before, or replaced `former`.

    If it was known in other words, `former` is those. `near` are other facts that it may have made untrue.
    """

    outcome: Outcome
    fact: KnownFact
    former: KnownFact | None = None
    near: tuple[KnownFact, ...] = ()


@dataclass(frozen=True, slots=True)
class FactPreview:
    """The expected outcome: `other` is the fact that it would be merged into, or that would end."""

    outcome: Outcome
    other: KnownFact | None = None


class Facts(Protocol):
    """The facts of one agent."""

    async def remember(
        self,
        text: str,
        category: str | None = None,
        *,
        replaces: str | None = None,
        beside: Collection[str] = (),
        may_end: Collection[str] | None = None,
        session_key: str | None = None,
        turn: str | None = None,
    ) -> FactOutcome:
        """Keeps the fact, or adds weight to the same one; `replaces` is the id of one that is no longer true.

        `beside` are the ids of facts that stay true with it, however similar they are.
        `may_end` are the ids of facts that may end with it, None if any may.
        Raises: ToolError if the text is refused, there is no such id or another fact would end, StorageError.
        """
        ...

    async def preview_remember(
        self, text: str, *, replaces: str | None = None, beside: Collection[str] = ()
    ) -> FactPreview:
        """The outcome if the fact were remembered now. Raises: as `remember`."""
        ...

    async def matching(self, pattern: str) -> Sequence[KnownFact]:
        """Facts that contain the words (`*` matches anything), or the one with that id. Raises: StorageError."""
        ...

    async def forget(self, ids: Sequence[str], *, session_key: str | None = None) -> Sequence[KnownFact]:
        """Removes these facts from the file and returns those that existed. Raises: ToolError, StorageError."""
        ...
