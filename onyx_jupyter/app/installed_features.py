"""Features of other packages, found by the entry point `onyx_jupyter.features`. Their failures do not stop ours."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib.metadata import entry_points

from onyx_jupyter.app.container import in_order
from onyx_jupyter.config.sections import with_sections
from onyx_jupyter.operations.feature import Feature
from onyx_jupyter.operations.keys import CONTRIBUTIONS, HOST
from onyx_jupyter.operations.operation import Operations
from onyx_jupyter.toolsets.toolset import FixedToolset

log = logging.getLogger(__name__)
GROUP = "onyx_jupyter.features"


def with_installed(ours: Sequence[Feature]) -> tuple[list[Feature], dict[str, str]]:
    """Our features followed by the installed ones, ordered by name; and why other installed ones cannot be used."""
    features, failed = list(ours), dict[str, str]()
    for point in sorted(entry_points(group=GROUP), key=lambda one: one.name):
        try:
            feature = point.load()
            if not isinstance(feature, Feature):
                raise TypeError(f"{point.value} is not an onyx_jupyter.operations.feature.Feature")
            _check([*features, feature])
        except (Exception, SystemExit) as error:  # importing a third-party package may raise anything
            log.exception("The feature %s of an installed package could not be loaded", point.name)
            failed[point.name] = str(error).rstrip(".") or type(error).__name__
        else:
            features.append(feature)
    return features, failed


def _check(features: Sequence[Feature]) -> None:
    """Raises: ValueError if two define something of the same name."""
    in_order(features, (HOST, CONTRIBUTIONS))
    Operations(operation for feature in features for operation in feature.operations)
    with_sections({feature.name: feature.settings for feature in features if feature.settings})
    for what, names in (
        ("events", [event.name for feature in features for event in feature.events]),
        ("tools", [tool.name for toolset in _fixed(features) for tool in toolset.given]),
    ):
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"Two {what} are named {twice!r}. Rename one of them.")


def _fixed(features: Sequence[Feature]) -> list[FixedToolset]:
    """The toolsets whose tools are known in advance; of the others, a run takes the first tool of each name."""
    return [one for feature in features for one in feature.toolsets if isinstance(one, FixedToolset)]
