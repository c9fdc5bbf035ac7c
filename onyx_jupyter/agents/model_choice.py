"""Chooses the model that answers a run, with its retries, circuit breaker and fallback."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from onyx_jupyter.clock import Clock
from onyx_jupyter.config.schema import AgentConfig, Config
from onyx_jupyter.errors import ModelError
from onyx_jupyter.protocols import Model, ModelEvent, ModelRequest, Models
from onyx_jupyter.providers.circuit_breaker import BreakerPolicy, CircuitBreakers
from onyx_jupyter.providers.fallback_model import FallbackModel
from onyx_jupyter.providers.known_providers import LOCAL, provider_title
from onyx_jupyter.providers.resilient_model import Resilience, ResilientModel
from onyx_jupyter.providers.retry import RetryDelays, RetryPolicy


class ModelChoice:
    """Opens the model of each run. The circuit breakers live here, so that they outlast a changed configuration."""

    def __init__(self, clock: Clock, waits: RetryDelays, model_of: Callable[[AgentConfig], str]) -> None:
        """`model_of` returns an agent's own model."""
        self._breakers = CircuitBreakers(clock)
        self._model_of = model_of
        self._waits = waits

    def open(
        self,
        models: Models,
        config: Config,
        agent: AgentConfig,
        chosen: str | None,
        request_for: Callable[[Model, ModelRequest], Awaitable[ModelRequest]],
    ) -> Model:
        """The model `chosen` by the user, without a fallback; else the agent's own with its fallback.

        An unavailable model reports the reason when a request is sent to it.
        """
        model_id = chosen or self._model_of(agent)
        model = self._one(models, config, model_id)
        fallback_id = agent.fallback_model
        if chosen or not fallback_id or fallback_id == model_id:
            return model
        return FallbackModel(model, lambda: self._one(models, config, fallback_id), request_for)

    def uses_cell_mode(self, config: Config, model_id: str, wished: str | None = None) -> bool:
        """Whether that model proposes cells and calls no tools: as `wished`, else if it is local or by `toolMode`."""
        if wished is not None:
            return wished == "cell"
        name = model_id.partition("/")[0]
        provider = config.providers.get(name)
        return name == LOCAL or (provider is not None and provider.tool_mode == "cell")

    def _one(self, models: Models, config: Config, model_id: str) -> Model:
        try:
            model = models.open(model_id)
        except ModelError as error:
            return UnavailableModel(model_id, error)
        name = model_id.partition("/")[0]
        if name == LOCAL:
            return model  # retrying does not help against failures on this machine
        settings = config.runtime
        resilience = Resilience(
            RetryPolicy(settings.retry.attempts, settings.retry.max_wait_ms / 1000),
            BreakerPolicy(settings.circuit_breaker.failures, settings.circuit_breaker.pause_ms / 1000),
            self._waits,
        )
        return ResilientModel(model, provider_title(name), self._breakers.of(_address(config, name)), resilience)


def _address(config: Config, name: str) -> str:
    """A provider with a changed address counts as a different one."""
    provider = config.providers.get(name)
    return f"{name} {provider.base_url if provider else None}"


class UnavailableModel:
    """Answers every request with the error with which opening it failed, so that the run ends with that reason."""

    light = False
    tiny = False
    context_window = 128_000

    def __init__(self, model_id: str, error: ModelError) -> None:
        self.id = model_id
        self._error = error

    def stream(self, request: ModelRequest) -> UnavailableModel:
        """Returns a stream that raises ModelError at its first event."""
        return self

    def __aiter__(self) -> UnavailableModel:
        return self

    async def __anext__(self) -> ModelEvent:
        raise self._error

    async def aclose(self) -> None:
        """Nothing to close."""
