"""What the models that are spoken to without a client library share: one streamed call per request, without retries.

Each protocol's model says what a request is and how its answer is read; LiteLLM's cost per chunk would keep a server
from answering many sessions at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from onyx_jupyter.errors import ModelError
from onyx_jupyter.protocols import ModelEvent, ModelRequest
from onyx_jupyter.providers.chat_answer import ChatChunk, chat_events
from onyx_jupyter.providers.effort import nearest
from onyx_jupyter.providers.endpoint import Endpoint, EndpointModel
from onyx_jupyter.providers.error_map import model_error
from onyx_jupyter.providers.event_stream import HttpFailure
from onyx_jupyter.providers.litellm_library import price_table
from onyx_jupyter.providers.prices import UNKNOWN, Price, price_of
from onyx_jupyter.providers.refused_parameters import RefusedParameters
from onyx_jupyter.providers.thoughts import ThinkingHabit

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is sent; `restarts`: the answer does not continue the text that its guidance began."""

    body: Mapping[str, Any]
    restarts: bool


class DirectModel(EndpointModel, ABC):
    """A model at an address. `client` gives the connections, shared by all of them.

    A parameter that the server refuses is left out, as `refused` knows, except for those that the protocol needs.
    """

    needed: ClassVar[frozenset[str]] = frozenset()

    def __init__(
        self,
        endpoint: Endpoint,
        client: Callable[[], Awaitable[httpx.AsyncClient]],
        habit: ThinkingHabit | None = None,
        refused: RefusedParameters | None = None,
    ) -> None:
        super().__init__(endpoint, habit)
        self._client = client
        self._refused = refused or RefusedParameters()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """One call. Closing or cancelling ends the HTTP stream at once. Raises: ModelError."""
        provider = self.endpoint.provider
        as_action = self.endpoint.json_actions and bool(request.tools)
        price = price_of(await price_table(), self.endpoint.litellm_name) if self.endpoint.priced else UNKNOWN
        prepared = await self._prepared(request, price.entry, as_action=as_action)
        request.progress.cost_usd = price.cost_usd
        async with AsyncExitStack() as stack:
            try:
                chunks = await self._chunks(stack, prepared.body, price)
            except ModelError:  # of a sign-in
                raise
            except Exception as error:
                self._could_not_open(request)
                raise model_error(error, provider) from None
            request.progress.accepted = True
            said = chat_events(
                chunks,
                provider,
                as_action=as_action,
                offered={tool.name for tool in request.tools},
                habit=self.habit,
                restarted=prepared.restarts,
                progress=request.progress,
            )
            async for event in await stack.enter_async_context(aclosing(said)):
                yield event

    @abstractmethod
    async def _prepared(self, request: ModelRequest, entry: Mapping[str, Any], *, as_action: bool) -> Prepared:
        """The request in the protocol's form; `entry` is what the table of models says about this one, if anything."""

    @abstractmethod
    def _answer(
        self, client: httpx.AsyncClient, body: Mapping[str, Any], price: Price
    ) -> AbstractAsyncContextManager[AsyncIterator[ChatChunk]]:
        """Sends the body; gives the answer's chunks. Raises: HttpFailure, httpx.HTTPError."""

    def _could_not_open(self, request: ModelRequest) -> None:
        """Called when the request failed before its answer began."""

    def _effort(self, request: ModelRequest, efforts: Sequence[str]) -> str | None:
        """How much to think: what the request asks for, else what is configured, or the nearest of these."""
        return nearest(request.effort or self.endpoint.effort, efforts)

    async def _chunks(
        self, stack: AsyncExitStack, body: Mapping[str, Any], price: Price = UNKNOWN
    ) -> AsyncIterator[ChatChunk]:
        """Raises: HttpFailure, httpx.HTTPError."""
        client, address, model = await self._client(), self.endpoint.address, self.endpoint.provider.model
        while True:
            sent = self._refused.accepted(address, model, body)
            try:
                return await stack.enter_async_context(self._answer(client, sent, price))
            except HttpFailure as failure:
                if not self._refused.learn(address, model, sent, failure, self.needed):
                    raise
