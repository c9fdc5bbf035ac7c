"""Loads what an answer needs while the user is still typing."""

from __future__ import annotations

from onyx_jupyter.features.warm_up.warm_up import WarmUp
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import CONFIGURED, CONTRIBUTIONS, WARM_UP


def make(parts: Parts) -> Built:
    configured = parts.get(CONFIGURED)
    warm_up = WarmUp(lambda: configured.models, parts.get(CONTRIBUTIONS))
    return Built({WARM_UP: warm_up}, close=warm_up.close)


FEATURE = Feature("warm_up", make, requires=(CONFIGURED, CONTRIBUTIONS), provides=(WARM_UP,), essential=True)
