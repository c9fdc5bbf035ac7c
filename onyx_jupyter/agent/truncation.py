"""Decides which part of a conversation stays when not all of it fits, and what is kept of the rest, without a model.

All token counts here are local. Blocks are never split, so a call never loses its result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from onyx_jupyter.agent.token_count import messages_tokens
from onyx_jupyter.messages import head_and_tail
from onyx_jupyter.protocols import Block, Compaction
from onyx_jupyter.text_tokens import text_tokens

View = Callable[[Compaction], Sequence[Block]]
# Share of the room for the user's words in the dropped part, and the lengths allowed for each, tried in order.
WORDS_SHARE = 8
_WORD_CHARS = (2000, 1000, 500, 250, 100)
_LONGEST_CHARS = (128_000, 64_000, 32_000, 16_000)
_LONGEST_CHARS_AT_WORST = (8000, 4000, 2000, 1000, 500, 200)


@dataclass(frozen=True, slots=True)
class TruncationPlan:
    """`older` is dropped; what stays begins at the entry `first_kept`, and the entries `carried` stay with it."""

    older: tuple[Block, ...]
    first_kept: str
    carried: tuple[str, ...]


def blocks_tokens(blocks: Sequence[Block]) -> int:
    """The token count of all messages in these blocks."""
    return sum(messages_tokens(block.messages) for block in blocks)


def split(blocks: Sequence[Block], most: int, keep_tokens: int, keep_turns: int) -> TruncationPlan | None:
    """Keeps the newest blocks: `keep_turns` turns or `keep_tokens` tokens, whichever is more, but never over `most`.

    The last block and the user's newest message stay regardless of size. None if nothing would be dropped.
    """
    place, kept, turns = len(blocks), 0, 0
    while place > 0 and not blocks[place - 1].is_summary:
        block = blocks[place - 1]
        kept += messages_tokens(block.messages)
        if place < len(blocks) and (kept > most or (kept > keep_tokens and turns >= keep_turns)):
            break
        turns += _is_user(block)
        place -= 1
    return _split_at(blocks, place)


def user_messages(older: Sequence[Block], most: int) -> tuple[str, ...]:
    """The user's messages there, shortened alike until they fit `most` tokens; at worst the middle ones are dropped."""
    said = [word for block in older for word in block.words if word.strip()]
    for limit in _WORD_CHARS:
        words = [head_and_tail(word, limit) for word in said]
        costs = [text_tokens(word) + 3 for word in words]
        if sum(costs) <= most:
            return tuple(words)
    while costs and sum(costs) > most:
        middle = len(words) // 2
        del words[middle], costs[middle]
    return tuple(words)


def fitted_to(room: int, compaction: Compaction, view: View) -> Compaction:
    """The compaction with the longest text limit whose view fits into `room`, else with the shortest."""
    for longest in (None, *_LONGEST_CHARS, *_LONGEST_CHARS_AT_WORST):
        compaction = replace(compaction, longest_chars=longest)
        if blocks_tokens(view(compaction)) <= room:
            return compaction
    return compaction


def cut(blocks: Sequence[Block], room: int, view: View, *, drop: bool) -> Compaction | None:
    """Makes the conversation fit without a summary, losing as little as possible; None if nothing helps.

    With `drop` the oldest part must go, even if shortening single texts would be enough.
    """
    before = blocks_tokens(blocks)
    best: Compaction | None = None
    for candidate in _candidates(blocks, room, view, drop=drop):
        tokens = blocks_tokens(view(candidate))
        if tokens < before:
            best = candidate
        if tokens <= room:
            break
    return best


def _candidates(blocks: Sequence[Block], room: int, view: View, *, drop: bool) -> Iterator[Compaction]:
    unchanged = _as_it_is(blocks)
    if unchanged is not None and not drop:
        for longest in _LONGEST_CHARS:
            yield replace(unchanged, longest_chars=longest)
    for part in (split(blocks, room * 3 // 4, room, 0), split(blocks, 0, 0, 0)):
        if part is not None:
            yield fitted_to(room, _dropping(part, blocks, room), view)
    if unchanged is not None:
        yield fitted_to(room, unchanged, view)


def _dropping(part: TruncationPlan, blocks: Sequence[Block], room: int) -> Compaction:
    """The user's rules outlive what is dropped: an earlier summary and the user's own words stay."""
    share = room // WORDS_SHARE
    summary = next((block.summary for block in blocks if block.is_summary), "")
    if text_tokens(summary) > share:
        summary = head_and_tail(summary, max(share, 1))
    return Compaction(summary, user_messages(part.older, share), part.first_kept, part.carried)


def _as_it_is(blocks: Sequence[Block]) -> Compaction | None:
    summary = next((block for block in blocks if block.is_summary), None)
    first = next((block for block in blocks if not block.is_summary and not block.carried), None)
    if first is None:
        return None
    carried = tuple(block.entry_id for block in blocks if block.carried)
    return Compaction(summary.summary if summary else "", summary.words if summary else (), first.entry_id, carried)


def _split_at(blocks: Sequence[Block], place: int) -> TruncationPlan | None:
    # A carried block comes before a gap: a kept part that began with it would bring back what fills the gap.
    while place < len(blocks) and blocks[place].carried:
        place += 1
    if place == len(blocks):
        return None
    newest = max((index for index, block in enumerate(blocks) if _is_user(block)), default=place)
    carried = {newest} if newest < place else set()
    older = tuple(block for index, block in enumerate(blocks[:place]) if index not in carried)
    if not older:
        return None
    return TruncationPlan(older, blocks[place].entry_id, tuple(blocks[index].entry_id for index in carried))


def _is_user(block: Block) -> bool:
    return not block.is_summary and bool(block.messages) and block.messages[0].role == "user"
