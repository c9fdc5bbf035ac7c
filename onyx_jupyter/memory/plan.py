"""Checked changes of an agent's memory on their way into its files, and back out again.

It asks no model and tells nobody. A plan is made from the file as it is, and holds what to do should it have changed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from onyx_jupyter.errors import MemoryConflict, NotFound, StorageError, ToolError
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.folder import NO_FILE
from onyx_jupyter.memory.operations import NO_SUCH_ITEM, Check, Operation, Refused, apply_operations, are_done
from onyx_jupyter.memory.targets import MEMORY_FILE
from onyx_jupyter.protocols import FileVersion, MemoryAuthor, MemoryText
from onyx_jupyter.storage.versions import checksum_of

HISTORY_FILE = "HISTORY.md"
_HISTORY_HEAD = "# History\n\nWhat was done, a line for each conversation or part of one.\n\n"
_TRIES = 5
NOTHING = 0
"""The number of the version before a file's first one."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is about to be done: `operations` on MEMORY.md, and `history`, a whole line for HISTORY.md.

    `before` and `after` are checksums of MEMORY.md: what it was made from, and what it will be if it still is that.
    `version` is the number of the former, None where that is not known.
    """

    operations: tuple[Operation, ...] = ()
    refused: tuple[Refused, ...] = ()
    history: str = ""
    before: str = NO_FILE
    after: str = NO_FILE
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done. `version` is that of MEMORY.md which it made, `before` the one until then, where they are kept.

    `before` is `NOTHING` where MEMORY.md was not there yet.
    """

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


async def newest_version(memory: MemoryFiles, now: MemoryText) -> int | None:
    """The number by which that state of MEMORY.md was kept last, `NOTHING` where there is none, None where unknown."""
    try:
        kept = await _versions(memory, MEMORY_FILE)
    except StorageError as error:
        log.warning("The versions of %s cannot be read: %s", MEMORY_FILE, error)
        return None
    return _number_of(now.checksum, kept) if kept else NOTHING


def make_plan(
    now: MemoryText,
    operations: Sequence[Operation],
    checks: Sequence[Check],
    history: str,
    *,
    version: int | None = None,
) -> Plan:
    """What of it may be done to the file as it is, `version` being its number."""
    applied = apply_operations(now.text, operations, checks)
    after = _checksum_of(applied.text) if applied.done else now.checksum
    return Plan(applied.done, applied.refused, history, now.checksum, after, version)


async def carry_out(plan: Plan, memory: MemoryFiles, author: MemoryAuthor, session_key: str) -> Outcome:
    """Does it, each file atomically; what a kill left undone of it is done, and nothing twice.

    Where a person has changed MEMORY.md meanwhile, their text is the base, and what does not fit it is refused. What
    was done before a kill is told as done, and never again where its person has taken it out since.
    Raises: ToolError, StorageError; where MEMORY.md was changed, neither.
    """
    written = await _change(plan, memory, author, session_key)
    history, refused = "", written.refused
    if plan.history:
        try:
            history = plan.history if await _log(plan.history, memory, author, session_key) else ""
        except (ToolError, StorageError) as error:
            if not written.done and isinstance(error, StorageError):
                raise  # nothing is done yet, and it may pass
            log.warning("The line for %s is left out: %s", HISTORY_FILE, error)
            line = Operation("add", "what was done", section="History", content=plan.history)
            refused = (*refused, Refused(line, f"{HISTORY_FILE} cannot be added to: {error}"))
    if not written.done:
        return Outcome((), refused, history)
    number, before = await _numbers(written, memory)
    return Outcome(written.done, refused, history, number, before)


async def take_back(outcome: Outcome, memory: MemoryFiles, session_key: str) -> bool:
    """False where MEMORY.md is not what it was then: nothing was done. Raises: NotFound, ToolError, StorageError."""
    if outcome.done:
        versions = {version.number: version for version in await memory.versions(MEMORY_FILE)}
        made, before = versions.get(outcome.version or 0), versions.get(outcome.before or 0)
        if made is None or (before is None and outcome.before != NOTHING):
            return False
        try:
            if before is None or not before.checksum:  # there was no file
                await memory.replace(MEMORY_FILE, "", based_on=made.checksum, author="user", session_key=session_key)
            else:
                await memory.restore(
                    MEMORY_FILE, before.number, author="user", based_on=made.checksum, session_key=session_key
                )
        except MemoryConflict:
            return False
    if outcome.history:
        try:
            await _unlog(outcome.history, memory, session_key)
        except (ToolError, StorageError) as error:
            log.warning("The line in %s stays: %s", HISTORY_FILE, error)
    return True


@dataclass(frozen=True, slots=True)
class _Written:
    """What was done to MEMORY.md, now or before a kill; `checksum` is of the text that it became then."""

    done: tuple[Operation, ...] = ()
    refused: tuple[Refused, ...] = ()
    checksum: str = NO_FILE


async def _change(plan: Plan, memory: MemoryFiles, author: MemoryAuthor, session_key: str) -> _Written:
    if not plan.operations:
        return _Written()
    for _ in range(_TRIES):
        now = await memory_text(memory)
        before = await _before_a_kill(plan, now, memory, author, session_key)
        if before is not None:
            return before
        applied = apply_operations(now.text, plan.operations)
        if not applied.done:
            return _Written(refused=applied.refused)
        try:
            await memory.replace(
                MEMORY_FILE, applied.text, based_on=now.checksum, author=author, session_key=session_key
            )
        except MemoryConflict:
            continue
        return _Written(applied.done, applied.refused, _checksum_of(applied.text))
    raise StorageError(f"{MEMORY_FILE} changes again and again.", hint="Close what writes to it, then try again.")


async def _before_a_kill(
    plan: Plan, now: MemoryText, memory: MemoryFiles, author: MemoryAuthor, session_key: str
) -> _Written | None:
    """What was written of the plan before, whatever its person has made of it since; None where nothing was.

    A version tells, newer than the one that the plan was made from. Where nobody knows which that was, or a kill came
    between the file and its version, the text does: what its person took out before anybody looked counts as never
    written then.
    """
    if plan.after == plan.before:
        return None
    if now.checksum == plan.after:
        return _Written(plan.operations, checksum=plan.after)
    versions = await _versions(memory, MEMORY_FILE)
    made_from = plan.version if plan.version is not None else _number_of(plan.before, versions)
    for version in reversed(versions):
        if made_from is None or version.number <= made_from:
            break
        if version.checksum == plan.after or (version.author, version.session_key) == (author, session_key):
            text = (await memory.version_content(MEMORY_FILE, version.number)).text
            done = tuple(one for one in plan.operations if are_done(text, [one]))
            left = (Refused(one, NO_SUCH_ITEM) for one in plan.operations if one not in done)
            return _Written(done, tuple(left), version.checksum)
    stands = now.checksum != plan.before and are_done(now.text, plan.operations)
    return _Written(plan.operations, checksum=plan.after) if stands else None


def _number_of(checksum: str, versions: Sequence[FileVersion]) -> int | None:
    """That of the newest one with this checksum."""
    return max((version.number for version in versions if version.checksum == checksum), default=None)


async def _numbers(written: _Written, memory: MemoryFiles) -> tuple[int | None, int | None]:
    """The version that holds the result, and the one before it; None for one that could not be kept."""
    try:
        versions = await _versions(memory, MEMORY_FILE)
    except StorageError as error:  # it is done, and has to be told
        log.warning("The versions of %s cannot be read: %s", MEMORY_FILE, error)
        return None, None
    place = next((at for at in reversed(range(len(versions))) if versions[at].checksum == written.checksum), None)
    if place is None:
        return None, None
    before = versions[place - 1].number if place else NOTHING if versions[0].number == 1 else None
    return versions[place].number, before


async def _log(line: str, memory: MemoryFiles, author: MemoryAuthor, session_key: str) -> bool:
    """True where it stands in HISTORY.md, or did until its person took it out."""
    for _ in range(_TRIES):
        now = await memory_text(memory, HISTORY_FILE)
        if line in now.text.splitlines() or await _was_logged(line, memory, author, session_key):
            return True
        text = now.text if now.text.endswith("\n") or not now.text else f"{now.text}\n"
        try:
            text = f"{text or _HISTORY_HEAD}{line}\n"
            await memory.replace(HISTORY_FILE, text, based_on=now.checksum, author=author, session_key=session_key)
        except MemoryConflict:
            continue
        return True
    return False


async def _was_logged(line: str, memory: MemoryFiles, author: MemoryAuthor, session_key: str) -> bool:
    """Whether the last that this conversation wrote there holds the line."""
    versions = reversed(await _versions(memory, HISTORY_FILE))
    last = next((one for one in versions if (one.author, one.session_key) == (author, session_key)), None)
    if last is None:
        return False
    return line in (await memory.version_content(HISTORY_FILE, last.number)).text.splitlines()


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


async def _versions(memory: MemoryFiles, path: str) -> Sequence[FileVersion]:
    """None where none are kept. Raises: StorageError."""
    try:
        return await memory.versions(path)
    except NotFound:
        return ()


def _checksum_of(text: str) -> str:
    return checksum_of(text.encode("utf-8", "replace"))
