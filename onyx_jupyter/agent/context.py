"""Keeps requests within the model's context window: before each call, and once after a provider reports an overflow.

It decides; `compaction` makes the summary, `truncation` the cut, and both become entries of the transcript.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from onyx_jupyter.agent.compaction import Room, compact_older
from onyx_jupyter.agent.processor import Reply
from onyx_jupyter.agent.run import Run
from onyx_jupyter.agent.token_count import Correction, request_tokens
from onyx_jupyter.agent.truncation import blocks_tokens, cut, split
from onyx_jupyter.errors import ModelError
from onyx_jupyter.protocols import Block, ModelRequest

Build = Callable[[], Awaitable[ModelRequest]]
Ask = Callable[[ModelRequest], Awaitable[Reply]]
_RESERVE_SHARE = 4
# A part that is smaller than this share of the room is not worth a request of its own.
_MIN_SHARE = 20
# After a summary failed, the conversation grows by this share of the limit before another is tried.
_GROWTH_SHARE = 10
# Failures unrelated to the conversation: better to fail than to lose part of it.
_PASSING = frozenset({"authentication", "rate_limit", "not_found", "timeout", "unavailable"})


async def ask_within_window(run: Run, build: Build, ask: Ask) -> tuple[Reply, int]:
    """Returns the reply and the request's local token count. Raises: ModelError (overflow only if it recurs), Halt."""
    request, estimate = await _fitted(run, build)
    try:
        return await ask(request), estimate
    except ModelError as error:
        if error.code != "overflow" or run.text or not await _drop_half(run, estimate):
            raise
    request = await build()
    return await ask(request), _counted(run, request)


async def _fitted(run: Run, build: Build) -> tuple[ModelRequest, int]:
    """The request, within window minus reserve if the conversation can be made to fit, and its local token count."""
    request = await build()
    estimate = _counted(run, request)
    if not run.compaction.enabled:
        return request, estimate
    limits = await _limits(run)
    if Correction(run.transcript.measured(run.model.id)).tokens(estimate) <= limits.limit:
        return request, estimate
    if not await _make_room(run, _room(run, estimate, limits.limit), limits):
        return request, estimate
    request = await build()
    return request, _counted(run, request)


@dataclass(frozen=True, slots=True)
class _Limits:
    """In the provider's tokens: requests stay within `limit`; without a summary, up to `hard` is still accepted."""

    limit: int
    hard: int


async def _limits(run: Run) -> _Limits:
    window = await asyncio.to_thread(lambda: run.model.context_window)
    wanted = max(run.compaction.reserve_tokens, run.max_tokens or 0)
    reserve = min(wanted, window // _RESERVE_SHARE)
    return _Limits(window - reserve, window - reserve // 4)


def _room(run: Run, estimate: int, limit: int) -> Room:
    correction = Correction(run.transcript.measured(run.model.id))
    fixed = estimate - blocks_tokens(run.transcript.blocks(run.run_id))
    return Room(fixed, max(correction.estimate(limit) - fixed, 0), correction.tokens(estimate), correction)


def _counted(run: Run, request: ModelRequest) -> int:
    """A small model's provider selects and formats the tools in its own way, so they are not counted here."""
    return request_tokens(replace(request, tools=()) if run.model.light else request)


async def _make_room(run: Run, room: Room, limits: _Limits) -> bool:
    """Whether what the model sees of the transcript has changed."""
    wishes = run.compaction
    blocks = run.transcript.blocks(run.run_id)
    part = split(blocks, room.messages // 2, wishes.keep_recent_tokens, wishes.keep_turns)
    # A model of a few hundred million parameters follows no format, and each try takes it half a minute.
    if part is not None and not run.model.light and blocks_tokens(part.older) > room.messages // _MIN_SHARE > 0:
        failed_at = run.transcript.failed_compaction(run.model.id)
        if not failed_at or room.tokens >= failed_at + limits.limit // _GROWTH_SHARE:
            error = await compact_older(run, part, room)
            if error is None:
                return True
            if error.code in _PASSING and room.tokens > limits.hard:
                raise error
        if room.tokens <= limits.hard:
            return False
    return await _cut(run, replace(room, messages=room.messages * 3 // 4), drop=False)


async def _drop_half(run: Run, estimate: int) -> bool:
    """Whether anything could be dropped after the provider reported an overflow."""
    tokens = blocks_tokens(run.transcript.blocks(run.run_id))
    room = _room(run, estimate, (await _limits(run)).limit)
    return await _cut(run, replace(room, messages=min(room.messages, tokens // 2)), drop=True)


async def _cut(run: Run, room: Room, *, drop: bool) -> bool:
    blocks = run.transcript.blocks(run.run_id)
    compaction = cut(blocks, room.messages, lambda tried: run.transcript.blocks(run.run_id, tried), drop=drop)
    if compaction is None:
        return False
    left = run.transcript.blocks(run.run_id, compaction)
    data = {
        "model": run.model.id,
        "tokensBefore": room.tokens,
        "tokensAfter": room.correction.tokens(room.fixed + blocks_tokens(left)),
    }
    await run.transcript.append_compaction(run.run_id, compaction, None, data)
    # A small model's window fills up every few questions, so it gets the note only once.
    if not run.model.light or not any(block.is_summary for block in blocks):
        await run.note("overflow", _describe_cut(blocks, left, run.model.id), data)
    return True


def _describe_cut(before: Sequence[Block], after: Sequence[Block], model_id: str) -> str:
    dropped = {block.entry_id for block in before if not block.is_summary} - {block.entry_id for block in after}
    what = (
        "the model doesn't see its oldest part, apart from the beginnings of your own messages"
        if dropped
        else "the model sees only the beginning and end of its longest texts"
    )
    return (
        f"This conversation is longer than the context window of {model_id}: {what}. You still see all of it here. "
        "Choose a model with a larger context window, or start a new session."
    )
