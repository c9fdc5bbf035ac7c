"""Ends a run that has spent its tokens, before the next model call. It never cuts an answer that is under way."""

from __future__ import annotations

from onyx_jupyter.agent.processor import Halt, Processor, Reply, RunSoFar
from onyx_jupyter.messages import Usage
from onyx_jupyter.protocols import ModelRequest


class TokenBudget(Processor):
    """Counts what the providers report, input and output; after a restart it goes on with what was spent before."""

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._spent = Usage()

    async def begin(self, run: RunSoFar) -> None:
        self._spent = run.usage

    async def before_model(self, request: ModelRequest) -> ModelRequest:
        """Raises: Halt."""
        spent = self._spent.input_tokens + self._spent.output_tokens
        if spent >= self._max_tokens:
            raise Halt(
                f"Stopped: this answer has used {spent:,} tokens, and `runtime.maxTokensPerRun` in onyx.json allows "
                f"{self._max_tokens:,}. Raise it, or go on in a new message."
            )
        return request

    async def after_model(self, reply: Reply) -> Reply:
        self._spent += reply.usage
        return reply
