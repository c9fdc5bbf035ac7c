"""A model whose calls are counted and kept within the budget: every call of every model goes through here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace

from onyx_jupyter.agent.token_count import request_tokens
from onyx_jupyter.config.roles import is_on_plan
from onyx_jupyter.config.schema import BudgetConfig, Config
from onyx_jupyter.errors import ModelError
from onyx_jupyter.messages import Usage
from onyx_jupyter.protocols import (
    CallProgress,
    Model,
    ModelDone,
    ModelEvent,
    ModelNote,
    ModelRequest,
    Prefills,
    TextDelta,
    ThoughtDelta,
)
from onyx_jupyter.providers.answer_stream import closing
from onyx_jupyter.providers.known_providers import KNOWN_PROVIDERS, LOCAL
from onyx_jupyter.providers.network_guard import is_loopback
from onyx_jupyter.providers.wrapped_model import WrappedModel
from onyx_jupyter.text_tokens import token_weight
from onyx_jupyter.usage.budget import BudgetLimits, state_to_json, warning
from onyx_jupyter.usage.meter import UsageMeter
from onyx_jupyter.usage.model_call import Terms, settled


def limits_of(budget: BudgetConfig) -> BudgetLimits:
    """The configured budget."""
    return BudgetLimits(budget.day_usd, budget.session_usd, budget.day_tokens, budget.session_tokens)


def terms_of(model_id: str, config: Config) -> Terms:
    """How calls of that model are paid for.

    Free are the models of this machine, and of Ollama and LM Studio on it; what else listens on this machine may pass
    requests on to a paid model.
    """
    name, _, model = model_id.partition("/")
    if name == LOCAL:
        return "free"
    if is_on_plan(model_id):
        return "plan"
    known, configured = KNOWN_PROVIDERS.get(name), config.providers.get(name)
    if known is None or known.default_url is None or model.endswith("cloud"):  # Ollama's cloud models run elsewhere
        return "paid"
    return "free" if is_loopback((configured.base_url if configured else None) or known.default_url) else "paid"


def metered(model: Model, terms: Terms, meter: UsageMeter) -> Model:
    """The model with its calls counted; one that can read ahead still can."""
    return _MeteredPrefills(model, terms, meter) if isinstance(model, Prefills) else MeteredModel(model, terms, meter)


class MeteredModel(WrappedModel):
    """Wraps one model. It stands below retries and fallbacks, so each real call counts, and counts once."""

    def __init__(self, model: Model, terms: Terms, meter: UsageMeter) -> None:
        super().__init__(model)
        self._terms = terms
        self._meter = meter

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """A call without an end adds what it used to the request's progress.

        Raises: ModelError (budget, and the model's own), StorageError.
        """
        for state in await self._meter.admit(self._terms):
            yield ModelNote("budget", warning(state), state_to_json(state))
        call = _Call(request, CallProgress())
        try:
            async with closing(self._model.stream(replace(request, progress=call.progress))) as events:
                async for event in events:
                    call.read(event)
                    if isinstance(event, ModelDone):
                        event = replace(event, usage=settled(call.usage(event.usage), self._terms))
                        await self._meter.record(self.id, self._terms, event.usage)
                    yield event
        except ModelError:
            if call.has_output:  # what fails before that is not charged for
                await self._record_unfinished(call)
            raise
        except (asyncio.CancelledError, GeneratorExit):
            if call.has_output or call.progress.accepted:
                await self._record_unfinished(call)
            raise

    async def _record_unfinished(self, call: _Call) -> None:
        if call.is_done:
            return
        usage, before = settled(call.usage(), self._terms), call.request.progress.usage
        call.request.progress.usage = before + usage if before else usage
        await self._meter.record(self.id, self._terms, usage)


@dataclass(slots=True)
class _Call:
    """One call while it lasts. Models that report no progress are judged by what they say."""

    request: ModelRequest
    progress: CallProgress
    is_done: bool = False
    _said_tokens: float = 0.0

    def read(self, event: ModelEvent) -> None:
        self.is_done = isinstance(event, ModelDone)
        if isinstance(event, TextDelta | ThoughtDelta):
            self._said_tokens += token_weight(event.text)

    @property
    def has_output(self) -> bool:
        return bool(self.progress.usage or self._output_tokens)

    def usage(self, reported: Usage | None = None) -> Usage:
        """The provider's figures; an estimate takes the place of what they leave out."""
        reported = reported or self.progress.usage or Usage()
        if reported.input_tokens and not reported.estimated:
            return reported
        price = self.progress.cost_usd or _unknown
        output_tokens = max(self._output_tokens, reported.output_tokens)
        if not reported.input_tokens:
            input_tokens = request_tokens(self.request)
            cost_usd = price(input_tokens, output_tokens)
            return Usage(input_tokens, output_tokens, cost_usd=cost_usd, estimated=True)
        more = output_tokens - reported.output_tokens
        costs = (reported.cost_usd, price(0, more) if more else 0.0)
        cost_usd = None if None in costs else sum(cost or 0.0 for cost in costs)
        return replace(reported, output_tokens=output_tokens, cost_usd=cost_usd, estimated=True)

    @property
    def _output_tokens(self) -> int:
        return round(max(self.progress.output_tokens, self._said_tokens))


def _unknown(input_tokens: int, output_tokens: int) -> float | None:
    return None


class _MeteredPrefills(MeteredModel):
    """protocols.Prefills: reading ahead is work of this machine, which costs nothing."""

    async def prefill(self, request: ModelRequest) -> None:
        assert isinstance(self._model, Prefills)
        await self._model.prefill(request)
