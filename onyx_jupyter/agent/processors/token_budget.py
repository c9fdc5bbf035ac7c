"""Ends a run that has spent its tokens, before the next model call. An answer in progress is not cut off."""

from __future__ import annotations

from onyx_jupyter.agent.processor import Halt, Processor, Reply, RunSoFar, TotalUsage
from onyx_jupyter.protocols import ModelRequest


class TokenBudget(Processor):
    """Counts input and output tokens as reported by the providers, including those spent before a restart.

    Tokens spent by child runs count as well, and each child ends when the budget is spent.
    """

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._spent = TotalUsage()

    async def begin(self, run: RunSoFar) -> None:
        self._spent = run.spent
        self._spent.usage += run.usage

    async def before_model(self, request: ModelRequest) -> ModelRequest:
        """Raises: Halt."""
        spent = self._spent.tokens
        if spent >= self._max_tokens:
            raise Halt(
                f"Stopped: this answer has used {spent:,} tokens, and `runtime.maxTokensPerRun` in onyx.json allows "
                f"{self._max_tokens:,}. Raise the limit, or continue in a new message."
            )
        return request

    async def after_model(self, reply: Reply) -> Reply:
        self._spent.usage += reply.usage
        return reply
