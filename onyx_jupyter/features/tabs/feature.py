"""The browser tabs and the notebooks they have open."""

from __future__ import annotations

from onyx_jupyter.features.tabs.operations import OPERATIONS
from onyx_jupyter.features.tabs.wire import ClientRequest
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Feature

FEATURE = Feature("tabs", operations=OPERATIONS, events=(EventType("client.request", ClientRequest),))
