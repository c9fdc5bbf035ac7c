"""What is derived from the configuration: settings, models, agents, secrets to hide."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel

from onyx_jupyter.agents.allowed_models import AllowedModels, allows_model, allows_provider
from onyx_jupyter.agents.default_model import NO_MODEL, DefaultModel
from onyx_jupyter.agents.metered_model import limits_of
from onyx_jupyter.agents.provider_keys import ProviderKey, provider_keys
from onyx_jupyter.agents.settings import Settings, load_settings, models_settings
from onyx_jupyter.clock import Clock, SystemClock
from onyx_jupyter.config.ceiling import NOT_HERE, Ceiling
from onyx_jupyter.config.paths import Home
from onyx_jupyter.config.roles import model_for
from onyx_jupyter.config.schema import AgentConfig
from onyx_jupyter.errors import InvalidRequest, OnyxError
from onyx_jupyter.memory.templates import install_templates
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import ModelFileHolder, Models
from onyx_jupyter.providers.known_providers import LOCAL
from onyx_jupyter.providers.local_files.free_memory import free_memory_bytes
from onyx_jupyter.providers.local_files.storage_folders import shared_folders
from onyx_jupyter.providers.settings import ModelsSettings
from onyx_jupyter.security.credential_store import Credentials, no_credentials
from onyx_jupyter.security.secret_redactor import SecretRedactor, no_secrets
from onyx_jupyter.toolsets.access import is_denied, names_in
from onyx_jupyter.toolsets.tool import Tool
from onyx_jupyter.usage.budget import BudgetLimits
from onyx_jupyter.usage.meter import UsageMeter
from onyx_jupyter.usage.model_call import ModelCall


@dataclass
class Configured:
    """The configuration in force and what is built from it, rebuilt whenever it changes.

    `more_secrets` returns further secrets to hide (value → kind), `tools` all known tools, `sections` the
    configuration sections of features, and `stored` the stored keys (in a thread). `on_change` is called on every
    change, `on_reread` whenever reading again found something new, problems included, and `on_call` after every model
    call. Nothing exceeds the `ceiling`. `provider_keys` is the key of each provider that has one. `time_zone` returns
    the name of the user's, in which a day of the budget begins.
    """

    home: Home
    server_root: Path
    templates: Path
    environment: Mapping[str, str]
    open_models: Callable[[ModelsSettings], Models]
    tools: Callable[[], Sequence[Tool[Any]]]
    more_secrets: Callable[[], Mapping[str, str]]
    on_change: Callable[[Settings], None]
    ceiling: Ceiling = field(default_factory=Ceiling)
    sections: Callable[[], Mapping[str, type[BaseModel]]] = dict
    stored: Callable[[], Credentials] = no_credentials
    clock: Clock = field(default_factory=SystemClock)
    on_call: Callable[[ModelCall], None] = lambda call: None
    on_reread: Callable[[None], None] = lambda _: None
    time_zone: Callable[[], str] = lambda: "UTC"
    provider_keys: Mapping[str, ProviderKey] = field(default_factory=dict, init=False)
    _settings: Settings | None = field(default=None, init=False)
    _models: AllowedModels | None = field(default=None, init=False)
    _opened: tuple[ModelsSettings, Models] | None = field(default=None, init=False)
    _default: DefaultModel | None = field(default=None, init=False)
    _retired: list[Models] = field(default_factory=list, init=False)
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _served: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False)
    _stored_keys: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    changes: int = field(default=0, init=False)
    """How often the configuration has changed."""
    meter: UsageMeter = field(init=False)
    """Counts the model calls, and keeps them within the budget."""

    def __post_init__(self) -> None:
        self.meter = UsageMeter(
            self.home.usage, self.clock, self._budget, self.on_call, lambda: ZoneInfo(self.time_zone())
        )

    async def read(self) -> None:
        """Rereads the file, and creates each agent's workspace. Raises: StorageError.

        What is running keeps the settings and models that it began with.
        """
        async with self._reading:
            before = self._settings and (self._settings.config, self._settings.problems, self.provider_keys)
            await self._read()
        if before is not None and before != (self.settings.config, self.settings.problems, self.provider_keys):
            self.on_reread(None)

    async def _read(self) -> None:
        stored = (await asyncio.to_thread(self.stored)).secrets
        # A key that was removed may still be in a conversation.
        self._stored_keys |= {key: f"{name}-key" for name, key in stored.items()}
        secrets = {**self._stored_keys, **self.more_secrets()}
        settings = await asyncio.to_thread(
            load_settings, self.home, self.environment, secrets, self._settings, self.sections()
        )
        settings = replace(settings, config=self.ceiling.over(settings.config))
        keys = provider_keys(settings.config, settings.named_keys, stored, self.environment)
        for agent in settings.config.agents.items:
            workspace = self.home.workspace(agent.id, agent.workspace)
            await asyncio.to_thread(install_templates, self.templates, workspace)
        unchanged = self._settings is not None and (self._settings.config, self.provider_keys) == (
            settings.config,
            keys,
        )
        self._settings, self.provider_keys = settings, keys
        if unchanged:
            return
        self.on_change(settings)
        self.changes += 1
        folders = (self.home.models, *shared_folders())
        if self._default is None:
            free_bytes = await asyncio.to_thread(free_memory_bytes)
            is_allowed = allows_provider(self.ceiling, settings.config, LOCAL)
            self._default = DefaultModel(folders, free_bytes, is_allowed=is_allowed)
        models = self._open(replace(self.models_settings(), local_folders=folders, local_saved_in=self.home.cache))
        self._models = AllowedModels(models, settings.config, self.ceiling, self._default.missing, self.meter)

    def _open(self, wished: ModelsSettings) -> Models:
        """The models that are open if their settings are the same: a local one would be loaded once more."""
        if self._opened is not None and self._opened[0] == wished:
            return self._opened[1]
        if self._opened is not None:
            self._retired.append(self._opened[1])  # a run may still be using it
            self._forget_served(self._opened[0], wished)
        models = self.open_models(wished)
        self._opened = (wished, models)
        return models

    def _forget_served(self, before: ModelsSettings, now: ModelsSettings) -> None:
        """What a server said that it has counts no more once it has another address or key."""
        for name in list(self._served):
            if before.providers.get(name) != now.providers.get(name) or name in now.refused:
                del self._served[name]

    async def close(self) -> None:
        """Ends every model's process and connection."""
        for models in self._all_opened():
            await models.close()

    async def release(self, path: Path) -> bool:
        """Closes a model's file wherever it is not answering; returns whether it is no longer in use."""
        holders = [models for models in self._all_opened() if isinstance(models, ModelFileHolder)]
        return all([await models.release(path) for models in holders])

    def _all_opened(self) -> list[Models]:
        return [*self._retired, *([self._opened[1]] if self._opened else [])]

    def models_settings(self) -> ModelsSettings:
        """What the providers need, with the key of each."""
        settings = models_settings(self.settings.config, self.ceiling, self.provider_keys)
        return replace(settings, served=self._served)

    @property
    def settings(self) -> Settings:
        assert self._settings is not None, "read() comes first"
        return self._settings

    @property
    def models(self) -> Models:
        assert self._models is not None, "read() comes first"
        return self._models

    @property
    def secrets(self) -> SecretRedactor:
        """No secrets are known before the configuration is read."""
        return self._settings.secrets if self._settings else no_secrets()

    def redact(self, text: str) -> str:
        """The text without secrets; none are known before the configuration is read."""
        return self.secrets.apply(text)

    def redact_data(self, data: Any) -> Any:
        """JSON-like data without secrets."""
        return self.secrets.redact_data(data)

    def model_of(self, agent: AgentConfig) -> str:
        """The model that answers for this agent if a session names none; `NO_MODEL` if there is none."""
        assert self._default is not None, "read() comes first"
        return model_for(self.settings.config, "default", agent) or self._default.id or agent.fallback_model or NO_MODEL

    def human_timeout_s(self) -> float:
        """How many seconds a person has to answer."""
        return self.settings.config.security.approval_timeout_ms / 1000

    def check_model(self, model_id: str | None) -> None:
        """Raises: InvalidRequest if that model is not allowed on this server."""
        if model_id and not allows_model(self.ceiling, self.settings.config, model_id):
            raise InvalidRequest(f"`model`: {NOT_HERE}: {model_id}. Choose another model.", field="model")

    def forbidden(self, call: ToolCall) -> str | None:
        """Why that call is forbidden on this server, or None."""
        tools = self.tools()
        denied = [name for name in names_in(call, tools) if is_denied(name, self.ceiling.deny, tools)]
        return f"{NOT_HERE}: {denied[0]}." if denied else None

    def workspaces(self) -> Mapping[str, Path]:
        """Each agent's folder, by the agent's id; empty before the configuration is read."""
        if self._settings is None:
            return {}
        return {one.id: self.home.workspace(one.id, one.workspace) for one in self._settings.config.agents.items}

    def is_light(self, model_id: str) -> bool:
        """Whether that model gets a short prompt and few tools."""
        try:
            return self.models.open(model_id).light
        except OnyxError:
            return False  # a request to it will report why it is unavailable

    def _budget(self) -> BudgetLimits:
        return limits_of(self.settings.config.security.budget)
