"""What an answer needs is loaded while its person still writes."""

from __future__ import annotations

from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.parts import Parts
from onyx_jupyter.runtime.keys import CONFIGURED, KNOWLEDGE, MEMORIES, SESSION_SEARCH, WARM_UP
from onyx_jupyter.runtime.warm_up import WarmUp


def make(parts: Parts) -> Built:
    configured, knowledge = parts.get(CONFIGURED), parts.find(KNOWLEDGE)
    warm_up = WarmUp(
        lambda: configured.models,
        parts.get(MEMORIES),
        knowledge.documents if knowledge else None,
        parts.get(SESSION_SEARCH),
    )
    return Built({WARM_UP: warm_up}, close=warm_up.close)


FEATURE = Feature(
    "warm_up",
    make,
    requires=(CONFIGURED, MEMORIES, SESSION_SEARCH),
    uses=(KNOWLEDGE,),
    provides=(WARM_UP,),
    essential=True,
)
