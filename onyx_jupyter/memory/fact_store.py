"""The facts of one agent: remembered, strengthened, changed and forgotten in its `memory/facts.jsonl`.

The file is the source of truth, and every change to it is kept as a version.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import MemoryConflict, StorageError, ToolError
from onyx_jupyter.memory.fact_lines import GENERAL, FactLines, compact, read_facts, with_states
from onyx_jupyter.memory.fact_matching import Counterpart, counterpart, same_words
from onyx_jupyter.memory.fact_similarity import tokenize_fact
from onyx_jupyter.memory.facts import (
    CONTEXT_FACTS,
    MAX_CATEGORY_CHARS,
    MAX_FACT_CHARS,
    Fact,
    is_expired,
    known,
    most_confident,
    number_of,
    reinforced,
    superseded,
)
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.folder import NO_FILE, decoded, read_bytes
from onyx_jupyter.memory.targets import FACTS_FILE
from onyx_jupyter.protocols import Embeddings, FactOutcome, FactPreview, KnownFact
from onyx_jupyter.security.injected_words import find_injection
from onyx_jupyter.security.secret_redactor import marked
from onyx_jupyter.storage.versions import checksum_of
from onyx_jupyter.text_tokens import text_tokens

log = logging.getLogger(__name__)
MAX_FACTS = 1_000
MAX_ENDED = 1_000
CONTEXT_TOKENS = 600
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class _File:
    """The file as it was read, and the checksum on which a change is based."""

    text: str
    checksum: str
    found: FactLines


class FactStore:
    """Implements `protocols.Facts` over an agent's memory files.

    `embeddings` finds facts with the same meaning; without it, or if it fails, only the same words match. `redact`
    removes secrets from a text: a text that contains any is refused.
    """

    def __init__(
        self,
        memory: MemoryFiles,
        clock: Clock,
        *,
        embeddings: Embeddings | None = None,
        redact: Callable[[str], str] = lambda text: text,
    ) -> None:
        self.memory = memory
        self._clock = clock
        self._embeddings = embeddings
        self._redact = redact
        self._read: tuple[tuple[int, int, int], FactLines] | None = None

    # ── reading ─────────────────────────────────────────────────────────────────────────────────────

    async def all(self) -> Sequence[Fact]:
        """Every fact in the file, including those that are no longer true. Raises: StorageError, ToolError."""
        return list((await asyncio.to_thread(self._file)).found.facts.values())

    async def matching(self, pattern: str) -> Sequence[KnownFact]:
        """Includes facts that are no longer true: a user who wants something forgotten means its past, too."""
        moment = self._clock.now()
        return [known(fact, moment) for fact in _matches(await self.all(), pattern)]

    async def context(self, count: int = CONTEXT_FACTS, max_tokens: int = CONTEXT_TOKENS) -> Sequence[KnownFact]:
        """The surest facts that fit into `max_tokens`, oldest first; leaves out any that would steer the model.

        Never raises: an unreadable file is only logged.
        """
        try:
            found = await asyncio.to_thread(self._as_read)
        except (StorageError, ToolError) as error:
            log.warning("The facts could not be read: %s", error)
            return []
        moment = self._clock.now()
        chosen: list[Fact] = []
        for fact in most_confident(found.facts.values(), moment, count):
            if len(fact.text) > MAX_FACT_CHARS or self._why_refused(fact.text):
                continue  # written into the file by hand
            max_tokens -= text_tokens(f"- {fact.id} {fact.created_at:%Y-%m-%d}: {fact.text}\n")
            if max_tokens < 0:
                break
            chosen.append(fact)
        return [known(fact, moment) for fact in sorted(chosen, key=lambda fact: number_of(fact.id))]

    # ── changing ────────────────────────────────────────────────────────────────────────────────────

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
        """Raises: ToolError if the text is refused, the id is unknown or another fact would end, StorageError."""
        text, category = self._checked(text), self._checked_category(category)

        for _ in range(_ATTEMPTS):  # retry with the new content if the file has changed meanwhile
            file = await asyncio.to_thread(self._file)
            moment = self._clock.now()
            pair = await self._pair(file, text, replaces, beside)
            if may_end is not None and pair.fact and pair.alike == "changed" and pair.fact.id not in may_end:
                raise ToolError(
                    f"{pair.fact.id} “{pair.fact.text}” would end with it, and the user was not asked. Repeat the call."
                )
            fact = Fact(
                id=f"f{file.found.last_number + 1}",
                text=text,
                category=category or (pair.fact.category if pair.fact else GENERAL),
                confidence=1.0,
                created_at=moment,
                reinforced_at=moment,
                valid_from=moment,
                session_key=session_key,
                turn=turn,
            )
            new_text, kept = _remembered(file, fact, pair, moment)
            if await self._write(file, new_text, session_key):
                return kept
        raise _contended()

    async def preview_remember(
        self, text: str, *, replaces: str | None = None, beside: Collection[str] = ()
    ) -> FactPreview:
        """What `remember` would do now; the embedder may judge differently a moment later. Raises: as `remember`."""
        text, file = self._checked(text), await asyncio.to_thread(self._file)
        pair = await self._pair(file, text, replaces, beside)
        if pair.fact is None:
            return FactPreview("new")
        return FactPreview("changed" if pair.alike == "changed" else "reinforced", known(pair.fact, self._clock.now()))

    async def forget(self, ids: Sequence[str], *, session_key: str | None = None) -> Sequence[KnownFact]:
        """Rewrites the file without these facts; the old state stays as a version. Raises: ToolError, StorageError."""
        for _ in range(_ATTEMPTS):
            file = await asyncio.to_thread(self._file)
            moment = self._clock.now()
            gone = [known(file.found.facts[name], moment) for name in ids if name in file.found.facts]
            if not gone:
                raise ToolError("These facts no longer exist.")
            text = compact(file.found, [fact.id for fact in gone])
            if await self._write(file, text, session_key):
                return gone
        raise _contended()

    # ── internals ───────────────────────────────────────────────────────────────────────────────────

    async def _pair(self, file: _File, text: str, replaces: str | None, beside: Collection[str]) -> Counterpart:
        """The fact that the text repeats or changes."""
        moment = self._clock.now()
        true = [one for one in file.found.facts.values() if one.is_current and not is_expired(one, moment)]
        if replaces:
            return Counterpart(_replaced(true, replaces), "changed")
        return await counterpart(true, text, self._embeddings, beside)

    def _checked(self, text: str) -> str:
        text = " ".join(text.encode("utf-8", "replace").decode().split())
        if not text:
            raise ToolError("There is nothing to remember: the fact is empty.")
        if len(text) > MAX_FACT_CHARS:
            raise ToolError(
                f"A fact is one short sentence of at most {MAX_FACT_CHARS} characters; this one has {len(text)}. "
                "Longer notes go to memory_write."
            )
        if why := self._why_refused(text):
            raise ToolError(f"This was not remembered, because {why}.")
        return text

    def _why_refused(self, text: str) -> str | None:
        if self._redact(text) != text or marked(text) is not None:
            return "it holds a secret"
        return find_injection(text)

    def _checked_category(self, category: str | None) -> str | None:
        """One word or a few; None if not given."""
        category = " ".join((category or "").casefold().split())
        if not category:
            return None
        if len(category) > MAX_CATEGORY_CHARS:
            raise ToolError(f"A category is a word or two, at most {MAX_CATEGORY_CHARS} characters.")
        return self._checked(category)

    async def _write(self, file: _File, text: str, session_key: str | None) -> bool:
        try:
            await self.memory.replace(FACTS_FILE, text, based_on=file.checksum, author="agent", session_key=session_key)
        except MemoryConflict:
            return False
        return True

    def _file(self) -> _File:
        """The current file; changes made outside of Onyx become a version with the next change."""
        real = self.memory.folder.resolve(FACTS_FILE)
        if not real.is_file():
            return _File("", NO_FILE, read_facts(""))
        raw = read_bytes(real)
        text = decoded(FACTS_FILE, raw)
        return _File(text, checksum_of(raw), read_facts(text))

    def _as_read(self) -> FactLines:
        """Reads again only if the file has changed: a prompt is built before every answer."""
        real = self.memory.folder.resolve(FACTS_FILE)
        try:
            status = real.stat()
        except OSError:
            return read_facts("")
        stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
        if self._read is None or self._read[0] != stamp:
            self._read = (stamp, self._file().found)
        return self._read[1]


def _remembered(file: _File, fact: Fact, pair: Counterpart, moment: datetime) -> tuple[str, FactOutcome]:
    """The file's new text without worn-out facts, and what became of the fact."""
    states, kept = _states(list(file.found.facts.values()), fact, pair, moment)
    text = with_states(file.text, file.found, states)
    after = read_facts(text)
    facts = list(after.facts.values())
    gone = _gone(facts, moment)
    if kept.outcome == "new" and sum(one.is_current and one.id not in gone for one in facts) > MAX_FACTS:
        raise ToolError(f"There are {MAX_FACTS:,} facts already. Forget some that are no longer needed.")
    return (compact(after, gone) if gone or after.is_spread_out else text), kept


def _gone(facts: Collection[Fact], moment: datetime) -> list[str]:
    """The ids of worn-out facts, and of all ended facts but the newest."""
    worn_out = [fact.id for fact in facts if is_expired(fact, moment)]
    return worn_out + [fact.id for fact in _ended(facts)[MAX_ENDED:]]


def _ended(facts: Collection[Fact]) -> list[Fact]:
    """The facts that are no longer true, latest end first."""
    ended = [(fact.valid_until, number_of(fact.id), fact) for fact in facts if fact.valid_until is not None]
    return [fact for *_, fact in sorted(ended, key=lambda one: one[:2], reverse=True)]


def _states(facts: Collection[Fact], fact: Fact, pair: Counterpart, moment: datetime) -> tuple[list[Fact], FactOutcome]:
    former = pair.fact
    if former is None:
        return [fact], FactOutcome("new", known(fact, moment), near=tuple(known(one, moment) for one in pair.near))
    if pair.alike == "same":
        return _reinforce(former, fact, moment)
    others = [one for one in facts if one.is_current and one.id != former.id]
    if (twin := same_words(others, fact.text)) is not None:  # it was first kept as a separate fact
        return [superseded(former, twin.id, moment)], FactOutcome("changed", known(twin, moment), known(former, moment))
    return [superseded(former, fact.id, moment), fact], FactOutcome(
        "changed", known(fact, moment), known(former, moment)
    )


def _reinforce(former: Fact, fact: Fact, moment: datetime) -> tuple[list[Fact], FactOutcome]:
    """The former fact, with more confidence, and in the newer words if they differ."""
    same = replace(reinforced(former, moment), category=fact.category)
    if tokenize_fact(former.text).words == tokenize_fact(fact.text).words:
        return [same], FactOutcome("reinforced", known(same, moment))
    same = replace(same, text=fact.text)
    return [same], FactOutcome("reinforced", known(same, moment), known(former, moment))


def _replaced(facts: Sequence[Fact], fact_id: str) -> Fact:
    found = next((fact for fact in facts if fact.id == fact_id), None)
    if found is None:
        raise ToolError(f"There is no fact {fact_id!r} to replace. Omit `replaces`.")
    return found


def _matches(facts: Sequence[Fact], pattern: str) -> list[Fact]:
    """Matches an id, or words in the text; `*` matches anything, case is ignored."""
    pattern = " ".join(pattern.split())
    by_id = [fact for fact in facts if fact.id == pattern]
    if by_id or not pattern:
        return by_id
    parts = pattern.casefold().split("*")
    return [fact for fact in facts if _holds_in_order(fact.text.casefold(), parts)]


def _holds_in_order(text: str, parts: Sequence[str]) -> bool:
    place = 0
    for part in parts:
        found = text.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return True


def _contended() -> StorageError:
    return StorageError("The facts kept changing meanwhile.", hint="Try again.")
