"""A model whose calls are counted and kept within the budget: every call of every model goes through here."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace

from onyx_jupyter.config.roles import is_on_plan
from onyx_jupyter.config.schema import BudgetConfig, Config
from onyx_jupyter.protocols import Model, ModelDone, ModelEvent, ModelNote, ModelRequest, Prefills
from onyx_jupyter.providers.answer_stream import closing
from onyx_jupyter.providers.known_providers import KNOWN_PROVIDERS, LOCAL
from onyx_jupyter.providers.network_guard import is_loopback
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


class MeteredModel:
    """Wraps one model. It stands below retries and fallbacks, so each real call counts, and counts once."""

    def __init__(self, model: Model, terms: Terms, meter: UsageMeter) -> None:
        self._model = model
        self._terms = terms
        self._meter = meter

    @property
    def id(self) -> str:
        return self._model.id

    @property
    def light(self) -> bool:
        return self._model.light

    @property
    def tiny(self) -> bool:
        return self._model.tiny

    @property
    def context_window(self) -> int:
        return self._model.context_window

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Raises: ModelError (budget, and the model's own), StorageError."""
        for state in await self._meter.admit(self._terms):
            yield ModelNote("budget", warning(state), state_to_json(state))
        async with closing(self._model.stream(request)) as events:
            async for event in events:
                if isinstance(event, ModelDone):
                    event = replace(event, usage=settled(event.usage, self._terms))
                    await self._meter.record(self.id, self._terms, event.usage)
                yield event


class _MeteredPrefills(MeteredModel):
    """protocols.Prefills: reading ahead is work of this machine, which costs nothing."""

    async def prefill(self, request: ModelRequest) -> None:
        assert isinstance(self._model, Prefills)
        await self._model.prefill(request)
