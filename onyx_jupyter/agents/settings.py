"""The configuration in force, and the settings that other parts need from it."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel

from onyx_jupyter.agents.allowed_models import allows_model, allows_provider, is_refused
from onyx_jupyter.agents.provider_keys import ProviderKey, keys_in_file, provider_keys
from onyx_jupyter.config import json5_lines
from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.config.load import Loaded, load, read_text
from onyx_jupyter.config.paths import Home
from onyx_jupyter.config.problems import Problem, at_line, dotted
from onyx_jupyter.config.roles import model_for, role_model
from onyx_jupyter.config.schema import AgentConfig, Config, ProviderConfig
from onyx_jupyter.config.schema.section import REFUSED_KEY
from onyx_jupyter.config.sections import HoldsSecrets, with_sections
from onyx_jupyter.errors import ConfigError, NotFound, StorageError
from onyx_jupyter.providers.embedders.ollama import OLLAMA
from onyx_jupyter.providers.embedders.settings import EmbedderKind, EmbeddingSettings
from onyx_jupyter.providers.known_providers import KNOWN_PROVIDERS, provider_title
from onyx_jupyter.providers.network_guard import is_loopback
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.security.known_secrets import environment_secrets
from onyx_jupyter.security.secret_redactor import SecretRedactor
from onyx_jupyter.storage.atomic_write import make_private_folder, write_text_atomically

log = logging.getLogger(__name__)
# What is written where a server asks for a key and accepts any.
_NO_KEYS = frozenset({"none", "null", "empty", "dummy", "no-key", "not-needed"})


@dataclass(frozen=True)
class Settings:
    """`problems` say what is wrong with file and environment; `text` is the file's text that is in force, if any is.

    `keys` (value → kind) are the secrets of the configuration, `named_keys` (provider → variable) the environment
    variables that hold keys.
    """

    config: Config
    secrets: SecretRedactor
    problems: tuple[Problem, ...] = ()
    text: str | None = field(default=None, repr=False)
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    named_keys: Mapping[str, str] = field(default_factory=dict)

    def agent(self, agent_id: str | None) -> AgentConfig:
        """The agent of that id, or the default one for None. Raises: NotFound."""
        if agent_id is None:
            return self.config.default_agent()
        agent = self.config.agent(agent_id)
        if agent is None:
            known = ", ".join(item.id for item in self.config.agents.items)
            raise NotFound(f"There is no agent {agent_id!r}. Agents: {known}.")
        return agent


def load_settings(
    home: Home,
    environment: Mapping[str, str] = os.environ,
    secrets: Mapping[str, str] | None = None,
    before: Settings | None = None,
    sections: Mapping[str, type[BaseModel]] | None = None,
) -> Settings:
    """Loads the configuration; `sections` are those of features.

    `secrets` (value → kind) are to be hidden besides those in configuration and environment; `before` was in force.

    Never raises for a bad value: a key with an error is refused alone. While the whole file cannot be read, the last
    good one stays in force; where there is none, nothing runs unasked.
    """
    schema = with_sections(sections or {})
    unreadable: tuple[Problem, ...] = ()
    text: str | None
    try:
        text = read_text(home.config_file)
        loaded = load(text, home.config_file, environment, schema)
    except ConfigError as error:
        text, loaded, instead = _last_good(home, environment, schema, before)
        unreadable = (Problem("error", f"{error} Until this is corrected, {instead}", line=error.line),)
    movable = () if unreadable else _keys_to_move(loaded, text or "", home.config_file)
    problems = (*unreadable, *loaded.problems, *movable)
    for problem in problems if before is None else set(problems) - set(before.problems):
        log.log(logging.ERROR if problem.severity == "error" else logging.WARNING, "%s", problem)
    # A key that was taken out of the file may still be in a conversation.
    keys = {**(before.keys if before else {}), **secrets_of(loaded)}
    if text is not None and all(problem.severity != "error" for problem in problems):
        _keep(home.last_good_file, text)
    values = {**environment_secrets(environment), **keys, **(secrets or {})}
    redactor = SecretRedactor(values, shapes=loaded.config.security.secrets_filter)
    return Settings(loaded.config, redactor, problems, text, keys, loaded.named_keys)


def models_settings(config: Config, ceiling: Ceiling, keys: Mapping[str, ProviderKey] | None = None) -> ModelsSettings:
    """The providers' settings from the configuration. A provider that is not allowed never gets a request.

    `keys` None: those of the configuration and the environment.
    """
    keys = provider_keys(config, {}, {}, os.environ) if keys is None else keys
    named = {**dict.fromkeys(keys, ProviderConfig()), **config.providers}
    providers = {
        name: ProviderSettings(
            api_key=keys[name].value if name in keys else None,
            base_url=provider.base_url,
            tool_mode=provider.tool_mode,
            models=tuple(provider.models),
            context_window=provider.context_window,
            vision=provider.vision,
            effort=provider.effort,
            options=options_of(provider),
        )
        for name, provider in named.items()
        if allows_provider(ceiling, config, name)
    }
    return ModelsSettings(
        providers=providers,
        local_idle_timeout_s=config.local.idle_timeout_ms / 1000,
        local_threads=config.local.threads,
        default_model=model_for(config, "default", config.default_agent()) or "",
        request_timeout_s=config.runtime.retry.timeout_ms / 1000,
        refused=frozenset(
            name
            for name in (*named, *KNOWN_PROVIDERS)
            if not allows_provider(ceiling, config, name) or is_refused(config, f"{name}/")
        ),
    )


def options_of(provider: ProviderConfig) -> dict[str, str]:
    """The fields that only some providers have, by their key in the file."""
    own = {"region", "profile", "project", "location", "api_version", "client_id", "cli_path"}
    return {key: value for key, value in provider.model_dump(by_alias=True, include=own).items() if value is not None}


def embedding_settings(
    config: Config, ceiling: Ceiling, keys: Mapping[str, ProviderKey] | None = None
) -> EmbeddingSettings:
    """The embedders' settings from the configuration; the embedded one sends nothing, so it is always allowed."""
    models = replace(models_settings(config, ceiling, keys), default_model="")  # embedders do not depend on it
    named = role_model(config, "embedding")
    by_ollama = allows_provider(ceiling, config, OLLAMA) and not is_refused(config, f"{OLLAMA}/")
    by_api = not named or (allows_model(ceiling, config, named) and not is_refused(config, named))
    refused: set[EmbedderKind] = set() if by_ollama else {"ollama"}
    refused |= set() if by_api else {"api"}
    return EmbeddingSettings(config.memory.embedder, named, models, frozenset(refused))


def _keys_to_move(loaded: Loaded, text: str, file: Path) -> Iterator[Problem]:
    """A warning for each key in the file's text that the credential store would keep better."""
    lines = json5_lines.parse(text)
    for name, key in keys_in_file(loaded.config, loaded.named_keys).items():
        if key.lower() in _NO_KEYS or is_loopback(loaded.config.providers[name].base_url or ""):
            continue
        path = ("providers", name, "apiKey")
        line = lines.line_of(path)
        what = f"{file}{at_line(line)}: {dotted(path)} contains a key."
        message = f"{what} Move it to the store: Onyx settings, {provider_title(name)}."
        yield Problem("notice", message, dotted(path), line)


def _last_good(
    home: Home, environment: Mapping[str, str], schema: type[Config], before: Settings | None
) -> tuple[str | None, Loaded, str]:
    """The text in force while the file cannot be read, its configuration, and a sentence that says so."""
    kept = home.last_good_file
    if before is not None and before.text is not None:
        return before.text, load(before.text, home.config_file, environment, schema), "the former file stays in force."
    try:
        if kept.exists():
            text = read_text(kept)
            return text, load(text, kept, environment, schema), f"its last good content ({kept}) is in force."
    except (ConfigError, OSError) as error:
        log.error("The last good configuration cannot be read: %s", error)
    loaded = load("", home.config_file, environment, schema)
    strict = loaded.config.model_copy(
        update={
            "security": loaded.config.security.model_copy(update={"auto": [], "secrets_filter": True}),
            "memory": loaded.config.memory.model_copy(update={"consolidation": False}),
        }
    )
    return (
        None,
        replace(loaded, config=strict),
        "the defaults apply, Auto mode asks for everything, nothing is reviewed.",
    )


def _keep(path: Path, text: str) -> None:
    """It is readable by the owner only: it may contain keys."""
    try:
        if not path.exists() or path.read_text("utf-8") != text:
            make_private_folder(path.parent)
            write_text_atomically(path, text)
    except (OSError, UnicodeDecodeError, StorageError) as error:
        log.error("No copy of the configuration could be saved for use while the file has an error: %s", error)


def secrets_of(loaded: Loaded) -> dict[str, str]:
    """Value → kind of every secret in a configuration, refused ones too."""
    return {**_written_keys(loaded.written), **_configured_secrets(loaded.config)}


def _configured_secrets(config: Config) -> dict[str, str]:
    """Value → kind of every key in the configuration."""
    addresses = {f"{_word(name)}-address": provider.base_url for name, provider in config.providers.items()}
    addresses |= {"searxng": config.tools.web.searxng_url, "models-url": config.local.models_url}
    passwords = {kind: _password(url) for kind, url in addresses.items() if url}
    keys = {f"{name}-key": provider.api_key for name, provider in config.providers.items()}
    keys["brave-key"] = config.tools.web.brave_api_key
    sections = (getattr(config, name) for name in config.model_fields_set)
    held = {value: kind for one in sections if isinstance(one, HoldsSecrets) for value, kind in one.secrets().items()}
    known = {key.get_secret_value(): _word(kind) for kind, key in keys.items() if key}
    known.pop(REFUSED_KEY, None)
    return held | known | {unquote(password): f"{kind}-password" for kind, password in passwords.items() if password}


def _word(name: str) -> str:
    return re.sub(r"[^a-z0-9-]+", "-", name.lower())


def _password(url: str) -> str | None:
    try:
        return urlsplit(url).password
    except ValueError:  # no address: nothing is sent to it
        return None


def _written_keys(raw: Mapping[str, Any]) -> dict[str, str]:
    """Value → kind of the keys as written: those that are refused are secrets, too."""
    providers, tools = raw.get("providers"), raw.get("tools")
    places = [*(providers.values() if isinstance(providers, Mapping) else ()), tools]
    places += [tools.get("web")] if isinstance(tools, Mapping) else []
    names = {"apiKey": "provider-key", "braveApiKey": "brave-key"}
    found = [(place.get(name), kind) for place in places if isinstance(place, Mapping) for name, kind in names.items()]
    return {key: kind for key, kind in found if isinstance(key, str) and key}
