"""What model calls use and cost."""

from __future__ import annotations

from onyx_jupyter.features.usage.notices import UsageNotices
from onyx_jupyter.features.usage.operations import OPERATIONS
from onyx_jupyter.features.usage.wire import UsageChangedData
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import MODEL_CALLS, REREAD_CONFIG, STREAMS


def make(parts: Parts) -> Built:
    notices = UsageNotices(parts.get(STREAMS).broadcast)
    parts.get(MODEL_CALLS).subscribe(notices.changed)
    parts.get(REREAD_CONFIG).subscribe(notices.changed)  # its budget and time zone
    return Built(close=notices.close)


FEATURE = Feature(
    "usage",
    make,
    requires=(MODEL_CALLS, REREAD_CONFIG, STREAMS),
    operations=OPERATIONS,
    events=(EventType("usage.changed", UsageChangedData),),
)
