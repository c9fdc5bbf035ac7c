"""Reads and writes the keys of onyx.json that the settings panel shows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from onyx_jupyter.agents.config_file import ConfigFile
from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.config.edit import REMOVED
from onyx_jupyter.config.environment import locked
from onyx_jupyter.config.json5_lines import Path
from onyx_jupyter.config.problems import Problem, dotted
from onyx_jupyter.config.roles import ROLES, keys_of, role_model
from onyx_jupyter.config.schema import Config
from onyx_jupyter.config.schema.section import REFUSED_ADDRESS, REFUSED_MODEL
from onyx_jupyter.config.sections import with_sections
from onyx_jupyter.errors import ConfigChanged, ConfigError, InvalidRequest
from onyx_jupyter.features.settings.wire import SettingEdit, SettingValueType
from onyx_jupyter.operations.dependencies import Key
from onyx_jupyter.providers.known_providers import KNOWN_PROVIDERS

UPDATED = "settings.updated"
_LIMITS = {
    "dayUsd": "day_usd",
    "sessionUsd": "session_usd",
    "dayTokens": "day_tokens",
    "sessionTokens": "session_tokens",
}
_HEARTBEAT = {"enabled": "enabled", "quietMode": "quiet_mode", "intervalMs": "interval_ms"}
_PLACES = {
    "baseUrl": "base_url",
    "region": "region",
    "profile": "profile",
    "project": "project",
    "location": "location",
    "apiVersion": "api_version",
    "clientId": "client_id",
}


class SettingsService:
    """One file for all clients: it remembers the states that they were shown."""

    def __init__(self, configured: Configured) -> None:
        self._configured = configured
        self._file = ConfigFile(
            configured.home.config_file, configured.environment, with_sections(configured.sections())
        )

    async def info(self) -> dict[str, Any]:
        """The values in force, in wire format. Raises: StorageError."""
        try:
            _, version = await asyncio.to_thread(self._file.read)
        except ConfigError:  # it is among the problems
            version = ""
        settings = self._configured.settings
        set_by = locked(self._configured.environment)
        variables = {dotted(path): name for path, name in set_by.items()}
        return {
            "file": str(self._configured.home.config_file),
            "version": version,
            "values": [_value(key, value, variables) for key, value in _values(settings.config)],
            "problems": [_problem(problem) for problem in settings.problems],
        }

    async def save(self, edits: list[SettingEdit], version: str) -> str | None:
        """Writes the edits, which are in force on return; or what changed in the file meanwhile, as a diff.

        Raises: InvalidRequest, StorageError.
        """
        by_path: dict[Path, Any] = {}
        for edit in edits:
            by_path |= _paths(edit)
        try:
            await asyncio.to_thread(self._file.write, by_path, version)
        except ConfigChanged as changed:
            return changed.diff or str(changed)
        await self._configured.read()
        return None


def _values(config: Config) -> Iterator[tuple[str, SettingValueType]]:
    for role in ROLES:
        yield keys_of(role)[0], role_model(config, role)
    for key, name in _LIMITS.items():
        yield f"security.budget.{key}", getattr(config.security.budget, name)
    for key, name in _HEARTBEAT.items():
        yield f"heartbeat.{key}", getattr(config.heartbeat, name)
    for provider in dict.fromkeys([*config.providers, *KNOWN_PROVIDERS]):
        own = config.providers.get(provider)
        for key, name in _PLACES.items():
            if own is not None and getattr(own, name) is not None:
                yield f"providers.{provider}.{key}", getattr(own, name)


def _problem(problem: Problem) -> dict[str, Any]:
    shown = {"severity": problem.severity, "message": problem.message, "key": problem.key, "line": problem.line}
    return {name: value for name, value in shown.items() if value is not None}


def _value(key: str, value: SettingValueType, variables: Mapping[str, str]) -> dict[str, Any]:
    names = next((keys_of(role) for role in ROLES if keys_of(role)[0] == key), (key,))
    variable = next((variables[name] for name in names if name in variables), None)
    value = None if value in (REFUSED_ADDRESS, REFUSED_MODEL) else value
    return {"key": key, "value": value} | ({"lockedBy": variable} if variable else {})


def _paths(edit: SettingEdit) -> dict[Path, Any]:
    """What has to be written for an edit; of two keys with one meaning only one stays. Raises: InvalidRequest."""
    value: Any = REMOVED if edit.value is None else edit.value
    for role in ROLES:
        key, *aliases = keys_of(role)
        if edit.key == key:
            return {tuple(key.split(".")): value, **{tuple(alias.split(".")): REMOVED for alias in aliases}}
    section, _, rest = edit.key.partition(".")
    if section == "security" and rest.removeprefix("budget.") in _LIMITS:
        return {tuple(edit.key.split(".")): value}
    if section == "heartbeat" and rest in _HEARTBEAT:
        return {(section, rest): value}
    provider, _, name = rest.rpartition(".")
    if section == "providers" and provider and name in _PLACES:
        return {(section, provider, name): value}
    raise InvalidRequest(f"`key`: {edit.key[:80]!r} cannot be changed here. Edit onyx.json.", field="key")


SETTINGS: Key[SettingsService] = Key("settings")
