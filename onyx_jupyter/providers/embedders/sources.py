"""The list of possible embedders for the configuration, best first. It opens none of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from onyx_jupyter.clock import Clock
from onyx_jupyter.protocols.retrieval import VectorCache
from onyx_jupyter.providers.embedders.api import ApiSource
from onyx_jupyter.providers.embedders.choice import EmbedderChoice
from onyx_jupyter.providers.embedders.local import LocalEmbedder
from onyx_jupyter.providers.embedders.ollama import DEFAULT_MODEL, OLLAMA, OllamaSource
from onyx_jupyter.providers.embedders.settings import EmbeddingSettings
from onyx_jupyter.providers.embedders.source import EmbedderSource, EmbeddingMeter
from onyx_jupyter.providers.known_providers import KNOWN_PROVIDERS
from onyx_jupyter.providers.network_guard import is_loopback
from onyx_jupyter.providers.settings import ProviderSettings


class OpenLocal(Protocol):
    """Opens the embedded embedder, in whichever process it should run."""

    def __call__(self, clock: Clock, /, *, threads: int | None, idle_s: float) -> EmbedderSource: ...


def open_embeddings(
    settings: EmbeddingSettings,
    *,
    clock: Clock,
    redact: Callable[[str], str],
    cache: VectorCache | None = None,
    open_local: OpenLocal = LocalEmbedder,
    meter: EmbeddingMeter | None = None,
) -> EmbedderChoice:
    """The choice among everything that the settings allow; `meter` counts the calls of an API."""
    sources = embedder_sources(settings, clock, open_local, meter)
    return EmbedderChoice(sources, clock=clock, redact=redact, cache=cache)


def embedder_sources(
    settings: EmbeddingSettings,
    clock: Clock,
    open_local: OpenLocal = LocalEmbedder,
    meter: EmbeddingMeter | None = None,
) -> list[EmbedderSource]:
    """Ollama, the API, the embedded model. A configured one has no substitutes."""
    by_kind: dict[str, EmbedderSource | None] = {
        "ollama": _ollama(settings),
        "api": _api(settings, meter),
        "local": open_local(clock, threads=settings.models.local_threads, idle_s=settings.models.local_idle_timeout_s),
    }
    kinds = list(by_kind) if settings.embedder == "auto" else [settings.embedder]
    return [source for kind in kinds if kind not in settings.without and (source := by_kind.get(kind)) is not None]


def _ollama(settings: EmbeddingSettings) -> OllamaSource | None:
    named = _model_of(OLLAMA, settings)
    provider = settings.models.providers.get(OLLAMA, ProviderSettings())
    address = provider.base_url or KNOWN_PROVIDERS[OLLAMA].default_url or ""
    asked_for = named is not None or settings.embedder == "ollama"
    if not asked_for and not is_loopback(address):
        return None  # the texts would leave this machine without permission
    return OllamaSource(named or DEFAULT_MODEL, address, api_key=provider.api_key, expected=asked_for)


def _api(settings: EmbeddingSettings, meter: EmbeddingMeter | None) -> ApiSource | None:
    if settings.model is None or _model_of(OLLAMA, settings) is not None:
        return None
    return ApiSource(settings.model, settings.models, meter=meter)


def _model_of(provider: str, settings: EmbeddingSettings) -> str | None:
    name, _, model = (settings.model or "").partition("/")
    return model if name == provider else None
