"""The configuration in force, and what the parts need of it. A file that cannot be used leaves the defaults."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit

from onyx_jupyter.config.load import load_config
from onyx_jupyter.config.paths import Home
from onyx_jupyter.config.schema import AgentConfig, Config
from onyx_jupyter.errors import ConfigError, NotFound
from onyx_jupyter.providers.embedders.settings import EmbeddingSettings
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.security.known_secrets import environment_secrets
from onyx_jupyter.security.secrets_filter import SecretsFilter

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """`error` says why the defaults are in force instead of the file."""

    config: Config
    secrets: SecretsFilter
    error: ConfigError | None = None

    def agent(self, agent_id: str | None) -> AgentConfig:
        """The agent of that id, or the default one for None. Raises: NotFound."""
        if agent_id is None:
            return self.config.default_agent()
        agent = self.config.agent(agent_id)
        if agent is None:
            known = ", ".join(item.id for item in self.config.agents.items)
            raise NotFound(f"There is no agent {agent_id!r}. There are: {known}.")
        return agent


def load_settings(
    home: Home, environment: Mapping[str, str] = os.environ, secrets: Mapping[str, str] | None = None
) -> Settings:
    """`secrets` (value → kind) are more to hide than the configuration and the environment hold.

    Never raises for a bad value: a server with a typo in its configuration still answers and says what is wrong.
    """
    try:
        config, error = load_config(home.config_file, environment), None
    except ConfigError as problem:
        log.error("%s The defaults are in force.", problem)
        config, error = Config(), problem
    values = {**environment_secrets(environment), **_configured_secrets(config), **(secrets or {})}
    return Settings(config, SecretsFilter(values, shapes=config.security.secrets_filter), error)


def models_settings(config: Config) -> ModelsSettings:
    """The providers' part of the configuration, as they want it."""
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
    }
    return ModelsSettings(
        providers=providers,
        local_idle_timeout_s=config.local.idle_timeout_ms / 1000,
        local_threads=config.local.threads,
        default_model=config.model_of(config.default_agent()),
        request_timeout_s=config.runtime.retry.timeout_ms / 1000,
    )


def embedding_settings(config: Config) -> EmbeddingSettings:
    """The embedders' part of the configuration, as they want it."""
    models = replace(models_settings(config), default_model="")  # who answers is nothing to them
    return EmbeddingSettings(config.memory.embedder, config.memory.embedding_model, models)


def _configured_secrets(config: Config) -> dict[str, str]:
    """Value → kind of every key in the configuration."""
    searxng = urlsplit(config.tools.web.searxng_url or "").password
    keys = {f"{name}-key": provider.api_key for name, provider in config.providers.items()}
    keys["brave-key"] = config.tools.web.brave_api_key
    known = {key.get_secret_value(): re.sub(r"[^a-z0-9-]+", "-", kind.lower()) for kind, key in keys.items() if key}
    return known | ({unquote(searxng): "searxng-password"} if searxng else {})
