"""The providers as the settings show them: what is known of each, tests of a connection, and stored keys."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onyx_jupyter.agents.allowed_models import allows_provider
from onyx_jupyter.agents.config_file import ConfigFile
from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.agents.provider_keys import ProviderKey, keys_in_file
from onyx_jupyter.agents.settings import options_of
from onyx_jupyter.config.ceiling import NOT_HERE
from onyx_jupyter.config.edit import REMOVED
from onyx_jupyter.config.load import load
from onyx_jupyter.config.sections import with_sections
from onyx_jupyter.errors import InvalidRequest, ModelError
from onyx_jupyter.features.providers.subscriptions import PROGRAMS, Subscriptions
from onyx_jupyter.operations.dependencies import Key
from onyx_jupyter.protocols import ModelInfo
from onyx_jupyter.providers.connection_check import check_connection
from onyx_jupyter.providers.known_providers import KNOWN_PROVIDERS, LOCAL, provider_title
from onyx_jupyter.providers.served_models import ServedModels, local_servers, served_models
from onyx_jupyter.security.credential_store import CredentialStore
from onyx_jupyter.usage.call_context import model_calls

UPDATED = "providers.updated"


class Providers:
    """`changed` tells every client that the list should be read again."""

    def __init__(
        self,
        configured: Configured,
        store: CredentialStore,
        subscriptions: Subscriptions,
        changed: Callable[[], None],
    ) -> None:
        self._configured = configured
        self._store = store
        self._subscriptions = subscriptions
        self._changed = changed
        self._file = ConfigFile(
            configured.home.config_file, configured.environment, with_sections(configured.sections())
        )
        self._answered: dict[str, ModelError | None] = {}
        self._as_of = -1

    async def cards(self, *, refresh: bool) -> dict[str, Any]:
        """The cards of all providers, in wire format; `refresh` asks the servers. Raises: StorageError."""
        if refresh:
            await self._configured.read()
            as_of = self._configured.changes
            self._note(await served_models(self._configured.models_settings(), self._names()), as_of)
        stored = await asyncio.to_thread(self._store.read)
        subscriptions = await self._subscriptions.parts(refresh=refresh)
        models = await self._models()
        store = {"place": stored.key_in, "problem": stored.problem}
        return {
            "providers": [self._card(name, models, subscriptions.get(name)) for name in self._names()],
            "keyStore": {name: value for name, value in store.items() if value is not None},
        }

    async def test(self, name: str, model_id: str | None) -> dict[str, Any]:
        """One real completion, in wire format. Raises: InvalidRequest if no model of it is known."""
        model_id = model_id or await self._model_of(name)
        if model_id.partition("/")[0] != name:
            raise InvalidRequest(f"`model`: {model_id} is not a model of {provider_title(name)}.", field="model")
        as_of = self._configured.changes
        try:
            with model_calls("test"):
                check = await check_connection(self._configured.models.open(model_id))
        except ModelError as error:
            if error.code != "budget":  # then it was not even asked
                self._record({name: error}, as_of)
            return {"ok": False, "model": model_id, "message": str(error)} | (
                {"hint": error.hint} if error.hint else {}
            )
        self._record({name: None}, as_of)
        usage = check.usage
        tested = {
            "ok": True,
            "model": model_id,
            "firstMs": round(check.first_s * 1000),
            "totalMs": round(check.total_s * 1000),
            "inputTokens": usage.input_tokens,
            "outputTokens": usage.output_tokens,
            "costUsd": usage.cost_usd,
        }
        return {name: value for name, value in tested.items() if value is not None}

    async def set_key(self, name: str, secret: str) -> None:
        """In force from the next run on. Raises: InvalidRequest, StorageError."""
        await asyncio.to_thread(self._store.put, name, secret)
        await self._reread(name)

    async def remove_key(self, name: str) -> None:
        """Raises: NotFound, StorageError."""
        await asyncio.to_thread(self._store.remove, name)
        await self._reread(name)

    async def move_key(self, name: str) -> None:
        """Stores the key that onyx.json contains, then takes it out of the file.

        If the file changes in between, the key is in both places and can be moved again.
        Raises: InvalidRequest, ConfigChanged, ConfigError, StorageError.
        """
        await asyncio.to_thread(self._move, name)
        await self._reread(name)

    def _move(self, name: str) -> None:
        text, version = self._file.read()
        loaded = load(text, self._file.path, self._file.environment, self._file.schema)
        key = keys_in_file(loaded.config, loaded.named_keys).get(name)
        if key is None:
            raise InvalidRequest(f"`name`: onyx.json contains no key of {provider_title(name)}.", field="name")
        stored = self._store.read().secrets.get(name)
        if stored not in (None, key):
            raise InvalidRequest(
                f"Another key of {provider_title(name)} is stored, and used. "
                f"Remove that one first, or delete providers.{name}.apiKey from onyx.json.",
                field="name",
            )
        if stored is None:
            self._store.put(name, key)
        self._file.write({("providers", name, "apiKey"): REMOVED}, version)

    async def rotate(self) -> None:
        """Encrypts the stored keys with a new key. Raises: StorageError."""
        await asyncio.to_thread(self._store.rotate)
        self._changed()

    async def detect(self) -> None:
        """Looks for servers on this machine, so that their models are offered; nothing is sent elsewhere."""
        settings, as_of = self._configured.models_settings(), self._configured.changes
        answers = await served_models(settings, local_servers(settings))
        self._note({name: answer for name, answer in answers.items() if name not in self._answered}, as_of)
        if any(answer.models for answer in answers.values()):
            self._changed()

    async def _reread(self, name: str) -> None:
        self._answered.pop(name, None)
        await self._configured.read()
        self._changed()

    async def _models(self) -> Sequence[ModelInfo]:
        """All models, as of the configuration that is in force on return."""
        while True:
            as_of, models = self._configured.changes, await self._configured.models.list()
            if as_of == self._configured.changes:
                return models

    def _names(self) -> list[str]:
        configured = [*self._configured.settings.config.providers, *self._configured.provider_keys]
        names = dict.fromkeys([*configured, *KNOWN_PROVIDERS, *PROGRAMS])
        return [name for name in names if name not in (LOCAL, "chatgpt")]

    def _note(self, answers: Mapping[str, ServedModels], as_of: int) -> None:
        """A server of one's own that does not answer is failing only if it was configured."""
        configured = self._configured.settings.config.providers
        self._keep(
            {
                name: answer.error
                for name, answer in answers.items()
                if answer.error is None or name in configured or self._key(name)
            },
            as_of,
        )

    def _record(self, found: Mapping[str, ModelError | None], as_of: int) -> None:
        self._keep(found, as_of)
        self._changed()

    def _keep(self, found: Mapping[str, ModelError | None], as_of: int) -> None:
        """What was found out with another configuration does not hold, neither what is known nor what comes now."""
        if self._as_of != self._configured.changes:
            self._answered.clear()
            self._as_of = self._configured.changes
        if as_of == self._as_of:
            self._answered |= found

    def _key(self, name: str) -> ProviderKey | None:
        return self._configured.provider_keys.get(name)

    def _card(self, name: str, models: Sequence[ModelInfo], subscription: dict[str, Any] | None) -> dict[str, Any]:
        config = self._configured.settings.config
        own, known, key = config.providers.get(name), KNOWN_PROVIDERS.get(name), self._key(name)
        base_url = own.base_url if own else None
        offered = [model.id for model in models if model.provider == name and not model.locked]
        if name in PROGRAMS and subscription and subscription["state"] == "signed_in":
            offered = [f"{name}/default"]
        # Bedrock and Vertex AI have no key of their own: their libraries find the login of the machine. Of a
        # subscription it is the sign-in that counts.
        takes_no_key = known is not None and not known.key_variables and subscription is None
        keyless = takes_no_key and own is not None and bool(options_of(own))
        has_what_it_needs = bool(key or base_url or keyless or (name in PROGRAMS and offered))
        state, error = self._state(name, has_what_it_needs=has_what_it_needs)
        card = {
            "name": name,
            "title": provider_title(name),
            "state": state,
            "message": str(error) if error else None,
            "hint": error.hint if error else None,
            "key": key.source if key else None,
            "variable": key.variable if key else None,
            "keyInFile": name in keys_in_file(config, self._configured.settings.named_keys) or None,
            "keyVariables": list(known.key_variables) if known else [],
            "needsKey": bool(known and known.key_variables) and base_url is None,
            "baseUrl": self._configured.redact(base_url) if base_url else None,
            "ownServer": base_url is not None or bool(known and known.default_url),
            "models": offered,
            "subscription": subscription,
        }
        return {name: value for name, value in card.items() if value is not None}

    def _state(self, name: str, *, has_what_it_needs: bool) -> tuple[str, ModelError | None]:
        if not allows_provider(self._configured.ceiling, self._configured.settings.config, name):
            return "locked", ModelError("refused", f"{NOT_HERE}: {provider_title(name)}.", permanent=True)
        if name in self._answered and self._as_of == self._configured.changes:
            error = self._answered[name]
            return ("connected", None) if error is None else ("failing", error)
        return ("ready" if has_what_it_needs else "not_configured"), None

    async def _model_of(self, name: str) -> str:
        default = self._configured.model_of(self._configured.settings.config.default_agent())
        if default.partition("/")[0] == name:
            return default
        models: list[ModelInfo] = [one for one in await self._configured.models.list() if one.provider == name]
        if not models:
            raise InvalidRequest(
                f"`model`: no model of {provider_title(name)} is known. Name one, or refresh the list.", field="model"
            )
        return models[0].id


PROVIDERS: Key[Providers] = Key("providers")
