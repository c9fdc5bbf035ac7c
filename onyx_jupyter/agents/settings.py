"""The configuration in force, and the settings that other parts need from it.

If the file has an error, the defaults apply, together with the restrictions of the last good one.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from onyx_jupyter.agents.allowed_models import allows_model, allows_provider
from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.config.last_good import restrictions, strictest
from onyx_jupyter.config.load import load, readable
from onyx_jupyter.config.paths import Home
from onyx_jupyter.config.schema import AgentConfig, Config
from onyx_jupyter.config.sections import HoldsSecrets, with_sections
from onyx_jupyter.errors import ConfigError, NotFound, StorageError
from onyx_jupyter.providers.embedders.ollama import OLLAMA
from onyx_jupyter.providers.embedders.settings import EmbedderKind, EmbeddingSettings
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.security.known_secrets import environment_secrets
from onyx_jupyter.security.secret_redactor import SecretRedactor
from onyx_jupyter.storage.atomic_write import write_text_atomically

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """`error` says why the file is not in force; `last_good` holds the restrictions of the last one without an error.

    `keys` (value → kind) are the secrets of the configuration, `warnings` name what has no effect in it.
    """

    config: Config
    secrets: SecretRedactor
    error: ConfigError | None = None
    last_good: Config | None = None
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    warnings: tuple[str, ...] = ()

    def agent(self, agent_id: str | None) -> AgentConfig:
        """The agent of that id, or the default one for None. Raises: NotFound."""
        if agent_id is None:
            return self.config.default_agent()
        agent = self.config.agent(agent_id)
        if agent is None:
            known = ", ".join(item.id for item in self.config.agents.items)
            raise NotFound(f"There is no agent {agent_id!r}. Agents: {known}.")
        return agent


class _LastGoodFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    schema_version: Literal[1]
    config: Config


def load_settings(
    home: Home,
    environment: Mapping[str, str] = os.environ,
    secrets: Mapping[str, str] | None = None,
    before: Settings | None = None,
    sections: Mapping[str, type[BaseModel]] | None = None,
) -> Settings:
    """Loads the configuration; `sections` are those of features.

    `secrets` (value → kind) are to be hidden besides those in configuration and environment; `before` was in force.

    Never raises for a bad value: a server with a typo in its configuration still answers and says what is wrong. Until
    it is fixed, what was denied stays denied and nothing runs unasked.
    """
    error: ConfigError | None = None
    last_good: Config | None
    warnings: tuple[str, ...] = ()
    try:
        loaded = load(home.config_file, environment, with_sections(sections or {}))
        config, warnings = loaded.config, loaded.warnings
    except ConfigError as problem:
        log.error("%s Until this is corrected, every change asks for approval, and denied tools stay denied.", problem)
        error, raw = problem, readable(home.config_file, environment)
        last_good = before.last_good if before and before.last_good else _read_last_good(home.last_good_file)
        config = strictest(last_good, raw)
        keys = {**(before.keys if before else {}), **_readable_keys(raw)}
    else:
        last_good, keys = restrictions(config), _configured_secrets(config)
        _write_last_good(home.last_good_file, last_good)
    values = {**environment_secrets(environment), **keys, **(secrets or {})}
    return Settings(
        config, SecretRedactor(values, shapes=config.security.secrets_filter), error, last_good, keys, warnings
    )


def models_settings(config: Config, ceiling: Ceiling) -> ModelsSettings:
    """The providers' settings from the configuration. A provider that is not allowed never gets a request."""
    providers = {
        name: ProviderSettings(
            api_key=provider.api_key.get_secret_value() if provider.api_key else None,
            base_url=provider.base_url,
            tool_mode=provider.tool_mode,
            models=tuple(provider.models),
            context_window=provider.context_window,
            vision=provider.vision,
        )
        for name, provider in config.providers.items()
        if allows_provider(ceiling, config, name)
    }
    return ModelsSettings(
        providers=providers,
        local_idle_timeout_s=config.local.idle_timeout_ms / 1000,
        local_threads=config.local.threads,
        default_model=config.model_of(config.default_agent()) or "",
        request_timeout_s=config.runtime.retry.timeout_ms / 1000,
    )


def embedding_settings(config: Config, ceiling: Ceiling) -> EmbeddingSettings:
    """The embedders' settings from the configuration; the embedded one sends nothing, so it is always allowed."""
    models = replace(models_settings(config, ceiling), default_model="")  # embedders do not depend on it
    named = config.memory.embedding_model
    refused: set[EmbedderKind] = set() if allows_provider(ceiling, config, OLLAMA) else {"ollama"}
    refused |= {"api"} if named and not allows_model(ceiling, config, named) else set()
    return EmbeddingSettings(config.memory.embedder, named, models, frozenset(refused))


def _read_last_good(path: Path) -> Config | None:
    try:
        return _LastGoodFile.model_validate_json(path.read_bytes()).config
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        log.error("%s cannot be read, so the earlier restrictions are unknown: %s", path, error)
        return None


def _write_last_good(path: Path, last_good: Config) -> None:
    text = _LastGoodFile(schema_version=1, config=last_good).model_dump_json(
        by_alias=True, exclude_unset=True, indent=2
    )
    try:
        if not path.exists() or path.read_text("utf-8") != text:
            write_text_atomically(path, text)
    except (OSError, UnicodeDecodeError, StorageError) as error:
        log.error("The configuration's restrictions could not be saved for use while the file has an error: %s", error)


def _configured_secrets(config: Config) -> dict[str, str]:
    """Value → kind of every key in the configuration."""
    addresses = {"searxng": config.tools.web.searxng_url, "models-url": config.local.models_url}
    passwords = {kind: urlsplit(url).password for kind, url in addresses.items() if url}
    keys = {f"{name}-key": provider.api_key for name, provider in config.providers.items()}
    keys["brave-key"] = config.tools.web.brave_api_key
    sections = (getattr(config, name) for name in config.model_fields_set)
    held = {value: kind for one in sections if isinstance(one, HoldsSecrets) for value, kind in one.secrets().items()}
    known = {key.get_secret_value(): re.sub(r"[^a-z0-9-]+", "-", kind.lower()) for kind, key in keys.items() if key}
    return held | known | {unquote(password): f"{kind}-password" for kind, password in passwords.items() if password}


def _readable_keys(raw: Mapping[str, Any]) -> dict[str, str]:
    """Value → kind of the keys in a configuration that has an error: they are still secrets."""
    providers, tools = raw.get("providers"), raw.get("tools")
    places = [*(providers.values() if isinstance(providers, Mapping) else ()), tools]
    places += [tools.get("web")] if isinstance(tools, Mapping) else []
    names = {"apiKey": "provider-key", "braveApiKey": "brave-key"}
    found = [(place.get(name), kind) for place in places if isinstance(place, Mapping) for name, kind in names.items()]
    return {key: kind for key, kind in found if isinstance(key, str) and key}
