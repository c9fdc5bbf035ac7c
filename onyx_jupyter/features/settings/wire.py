"""Settings on the socket: the keys of onyx.json that the panel changes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from onyx_jupyter.operations.wire import Wire

SettingValueType = str | bool | int | float | None


class SettingValue(Wire):
    """`value` is the one in force, null if the default applies."""

    key: str
    value: SettingValueType = None
    locked_by: str | None = Field(default=None, description="the environment variable that sets it")


class SettingsProblem(Wire):
    """`error`: the value is not in force. `warning`: it has no effect. `notice`: it works, and should be elsewhere."""

    severity: Literal["error", "warning", "notice"]
    message: str
    key: str | None = None
    line: int | None = None


class SettingsInfo(Wire):
    file: str
    version: str = Field(description="of the file's text; a change names the version that it is based on")
    values: list[SettingValue]
    problems: list[SettingsProblem]


class SettingEdit(Wire):
    """`value` null removes the key."""

    key: str
    value: SettingValueType


class SettingsSetParams(Wire):
    version: str
    edits: list[SettingEdit] = Field(min_length=1, max_length=50)


class SettingsSaved(Wire):
    """With a `conflict` (a unified diff of what changed in the file meanwhile) nothing was written."""

    settings: SettingsInfo
    conflict: str | None = None


class SettingsUpdatedData(Wire):
    """The configuration in force has changed: read the settings again."""
