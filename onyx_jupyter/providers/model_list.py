"""The choices of the model picker: models of this machine, configured ones, those that a server was asked for, and
else a few of each provider with a key."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onyx_jupyter.protocols import ModelInfo
from onyx_jupyter.providers.addressing import dialect_of
from onyx_jupyter.providers.effort import BY_MODEL, efforts_of
from onyx_jupyter.providers.known_providers import (
    COPILOT,
    KNOWN_PROVIDERS,
    LOCAL,
    LOGIN_PROVIDERS,
    KnownProvider,
    has_key,
    known_provider,
)
from onyx_jupyter.providers.litellm_library import price_table
from onyx_jupyter.providers.local_files.catalogue import CATALOGUE
from onyx_jupyter.providers.local_files.storage_folders import find_file
from onyx_jupyter.providers.network_guard import is_loopback
from onyx_jupyter.providers.prices import price_of
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings

MODELS_PER_PROVIDER = 12
SERVED_PER_PROVIDER = 40
# Entries of LiteLLM's table that are not everyday chat models, and dated copies of those that are.
_SPECIAL = re.compile(
    r"(?i)audio|realtime|search|computer-use|deep-research|tts|embed|guard|moderation|image|vision-preview|robotics"
    r"|transcri|container|^ft:|instruct|lyria|learnlm|exp-|safeguard|-fim|omni|cyber|customtools"
)
_DATED = re.compile(r"(-|@)(20\d{6}|20\d\d-\d\d-\d\d|\d{4})$")


async def list_models(settings: ModelsSettings) -> list[ModelInfo]:
    """Each id once: first the models of this machine, then by provider in the order of the configuration."""
    names = list(settings.providers) + [name for name in KNOWN_PROVIDERS if name not in settings.providers]
    own = await asyncio.to_thread(_on_this_machine, settings)
    found = {one: ModelInfo(one, LOCAL, local=True, tools=True) for one in own}
    for name in names:
        if (name in LOGIN_PROVIDERS and name != COPILOT) or name == LOCAL:
            continue
        provider = settings.providers.get(name, ProviderSettings())
        offered = _everyday(name, provider, settings.served.get(name, ()))
        models = [*provider.models, *offered] or await _usual_models(name, provider)
        efforts = await _efforts(name, provider, models)
        for model in models:
            local = is_loopback(provider.base_url or _default_url(name) or "")
            info = ModelInfo(f"{name}/{model}", name, local=local, tools=True, efforts=efforts[model])
            found.setdefault(info.id, info)
    return list(found.values())


async def _efforts(name: str, provider: ProviderSettings, models: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    known = known_provider(name)
    dialect = dialect_of(known, provider.base_url)
    table = await price_table() if models and dialect.protocol in BY_MODEL else {}
    prefix = known.litellm_prefix if known else name
    return {model: efforts_of(dialect, price_of(table, f"{prefix}/{model}").entry) for model in models}


def _on_this_machine(settings: ModelsSettings) -> list[str]:
    """The models of the catalogue whose file is there, and the file that the configuration names."""
    fetched = [model.id for model in CATALOGUE if find_file(model, settings.local_folders) is not None]
    named = settings.default_model
    is_file = named.startswith(f"{LOCAL}/") and named.endswith(".gguf")
    return [*fetched, named] if is_file else fetched


async def _usual_models(name: str, provider: ProviderSettings) -> list[str]:
    """The newest everyday chat models of a provider with a key, from LiteLLM's table."""
    known = known_provider(name)
    if known is None or provider.base_url is not None or not has_key(known, provider.api_key):
        return []
    return newest_chat_models(await price_table(), known)


def newest_chat_models(table: Mapping[str, Mapping[str, Any]], known: KnownProvider) -> list[str]:
    """Ids without the provider's prefix, newest version first, at most `MODELS_PER_PROVIDER`."""
    names = {name.removeprefix(f"{known.litellm_prefix}/") for name in _chat_models(table, known)}
    everyday = [name for name in names if not _SPECIAL.search(name) and not _DATED.search(name)]
    return sorted(everyday, key=_newest_first)[:MODELS_PER_PROVIDER]


def _chat_models(table: Mapping[str, Mapping[str, Any]], known: KnownProvider) -> Iterator[str]:
    for name, entry in table.items():
        provider = entry.get("litellm_provider")
        if provider == known.litellm_prefix and entry.get("mode") == "chat" and entry.get("supports_function_calling"):
            yield name


def _newest_first(name: str) -> tuple[list[float], int, str]:
    """Larger version numbers first, shorter names before their variants. The table has no dates."""
    numbers = [-float(number) for number in re.findall(r"\d+(?:\.\d+)?", re.sub(r"(\d)-(\d)", r"\1.\2", name))]
    return (numbers or [0.0]), len(name), name


def _everyday(name: str, provider: ProviderSettings, served: Sequence[str]) -> Sequence[str]:
    """All models of a server of one's own; of a provider the newest chat models, since some list hundreds."""
    if provider.base_url is not None or _default_url(name) is not None:
        return served
    return [model for model in served if not _SPECIAL.search(model) and not _DATED.search(model)][:SERVED_PER_PROVIDER]


def _default_url(name: str) -> str | None:
    known = KNOWN_PROVIDERS.get(name)
    return known.default_url if known else None
