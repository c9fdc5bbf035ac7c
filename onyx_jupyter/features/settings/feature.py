"""The settings panel's part of the configuration."""

from __future__ import annotations

from onyx_jupyter.features.settings.operations import OPERATIONS
from onyx_jupyter.features.settings.wire import SettingsUpdatedData
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Feature
from onyx_jupyter.operations.keys import CONFIGURED

FEATURE = Feature(
    "settings",
    requires=(CONFIGURED,),
    operations=OPERATIONS,
    events=(EventType("settings.updated", SettingsUpdatedData),),
)
