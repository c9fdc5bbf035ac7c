"""Writes checked changes into an agent's memory files, and takes them back.

A plan is made from the current file, and says what to do if it has changed by then.
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
"""The version number before a file's first one."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be done: `operations` on MEMORY.md, and `history`, a whole line for HISTORY.md.

    `before` and `after` are checksums of MEMORY.md: of the text that the plan was made from, and of the result if the
    file has not changed. `version` is the version number of `before`, None if unknown.
    """

    operations: tuple[Operation, ...] = ()
    refused: tuple[Refused, ...] = ()
    history: str = ""
    before: str = NO_FILE
    after: str = NO_FILE
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done. `version` is the version of MEMORY.md that it made, `before` the one before, if versions are kept.

    `before` is `NOTHING` if MEMORY.md did not exist yet.
    """

    done: tuple[Operation, ...] = ()
    refused: tuple[Refused, ...] = ()
    history: str = ""
    version: int | None = None
    before: int | None = None


async def memory_text(memory: MemoryFiles, path: str = MEMORY_FILE) -> MemoryText:
    """The current file, empty if there is none. Raises: ToolError, StorageError."""
    real = memory.folder.resolve(path)
    if not await asyncio.to_thread(real.is_file):
        return MemoryText(path, "", NO_FILE)
    return await memory.content(path)


async def newest_version(memory: MemoryFiles, now: MemoryText) -> int | None:
    """The latest version number with this content of MEMORY.md, `NOTHING` if there is none, None if unknown."""
    try:
        kept = await _versions(memory, MEMORY_FILE)
    except StorageError as error:
        log.warning("The versions of %s could not be read: %s", MEMORY_FILE, error)
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
    """Plans the operations that are allowed on the current file; `version` is its version number."""
    applied = apply_operations(now.text, operations, checks)
    after = _checksum_of(applied.text) if applied.done else now.checksum
    return Plan(applied.done, applied.refused, history, now.checksum, after, version)


async def execute_plan(plan: Plan, memory: MemoryFiles, author: MemoryAuthor, session_key: str) -> Outcome:
    """Executes the plan, each file atomically; finishes a plan that a kill interrupted, and does nothing twice.

    If a person has changed MEMORY.md meanwhile, their text is the base, and operations that don't fit it are refused.
    What was done before a kill is reported as done, and not repeated if the user has removed it since.
    Raises: ToolError, StorageError; neither if MEMORY.md was changed.
    """
    written = await _change(plan, memory, author, session_key)
    history, refused = "", written.refused
    if plan.history:
        try:
            history = plan.history if await _log(plan.history, memory, author, session_key) else ""
        except (ToolError, StorageError) as error:
            if not written.done and isinstance(error, StorageError):
                raise  # nothing is done yet, and the error may be temporary
            log.warning("The entry for %s was skipped: %s", HISTORY_FILE, error)
            line = Operation("add", "what was done", section="History", content=plan.history)
            refused = (*refused, Refused(line, f"{HISTORY_FILE} could not be updated: {error}"))
    if not written.done:
        return Outcome((), refused, history)
    number, before = await _numbers(written, memory)
    return Outcome(written.done, refused, history, number, before)


async def take_back(outcome: Outcome, memory: MemoryFiles, session_key: str) -> bool:
    """Undoes it. False if MEMORY.md has changed since: nothing was done. Raises: NotFound, ToolError, StorageError."""
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
            log.warning("The entry in %s was not removed: %s", HISTORY_FILE, error)
    return True


@dataclass(frozen=True, slots=True)
class _Written:
    """What was done to MEMORY.md, now or before a kill; `checksum` is that of the resulting text."""

    done: tuple[Operation, ...] = ()
    refused: tuple[Refused, ...] = ()
    checksum: str = NO_FILE


async def _change(plan: Plan, memory: MemoryFiles, author: MemoryAuthor, session_key: str) -> _Written:
    if not plan.operations:
        return _Written()
    for _ in range(_TRIES):
        now = await memory_text(memory)
        before = await _written_before_kill(plan, now, memory, author, session_key)
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
    raise StorageError(
        f"{MEMORY_FILE} keeps changing.", hint="Close the program that is writing to it, then try again."
    )


async def _written_before_kill(
    plan: Plan, now: MemoryText, memory: MemoryFiles, author: MemoryAuthor, session_key: str
) -> _Written | None:
    """What an earlier try wrote, whatever the user has changed since; None if nothing was written.

    Detected by a version newer than the one that the plan was made from. If that version is unknown, or a kill came
    between writing the file and keeping its version, the text decides: what the user removed before this check then
    counts as never written.
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
    """The number of the newest version with this checksum."""
    return max((version.number for version in versions if version.checksum == checksum), default=None)


async def _numbers(written: _Written, memory: MemoryFiles) -> tuple[int | None, int | None]:
    """The version that holds the result, and the one before it; None for one that could not be kept."""
    try:
        versions = await _versions(memory, MEMORY_FILE)
    except StorageError as error:  # the change is done and must be reported
        log.warning("The versions of %s could not be read: %s", MEMORY_FILE, error)
        return None, None
    place = next((at for at in reversed(range(len(versions))) if versions[at].checksum == written.checksum), None)
    if place is None:
        return None, None
    before = versions[place - 1].number if place else NOTHING if versions[0].number == 1 else None
    return versions[place].number, before


async def _log(line: str, memory: MemoryFiles, author: MemoryAuthor, session_key: str) -> bool:
    """True if the line is in HISTORY.md, or was until the user removed it."""
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
    """Whether the last version written by this conversation contains the line."""
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
    """Empty if none are kept. Raises: StorageError."""
    try:
        return await memory.versions(path)
    except NotFound:
        return ()


def _checksum_of(text: str) -> str:
    return checksum_of(text.encode("utf-8", "replace"))
