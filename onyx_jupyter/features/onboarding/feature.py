"""The questions by which Onyx gets to know a person."""

from __future__ import annotations

from onyx_jupyter.features.onboarding.operations import OPERATIONS
from onyx_jupyter.features.onboarding.service import ONBOARDING, UPDATED, Onboarding
from onyx_jupyter.features.onboarding.wire import OnboardingUpdatedData
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import AGENTS, HOST, SESSIONS, STREAMS


def make(parts: Parts) -> Built:
    host = parts.get(HOST)
    onboarding = Onboarding(
        host.home.onboarding, parts.get(AGENTS), parts.get(SESSIONS), parts.get(STREAMS).broadcast, host.clock
    )
    return Built({ONBOARDING: onboarding})


FEATURE = Feature(
    "onboarding",
    make,
    requires=(HOST, AGENTS, SESSIONS, STREAMS),
    provides=(ONBOARDING,),
    operations=OPERATIONS,
    events=(EventType(UPDATED, OnboardingUpdatedData),),
)
