"""A model of GitHub Copilot: OpenAI's chat completions, with a token that ends every half hour or so."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from onyx_jupyter.providers.chat_answer import ChatChunk
from onyx_jupyter.providers.endpoint import Endpoint
from onyx_jupyter.providers.event_stream import HttpFailure
from onyx_jupyter.providers.openai_model import OpenAIModel
from onyx_jupyter.providers.openai_stream import chat_chunks
from onyx_jupyter.providers.prices import Price
from onyx_jupyter.providers.refused_parameters import RefusedParameters
from onyx_jupyter.providers.subscriptions.copilot import HEADERS, Copilot, CopilotToken
from onyx_jupyter.providers.thoughts import ThinkingHabit

if TYPE_CHECKING:
    import httpx


class CopilotModel(OpenAIModel):
    """The endpoint's key is GitHub's sign-in. A token that Copilot refuses is renewed once for a request."""

    def __init__(
        self,
        endpoint: Endpoint,
        client: Callable[[], Awaitable[httpx.AsyncClient]],
        copilot: Copilot,
        habit: ThinkingHabit | None = None,
        refused: RefusedParameters | None = None,
    ) -> None:
        super().__init__(endpoint, client, habit, refused=refused)
        self._copilot = copilot

    @asynccontextmanager
    async def _answer(
        self, client: httpx.AsyncClient, body: Mapping[str, Any], price: Price
    ) -> AsyncIterator[AsyncIterator[ChatChunk]]:
        sign_in = self.endpoint.api_key or ""
        token = await self._copilot.token(client, sign_in)
        async with AsyncExitStack() as stack:
            try:
                chunks = await stack.enter_async_context(self._asked(client, token, body))
            except HttpFailure as failure:
                if failure.status_code != 401:
                    raise
                token = await self._copilot.token(client, sign_in, refused=token)
                chunks = await stack.enter_async_context(self._asked(client, token, body))
            yield chunks

    def _asked(
        self, client: httpx.AsyncClient, token: CopilotToken, body: Mapping[str, Any]
    ) -> AbstractAsyncContextManager[AsyncIterator[ChatChunk]]:
        return chat_chunks(client, token.address, token.value, body, self.endpoint.timeout_s, headers=HEADERS)
