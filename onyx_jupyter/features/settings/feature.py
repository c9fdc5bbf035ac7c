"""`settings.*`: the keys of onyx.json that the panel changes, and what is wrong in the file."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.features.settings.service import SETTINGS, UPDATED, SettingsService
from onyx_jupyter.features.settings.wire import SettingsInfo, SettingsSaved, SettingsSetParams, SettingsUpdatedData
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import CONFIGURED, REREAD_CONFIG, STREAMS
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams


def make(parts: Parts) -> Built:
    streams = parts.get(STREAMS)
    parts.get(REREAD_CONFIG).subscribe(lambda _: streams.broadcast(UPDATED, {}))
    return Built({SETTINGS: SettingsService(parts.get(CONFIGURED))})


async def get_settings(params: NoParams, caller: Caller) -> dict[str, Any]:
    return await caller.get(SETTINGS).info()


async def set_settings(params: SettingsSetParams, caller: Caller) -> dict[str, Any]:
    service = caller.get(SETTINGS)
    conflict = await service.save(params.edits, params.version)
    return {"settings": await service.info()} | ({"conflict": conflict} if conflict else {})


FEATURE = Feature(
    "settings",
    make,
    requires=(CONFIGURED, REREAD_CONFIG, STREAMS),
    provides=(SETTINGS,),
    operations=(
        Operation("settings.get", NoParams, SettingsInfo, get_settings, "admin", dispatch="beside"),
        Operation("settings.set", SettingsSetParams, SettingsSaved, set_settings, "admin", dispatch="beside"),
    ),
    events=(EventType(UPDATED, SettingsUpdatedData),),
)
