"""Checked changes of an agent's memory on their way into its files, and back out again.

It asks no model and tells nobody. A plan is made from the file as it is, and holds what to do should it have changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from onyx_jupyter.errors import MemoryConflict, StorageError
from onyx_jupyter.memory.files import NO_FILE, MemoryFiles
from onyx_jupyter.memory.operations import Applied, Check, Operation, Refused, apply_operations
from onyx_jupyter.memory.targets import MEMORY_FILE
from onyx_jupyter.protocols import MemoryAuthor, MemoryText
from onyx_jupyter.storage.versions import checksum_of

HISTORY_FILE = "HISTORY.md"
_HISTORY_HEAD = "# History\n\nWhat was done, a line for each conversation or part of one.\n\n"
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Plan:
    """What is about to be done: `operations` on MEMORY.md, and `history`, a whole line for HISTORY.md.

    `before` and `after` are checksums of MEMORY.md: what it was made from, and what it will be if it still is that.
    """

    operations: tuple[Operation, ...] = ()
    refused: tuple[Refused, ...] = ()
    history: str = ""
    before: str = NO_FILE
    after: str = NO_FILE


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done. `version` is that of MEMORY.md which it made, `before` the one until then, where they are kept."""

    done: tuple[Operation, ...] = ()
    refused: tuple[Refused, ...] = ()
    history: str = ""
    version: int | None = None
    before: int | None = None


async def memory_text(memory: MemoryFiles, path: str = MEMORY_FILE) -> MemoryText:
    """The file as it is, empty where there is none. Raises: ToolError, StorageError."""
    real = memory.folder.resolve(path)
    if not await asyncio.to_thread(real.is_file):
        return MemoryText(path, "", NO_FILE)
    return await memory.content(path)


def make_plan(now: MemoryText, operations: Sequence[Operation], checks: Sequence[Check], history: str) -> Plan:
    """What of it may be done to the file as it is."""
    applied = apply_operations(now.text, operations, checks)
    after = checksum_of(applied.text.encode("utf-8", "replace")) if applied.done else now.checksum
    return Plan(applied.done, applied.refused, history, now.checksum, after)


async def carry_out(plan: Plan, memory: MemoryFiles, author: MemoryAuthor, session_key: str) -> Outcome:
    """Does it, each file atomically; what a kill left undone of it is done, and nothing twice.

    Where a person has changed MEMORY.md meanwhile, their text is the base, and what does not fit it is refused.
    Raises: ToolError, StorageError.
    """
    applied, done_before = await _change(plan, memory, author, session_key)
    history = plan.history if plan.history and await _log(plan.history, memory, author, session_key) else ""
    if not applied.done and not done_before:
        return Outcome((), applied.refused, history)
    done = plan.operations if done_before else applied.done
    number, before = await _numbers(plan, applied, memory, done_before)
    return Outcome(done, applied.refused, history, number, before)


async def take_back(outcome: Outcome, memory: MemoryFiles, session_key: str) -> bool:
    """False where MEMORY.md is not what it was then: nothing was done. Raises: NotFound, ToolError, StorageError."""
    if outcome.done:
        versions = {version.number: version for version in await memory.versions(MEMORY_FILE)}
        made = versions.get(outcome.version or 0)
        if made is None or outcome.before not in versions:
            return False
        try:
            await memory.restore(
                MEMORY_FILE, outcome.before, author="user", based_on=made.checksum, session_key=session_key
            )
        except MemoryConflict:
            return False
    if outcome.history:
        await _unlog(outcome.history, memory, session_key)
    return True


async def _change(plan: Plan, memory: MemoryFiles, author: MemoryAuthor, session_key: str) -> tuple[Applied, bool]:
    """What was made of MEMORY.md, and whether that had been done before a kill."""
    for _ in range(_TRIES):
        now = await memory_text(memory)
        if not plan.operations:
            return Applied(now.text, (), ()), False
        if plan.after != plan.before and now.checksum == plan.after:
            return Applied(now.text, (), ()), True
        applied = apply_operations(now.text, plan.operations)
        if not applied.done:
            return applied, False
        try:
            await memory.replace(
                MEMORY_FILE, applied.text, based_on=now.checksum, author=author, session_key=session_key
            )
        except MemoryConflict:
            continue
        return applied, False
    raise StorageError(f"{MEMORY_FILE} changes again and again.", hint="Close what writes to it, then try again.")


async def _numbers(
    plan: Plan, applied: Applied, memory: MemoryFiles, done_before: bool
) -> tuple[int | None, int | None]:
    """The version that holds the result, and the one before it; None for one that could not be kept."""
    checksum = plan.after if done_before else checksum_of(applied.text.encode("utf-8", "replace"))
    versions = list(await memory.versions(MEMORY_FILE))
    place = next((at for at in reversed(range(len(versions))) if versions[at].checksum == checksum), None)
    if not place:
        return None, None
    return versions[place].number, versions[place - 1].number


async def _log(line: str, memory: MemoryFiles, author: MemoryAuthor, session_key: str) -> bool:
    """True where it stands in HISTORY.md now."""
    for _ in range(_TRIES):
        now = await memory_text(memory, HISTORY_FILE)
        if line in now.text.splitlines():
            return True
        text = now.text if now.text.endswith("\n") or not now.text else f"{now.text}\n"
        try:
            text = f"{text or _HISTORY_HEAD}{line}\n"
            await memory.replace(HISTORY_FILE, text, based_on=now.checksum, author=author, session_key=session_key)
        except MemoryConflict:
            continue
        return True
    return False


async def _unlog(line: str, memory: MemoryFiles, session_key: str) -> None:
    for _ in range(_TRIES):
        now = await memory_text(memory, HISTORY_FILE)
        lines = now.text.splitlines(keepends=True)
        left = [other for other in lines if other.rstrip("\r\n") != line]
        if len(left) == len(lines):
            return
        try:
            await memory.replace(
                HISTORY_FILE, "".join(left), based_on=now.checksum, author="user", session_key=session_key
            )
        except MemoryConflict:
            continue
        return
