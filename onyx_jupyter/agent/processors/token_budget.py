"""Ends a run that has spent its tokens, before the next model call. It never cuts an answer that is under way."""

from __future__ import annotations

from onyx_jupyter.agent.processor import Halt, Processor, Reply, RunSoFar, Spent
from onyx_jupyter.protocols import ModelRequest


class TokenBudget(Processor):
    """Counts what the providers report, input and output; after a restart it goes on with what was spent before.

    What the runs have spent that this one started counts, too, and each of them ends where all is spent.
    """

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._spent = Spent()

    async def begin(self, run: RunSoFar) -> None:
        self._spent = run.spent
        self._spent.usage += run.usage

    async def before_model(self, request: ModelRequest) -> ModelRequest:
        """Raises: Halt."""
        spent = self._spent.tokens
        if spent >= self._max_tokens:
            raise Halt(
                f"Stopped: this answer has used {spent:,} tokens, and `runtime.maxTokensPerRun` in onyx.json allows "
                f"{self._max_tokens:,}. Raise it, or go on in a new message."
            )
        return request

    async def after_model(self, reply: Reply) -> Reply:
        self._spent.usage += reply.usage
        return reply
