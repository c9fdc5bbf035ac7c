"""`memory.*`: what the agents remember, and all its versions."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import datetime
from typing import Any

from onyx_jupyter.clock import timestamp
from onyx_jupyter.features.memory.memories import MEMORIES
from onyx_jupyter.features.memory.notes import MEMORY_NOTES
from onyx_jupyter.features.memory.wire import (
    MemoryAcceptParams,
    MemoryAnswer,
    MemoryDiff,
    MemoryDiffParams,
    MemoryEmbedder,
    MemoryFact,
    MemoryFacts,
    MemoryFileInfo,
    MemoryFileList,
    MemoryFilesParams,
    MemoryPassage,
    MemoryProblem,
    MemoryProgress,
    MemoryReadParams,
    MemoryRestored,
    MemoryRestoreParams,
    MemoryResults,
    MemorySearchParams,
    MemoryStatus,
    MemoryText,
    MemoryUndoParams,
    MemoryVersionInfo,
    MemoryVersions,
    MemoryVersionsParams,
)
from onyx_jupyter.files.diff import unified_diff
from onyx_jupyter.memory.fact_lines import read_facts
from onyx_jupyter.memory.facts import confidence_at
from onyx_jupyter.memory.targets import FACTS_FILE
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import AGENTS, CONFIGURED
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams, Wire
from onyx_jupyter.protocols import EmbedderIdentity, FileVersion, Found, SearchFilter
from onyx_jupyter.providers.embedders.model_tags import unmarked

SHOWN_CHARS = 400_000
"""The part of a file that a page can show; the rest needs an editor."""


async def search(params: MemorySearchParams, caller: Caller) -> dict[str, Any]:
    only = SearchFilter(
        kinds=frozenset(params.kinds) if params.kinds is not None else None,
        paths=params.paths,
        since=params.since,
        until=params.until,
    )
    answer = await caller.get(MEMORIES).search(
        params.query, params.agent_id, limit=params.limit, min_score=params.min_score, only=only
    )
    results = _json(MemoryResults(results=[_passage(found) for found in answer.found], note=answer.note))
    return dict(caller.get(CONFIGURED).redact_data(results))


async def files(params: MemoryFilesParams, caller: Caller) -> dict[str, Any]:
    states = await caller.get(MEMORIES).states(params.agent_id)
    return _json(MemoryFileList(files=[MemoryFileInfo(**asdict(state)) for state in states]))


async def read(params: MemoryReadParams, caller: Caller) -> dict[str, Any]:
    memory = caller.get(AGENTS).agent(params.agent_id).memory
    if params.version is None:
        found = await memory.content(params.path)
    else:
        found = await memory.version_content(params.path, params.version)
    # Redact before cutting: half a secret is not recognised.
    text = await asyncio.to_thread(caller.get(CONFIGURED).redact, found.text)
    shown = text[:SHOWN_CHARS]
    cut = len(shown) < len(text)
    facts = await asyncio.to_thread(_facts, found.path, text, caller.get(MEMORIES).clock.now())
    return _json(MemoryText(path=found.path, text=shown, checksum=found.checksum, cut=cut, facts=facts))


async def versions(params: MemoryVersionsParams, caller: Caller) -> dict[str, Any]:
    found = await caller.get(AGENTS).agent(params.agent_id).memory.versions(params.path)
    current = found[-1].number if found else None
    older = [version for version in found if params.before is None or version.number < params.before]
    shown = [_version(version, current) for version in reversed(older[-params.limit :])]
    return _json(MemoryVersions(versions=shown, total=len(found)))


async def diff(params: MemoryDiffParams, caller: Caller) -> dict[str, Any]:
    memory = caller.get(AGENTS).agent(params.agent_id).memory
    newest = (await memory.versions(params.path))[-1:]
    old = (await memory.version_content(params.path, params.version)).text
    to = params.to or (newest[0].number if newest else params.version)
    new = (await memory.version_content(params.path, to)).text
    checksum = newest[0].checksum if newest else ""
    difference = caller.get(CONFIGURED).redact(await asyncio.to_thread(unified_diff, old, new))
    return _json(MemoryDiff(diff=difference, checksum=checksum))


async def restore(params: MemoryRestoreParams, caller: Caller) -> dict[str, Any]:
    memory = caller.get(AGENTS).agent(params.agent_id).memory
    version = await memory.restore(params.path, params.version, author="user", based_on=params.based_on)
    return _json(MemoryRestored(path=params.path, version=version.number if version else params.version))


async def undo(params: MemoryUndoParams, caller: Caller) -> dict[str, Any]:
    answer = await caller.get(MEMORY_NOTES).undo(params.session_key, params.note_id, caller.user)
    return _json(MemoryAnswer(ok=answer.ok, reason=answer.reason))


async def accept(params: MemoryAcceptParams, caller: Caller) -> dict[str, Any]:
    notes = caller.get(MEMORY_NOTES)
    answer = await notes.accept(params.session_key, params.note_id, params.proposal, caller.user)
    return _json(MemoryAnswer(ok=answer.ok, reason=answer.reason))


async def status(params: NoParams, caller: Caller) -> dict[str, Any]:
    caller.get(MEMORIES).start()  # the caller is looking at the memory
    found = await caller.get(MEMORIES).status()
    return _json(
        MemoryStatus(
            searches=found.searches,
            embedder=_embedder(found.embedder) if found.embedder else None,
            seeks_embedder=found.seeks_embedder,
            files=found.files,
            chunks=found.chunks,
            problems=[MemoryProblem(**asdict(problem)) for problem in found.problems],
            progress=MemoryProgress(done=found.progress[0], total=found.progress[1]) if found.progress else None,
        )
    )


def _embedder(identity: EmbedderIdentity) -> MemoryEmbedder:
    return MemoryEmbedder(provider=identity.provider, model=unmarked(identity.model), dimension=identity.dimension)


def _passage(found: Found) -> MemoryPassage:
    return MemoryPassage(
        path=found.path,
        start_line=found.start_line,
        end_line=found.end_line,
        heading=found.heading,
        score=found.score,
        snippet=found.snippet,
        kind=found.kind,
        agent_id=found.agent or None,
        vector_score=found.vector_score,
        text_score=found.text_score,
        recency=found.recency,
        day=found.day.isoformat() if found.day else None,
    )


def _facts(path: str, text: str, moment: datetime) -> MemoryFacts | None:
    """Returns None if it is not the facts file."""
    if path != FACTS_FILE:
        return None
    found = read_facts(text)
    facts = [
        MemoryFact(
            id=fact.id,
            text=fact.text,
            category=fact.category,
            confidence=round(confidence_at(fact, moment), 3),
            lines=list(found.lines_of_fact[fact.id]),
            since=timestamp(fact.created_at),
            told_at=timestamp(fact.reinforced_at),
            valid_from=timestamp(fact.valid_from),
            valid_until=timestamp(fact.valid_until) if fact.valid_until else None,
            superseded_by=fact.superseded_by,
            author=fact.author,
            session_key=fact.session_key,
        )
        for fact in found.facts.values()
    ]
    return MemoryFacts(facts=facts, other_lines=len(found.others))


def _version(version: FileVersion, current: int | None) -> MemoryVersionInfo:
    return MemoryVersionInfo(
        version=version.number,
        at=version.at,
        author=version.author,
        size_bytes=version.size_bytes,
        current=version.number == current,
        session_key=version.session_key,
        restored=version.restored,
        deleted=not version.checksum,
    )


def _json(model: Wire) -> dict[str, Any]:
    return model.model_dump(by_alias=True, exclude_none=True)


OPERATIONS = (
    Operation("memory.search", MemorySearchParams, MemoryResults, search, "read", dispatch="beside"),
    Operation("memory.files", MemoryFilesParams, MemoryFileList, files, "read", dispatch="beside"),
    Operation("memory.read", MemoryReadParams, MemoryText, read, "read", dispatch="beside"),
    Operation("memory.versions", MemoryVersionsParams, MemoryVersions, versions, "read", dispatch="beside"),
    Operation("memory.diff", MemoryDiffParams, MemoryDiff, diff, "read", dispatch="beside"),
    Operation("memory.restore", MemoryRestoreParams, MemoryRestored, restore, "admin", dispatch="beside"),
    Operation("memory.undo", MemoryUndoParams, MemoryAnswer, undo, "admin"),
    Operation("memory.accept", MemoryAcceptParams, MemoryAnswer, accept, "admin"),
    Operation("memory.status", NoParams, MemoryStatus, status, "read", dispatch="beside"),
)
