"""Features and tools from installed packages. Reads all their metadata and imports some: not for an event loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onyx_jupyter.app.features import FEATURES, all_tools
from onyx_jupyter.app.installed_features import with_installed
from onyx_jupyter.config.ceiling import SETTING, Ceiling
from onyx_jupyter.config.paths import Home
from onyx_jupyter.errors import ConfigError
from onyx_jupyter.operations.feature import Feature
from onyx_jupyter.toolsets.access import unknown_names
from onyx_jupyter.toolsets.installed_toolsets import installed_toolsets, tools_at_start
from onyx_jupyter.toolsets.toolset import Toolset


@dataclass(frozen=True, slots=True)
class Packages:
    """`features` are ours and those of packages, `failed` those of packages that cannot be used, with the reason."""

    features: Sequence[Feature]
    failed: Mapping[str, str]
    toolsets: Sequence[Toolset]


def installed_packages(ceiling: Ceiling) -> Packages:
    """Blocks. Raises: ConfigError if the ceiling denies something that does not exist."""
    toolsets = installed_toolsets()
    if unknown_names("deny", ceiling.deny, all_tools()):  # perhaps tools of a package: look there
        known = [*all_tools(), *tools_at_start(toolsets, Home.from_environment().root)]
        if problems := unknown_names("deny", ceiling.deny, known):
            raise ConfigError(f"{SETTING}: {problems[0]}", key="deny")
    return Packages(*with_installed(FEATURES), toolsets)
