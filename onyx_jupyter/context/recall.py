"""Recalls passages from memory that answer a message well, without being asked: a few, or none.

A message waits for it for a moment at most. What is found stays with the message it was sent with.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from onyx_jupyter.config.schema import MemoryConfig
from onyx_jupyter.errors import OnyxError
from onyx_jupyter.memory.templates import non_template_lines
from onyx_jupyter.protocols import Found, Search, SearchFilter
from onyx_jupyter.security.external_content import Fences
from onyx_jupyter.sessions.attachments import format_item
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.text_tokens import text_tokens

log = logging.getLogger(__name__)
MEMORY = "memory"
CHANGED = ", changed since it was sent before"
MAX_ENTRIES = 3
LIGHT_ENTRIES = 1
# In a search by words alone, one or two common words make a high score, so the threshold is higher.
WORDS_MIN_SCORE = 0.65
# A turn is delayed by 50 ms at most; timers fire a little late, especially on a busy machine.
WAIT_S = 0.045
# How long a search may take before its result is useless even for the next message.
TIMEOUT_S = 10.0
_QUERY_CHARS = 1000
_KEPT_SESSIONS = 200
_HASH_CHARS = 16
# Instruction files are in every prompt anyway; they hold no memories.
_PATHS = ("MEMORY.md", "USER.md", "HISTORY.md", "memory/", "shared/")


class Recall:
    """`search` returns an agent's search, None while its index is unavailable; `redact` removes secrets.

    `templates` holds the files of a new workspace: text that is still unchanged answers no question.

    The result of a search that took longer than `wait_s` goes to the session's next message.
    """

    def __init__(
        self,
        search: Callable[[str], Search | None],
        config: Callable[[], MemoryConfig],
        redact: Callable[[str], str],
        templates: Path,
        *,
        wait_s: float = WAIT_S,
    ) -> None:
        self._search = search
        self._config = config
        self._redact = redact
        self._templates = templates
        self._wait_s = wait_s
        self._fences = Fences()
        self._late: dict[str, asyncio.Task[Sequence[Found]]] = {}

    async def items(
        self, agent_id: str, session_key: str, message: str, entries: Sequence[Entry], *, light: bool = False
    ) -> list[dict[str, Any]]:
        """The context items to send along with the message, without those that the session's messages already have."""
        search = self._search(agent_id) if self._config().recall else None
        before = self._late.pop(session_key, None)
        if search is None or not message.strip():
            if before is not None:
                before.cancel()
            return []
        asked = asyncio.create_task(self._found(search, message[:_QUERY_CHARS]), name="onyx recall")
        await asyncio.wait({asked}, timeout=self._wait_s)
        if not asked.done():
            self._keep(session_key, asked)
        found: dict[tuple[Any, ...], Found] = {}
        for task in filter(None, (asked, before)):
            for one in task.result() if task.done() else ():
                found.setdefault(_place_of(one), one)
        if before is not None:
            before.cancel()  # if it still runs: this message has a search of its own
        sent = {_place(item): item.get("hash") for entry in entries for item in entry.context or ()}
        fresh = [(one, place in sent) for place, one in found.items() if sent.get(place) != _hash(one)]
        fresh = fresh[: LIGHT_ENTRIES if light else MAX_ENTRIES]
        return await asyncio.to_thread(lambda: [self._item(one, changed) for one, changed in fresh]) if fresh else []

    async def close(self) -> None:
        """Cancels the searches that are still running."""
        for task in self._late.values():
            task.cancel()
        await asyncio.gather(*self._late.values(), return_exceptions=True)

    async def _found(self, search: Search, query: str) -> Sequence[Found]:
        least = self._config().recall_min_score
        try:
            async with asyncio.timeout(TIMEOUT_S):
                answer = await search.search(query, only=SearchFilter(paths=_PATHS), limit=MAX_ENTRIES, min_score=least)
        except (OnyxError, TimeoutError) as error:
            log.info("Nothing could be recalled: %s", error)
            return []
        except Exception:  # the message must still be answered
            log.exception("Recall failed")
            return []
        good = [one for one in answer.found if _answers_well(one, least)]
        return await asyncio.to_thread(lambda: [one for one in good if self._is_own(one)]) if good else good

    def _is_own(self, found: Found) -> bool:
        return bool(non_template_lines(self._templates / found.path, found.snippet).strip())

    def _item(self, found: Found, changed: bool) -> dict[str, Any]:
        """`changed`: an earlier message has a former version of these lines."""
        place = f"{found.path}:{found.start_line}–{found.end_line}{CHANGED if changed else ''}"
        text = self._redact(found.snippet)
        item: dict[str, Any] = {
            "type": MEMORY,
            "path": found.path,
            "startLine": found.start_line,
            "endLine": found.end_line,
            "hash": _hash(found),
            "text": self._fences.memory(text, place),
        }
        item |= {"label": found.heading[:200]} if found.heading else {}
        return item | {"tokens": text_tokens(format_item(item))}

    def _keep(self, session_key: str, task: asyncio.Task[Sequence[Found]]) -> None:
        self._late[session_key] = task
        if len(self._late) > _KEPT_SESSIONS:
            self._late.pop(next(iter(self._late))).cancel()


def _answers_well(found: Found, least: float) -> bool:
    return _match_quality(found) >= (least if found.vector_score is not None else max(least, WORDS_MIN_SCORE))


def _match_quality(found: Found) -> float:
    """The score as if it came from the weights: a score made from ranks says only which result came first."""
    if found.relevance is None:
        return found.score
    return found.relevance if found.recency is None else found.relevance * found.recency


def _hash(found: Found) -> str:
    """A hash of the whole passage if that is known: the part that is shown depends on the question."""
    return found.checksum or hashlib.sha256(found.snippet.encode(errors="surrogatepass")).hexdigest()[:_HASH_CHARS]


def _place_of(found: Found) -> tuple[Any, ...]:
    return (MEMORY, found.path, found.start_line, found.end_line)


def _place(item: Mapping[str, Any]) -> tuple[Any, ...]:
    return (item.get("type"), item.get("path"), item.get("startLine"), item.get("endLine"))
