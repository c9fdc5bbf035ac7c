"""`settings.*`: the keys of onyx.json that the panel changes, and what is wrong in the file."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.features.settings.wire import SettingsInfo, SettingsSaved, SettingsSetParams
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams


async def get_settings(params: NoParams, caller: Caller) -> dict[str, Any]:
    raise NotImplementedError


async def set_settings(params: SettingsSetParams, caller: Caller) -> dict[str, Any]:
    raise NotImplementedError


OPERATIONS = (
    Operation("settings.get", NoParams, SettingsInfo, get_settings, "admin", dispatch="beside"),
    Operation("settings.set", SettingsSetParams, SettingsSaved, set_settings, "admin", dispatch="beside"),
)
