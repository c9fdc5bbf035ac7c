"""Has the model summarise the older part of a conversation, checks the summary, saves it and notifies the user.

No entry is removed and nothing is written to the memory: what is worth remembering is only proposed.
"""

from __future__ import annotations

from dataclasses import dataclass

from onyx_jupyter.agent.run import Run
from onyx_jupyter.agent.side_request import side_request
from onyx_jupyter.agent.summary import (
    SYSTEM,
    Proposal,
    find_summary_problem,
    identifiers,
    material,
    read_answer,
    request_text,
)
from onyx_jupyter.agent.token_count import Correction
from onyx_jupyter.agent.truncation import WORDS_SHARE, TruncationPlan, blocks_tokens, fitted_to, user_messages
from onyx_jupyter.errors import ModelError
from onyx_jupyter.events import ToolProgress
from onyx_jupyter.messages import Message, Usage
from onyx_jupyter.protocols import Compaction, ModelNote, ModelRequest
from onyx_jupyter.usage.call_context import in_role

_TRIES = 2
_MARK_CHARS = 12
_MAX_SUMMARY_TOKENS = 8192
IN_PROGRESS = "Summarizing the older part of this conversation…"


@dataclass(frozen=True, slots=True)
class Room:
    """Local token counts, except `tokens`, the provider's: `fixed` for prompt and tools, `messages` for the rest."""

    fixed: int
    messages: int
    tokens: int
    correction: Correction


async def compact_older(run: Run, part: TruncationPlan, room: Room) -> ModelError | None:
    """Returns None if a summary replaced the older part, else why nothing changed. Raises: Halt, StorageError."""
    run.emit(ToolProgress(run.run_id, "", "model", IN_PROGRESS))
    writer = _Writer(run, part, room)
    try:
        summary, proposals = await writer.write()
    except ModelError as error:
        if writer.usage is not None:
            facts = {"model": run.model.id, "tokensBefore": room.tokens, "reason": run.redact(str(error))}
            await run.transcript.append_failed_compaction(run.run_id, writer.usage, facts)
        return error
    words = user_messages(part.older, room.messages // WORDS_SHARE)
    compaction = Compaction(summary, words, part.first_kept, part.carried)
    # Leave some room, or the next step would have to summarise again.
    compaction = fitted_to(room.messages * 3 // 4, compaction, lambda tried: run.transcript.blocks(run.run_id, tried))
    left = blocks_tokens(run.transcript.blocks(run.run_id, compaction))
    after = room.correction.tokens(room.fixed + left)
    data = {
        "id": run.new_id(),
        "model": run.model.id,
        "tokensBefore": room.tokens,
        "tokensAfter": after,
        "proposals": [proposal.model_dump() for proposal in proposals],
    }
    await run.transcript.append_compaction(run.run_id, compaction, writer.usage, data)
    await run.note("compaction", _summarize_compaction(room.tokens, after, len(proposals)), data)
    return None


class _Writer:
    """The side request for one summary; `usage` is what it has cost so far."""

    def __init__(self, run: Run, part: TruncationPlan, room: Room) -> None:
        self.usage: Usage | None = None
        self._run = run
        self._most = min(_MAX_SUMMARY_TOKENS, room.messages // 4, blocks_tokens(part.older))
        self._must_hold = [name for name in identifiers(part.older) if run.redact(name) == name]
        self._mark = run.new_id()[-_MARK_CHARS:]
        self._material = material(part.older, (room.fixed + room.messages) * 3 // 4, self._mark)

    async def write(self) -> tuple[str, tuple[Proposal, ...]]:
        """Raises: ModelError, also if no answer is usable."""
        complaint: str | None = None
        for _ in range(_TRIES):
            summary = read_answer(self._run.redact(await self._ask(complaint)))
            complaint = find_summary_problem(summary, self._must_hold, self._most)
            if complaint is None:
                return summary.text, summary.proposals
        raise ModelError("bad_response", complaint or "")

    async def _ask(self, complaint: str | None) -> str:
        run = self._run
        text = request_text(self._material, self._mark, self._must_hold, self._most, complaint)
        question = Message("user", text)
        request = ModelRequest(SYSTEM, [question], temperature=run.temperature, max_tokens=run.max_tokens)
        with in_role("compaction"):
            reply = await side_request(run.model, request, run.processors, self._on_note)
        self.usage = reply.usage if self.usage is None else self.usage + reply.usage
        return reply.text

    async def _on_note(self, note: ModelNote) -> None:
        await self._run.note(note.kind, self._run.redact(note.message), note.data)


def _summarize_compaction(before: int, after: int, proposals: int) -> str:
    text = (
        "This conversation was close to filling the model's context window, so its older part was summarized for the "
        "model "
        f"({before:,} → {after:,} tokens). You still see all of it here."
    )
    if not proposals:
        return text
    things = f"{proposals} thing{'s' * (proposals > 1)}"
    return f"{text} {things} might be worth remembering. Nothing is saved unless you say so."
