"""Single facts that an agent was told, as the agent keeps and gives them up. It never holds behaviour."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Outcome = Literal["new", "reinforced", "changed"]


@dataclass(frozen=True, slots=True)
class KnownFact:
    """One fact as it stands now; `id` names it for good, `since` is the moment it was first told (ISO 8601, UTC)."""

    id: str
    text: str
    category: str
    confidence: float
    since: str


@dataclass(frozen=True, slots=True)
class FactKept:
    """What became of a fact that was told: it was new, was known before, or took the place of `former`.

    Where it was known in other words, `former` is what these were. `near` are others that it may have made untrue.
    """

    outcome: Outcome
    fact: KnownFact
    former: KnownFact | None = None
    near: tuple[KnownFact, ...] = ()


@dataclass(frozen=True, slots=True)
class FactForeseen:
    """What would become of it: `other` is the fact that it would be known as, or that would end."""

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
        author: Literal["user", "agent", "consolidation"] = "agent",
        session_key: str | None = None,
        turn: str | None = None,
    ) -> FactKept:
        """Keeps it, or adds weight to the same one; `replaces` is the id of one that is true no more.

        `beside` are the ids of those that stay true with it, however close they are.
        `may_end` are the ids of those that may end with it, None where any may.
        Raises: ToolError where the text is refused, there is no such id or another one would end, StorageError.
        """
        ...

    async def foreseen(self, text: str, *, replaces: str | None = None, beside: Collection[str] = ()) -> FactForeseen:
        """What would become of it if it were remembered now. Raises: as `remember`."""
        ...

    async def matching(self, pattern: str) -> Sequence[KnownFact]:
        """Those that hold the words (`*` stands for anything), or the one of that id. Raises: StorageError."""
        ...

    async def forget(self, ids: Sequence[str], *, session_key: str | None = None) -> Sequence[KnownFact]:
        """Takes these out of the file and gives those that were there. Raises: ToolError, StorageError."""
        ...
