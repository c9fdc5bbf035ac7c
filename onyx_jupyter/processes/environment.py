"""The environment of processes that Onyx starts: the server's, without variables that look like keys."""

from __future__ import annotations

import os
import re
from collections.abc import Collection

MARKER_VARIABLE = "ONYX_EXEC_ID"
_SECRET_NAMES = re.compile(
    r"ONYX_.*|.*_API_KEY|.*_API_TOKEN|.*_AUTH_TOKEN|JUPYTER.*TOKEN|JPY.*TOKEN|.*PROXY_AUTH_TOKEN", re.IGNORECASE
)


def command_environment(marker: str, needed: Collection[str] = ()) -> dict[str, str]:
    """Includes the marker that identifies all descendants; keeps `needed` names even if they look like keys."""
    kept = {name: value for name, value in os.environ.items() if name in needed or not _SECRET_NAMES.fullmatch(name)}
    return kept | {MARKER_VARIABLE: marker, "GIT_TERMINAL_PROMPT": "0"}
