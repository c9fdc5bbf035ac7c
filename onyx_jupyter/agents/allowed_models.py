"""Restricts models to those that the server's ceiling allows: the only way to access any of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from onyx_jupyter.agents.default_model import NO_MODEL
from onyx_jupyter.agents.metered_model import metered, terms_of
from onyx_jupyter.config.ceiling import NOT_HERE, Ceiling
from onyx_jupyter.config.roles import model_for
from onyx_jupyter.config.schema import Config
from onyx_jupyter.config.schema.section import ANY_PROVIDER, REFUSED_MODEL
from onyx_jupyter.errors import ModelError
from onyx_jupyter.protocols import Model, ModelInfo, Models
from onyx_jupyter.providers.addressing import address_in_environment
from onyx_jupyter.providers.known_providers import ACP, KNOWN_PROVIDERS, LOCAL
from onyx_jupyter.providers.network_guard import is_loopback
from onyx_jupyter.usage.meter import UsageMeter


def allows_provider(ceiling: Ceiling, config: Config, name: str) -> bool:
    """Whether models of that provider may be used at its configured address."""
    if name in (LOCAL, ACP):
        return ceiling.allows_provider(name, None)  # it has no address, whatever is configured
    configured = config.providers.get(name)
    known = KNOWN_PROVIDERS.get(name)
    base_url = (configured.base_url if configured else None) or address_in_environment(name)
    return ceiling.allows_provider(name, base_url, known.default_url if known else None)


def allows_model(ceiling: Ceiling, config: Config, model_id: str) -> bool:
    """`model_id` is provider/model."""
    return allows_provider(ceiling, config, model_id.partition("/")[0])


def is_refused(config: Config, model_id: str) -> bool:
    """Whether the model, or its provider's address or key, cannot be read: another one must not get its requests."""
    name = model_id.partition("/")[0]
    provider = config.providers.get(name) or config.providers.get(ANY_PROVIDER)
    return model_id == REFUSED_MODEL or (name != LOCAL and provider is not None and provider.is_refused)


class AllowedModels:
    """protocols.Models that wraps others. A model that is not allowed is listed as locked, and never opened.

    Each opened one is metered. `missing` returns the error for when there is no model at all.
    """

    def __init__(
        self,
        models: Models,
        config: Config,
        ceiling: Ceiling,
        missing: Callable[[], ModelError],
        meter: UsageMeter,
    ) -> None:
        self._models = models
        self._meter = meter
        self._config = config
        self._ceiling = ceiling
        self._missing = missing

    def open(self, model_id: str) -> Model:
        """Raises: ModelError (no_model, refused, and whatever the wrapped models raise)."""
        if model_id == NO_MODEL:
            raise self._missing()
        if not self._allows(model_id):
            raise ModelError("refused", f"{NOT_HERE}: {model_id}.", hint="Choose another model.", permanent=True)
        if is_refused(self._config, model_id):
            raise _refused(model_id)
        return metered(self._models.open(model_id), terms_of(model_id, self._config), self._meter)

    async def list(self, *, refresh: bool = False) -> Sequence[ModelInfo]:
        """The models that can be chosen, and as locked those that are not allowed here, also configured ones."""
        listed = [
            model if self._allows(model.id) else replace(model, locked=True)
            for model in await self._models.list(refresh=refresh)
        ]
        known = {model.id for model in listed}
        missing = [one for one in self._configured() if one not in known and not self._allows(one)]
        return [*listed, *(self._locked(model_id) for model_id in dict.fromkeys(missing))]

    async def warm(self) -> None:
        """Does nothing if the configured model is not allowed, or cannot be read."""
        model_id = model_for(self._config, "default", self._config.default_agent())
        if model_id is None or (self._allows(model_id) and not is_refused(self._config, model_id)):
            await self._models.warm()

    async def close(self) -> None:
        await self._models.close()

    def _allows(self, model_id: str) -> bool:
        return allows_model(self._ceiling, self._config, model_id)

    def _configured(self) -> Sequence[str]:
        named = [f"{name}/{model}" for name, one in self._config.providers.items() for model in one.models]
        own = [model_for(self._config, "default", agent) for agent in self._config.agents.items]
        return [*named, *(model_id for model_id in own if model_id and model_id != REFUSED_MODEL)]

    def _locked(self, model_id: str) -> ModelInfo:
        name = model_id.partition("/")[0]
        configured = self._config.providers.get(name)
        local = name == LOCAL or is_loopback((configured.base_url if configured else None) or "")
        return ModelInfo(model_id, name, local=local, tools=True, locked=True)


def _refused(model_id: str) -> ModelError:
    if model_id == REFUSED_MODEL:
        subject = "The agent's model in onyx.json cannot be read."
    else:
        subject = f"{model_id} is unavailable: the configuration of its provider has an error."
    return ModelError("refused", subject, hint="Correct onyx.json, or choose another model.", permanent=True)
