"""Parameters that a server refuses although the protocol has them: left out from then on, and said once in the log.

No list of models is complete. A refusal names the parameter, so it is learned from the refusal itself.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any

from onyx_jupyter.providers.event_stream import HttpFailure

log = logging.getLogger(__name__)
_REFUSALS = frozenset({400, 422})
# A request means the same without these, or with the newer name.
_OPTIONAL: Mapping[str, str | None] = {
    "temperature": None,
    "stream_options": None,
    "max_tokens": "max_completion_tokens",
}


class RefusedParameters:
    """What each model at each address refused, kept as long as the process lives."""

    def __init__(self) -> None:
        self._refused: dict[tuple[str, str], set[str]] = {}

    def accepted(self, address: str, model: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body without what that model refused before."""
        refused = self._refused.get((address, model), set())
        names = {name: _OPTIONAL[name] if name in refused else name for name in body}
        return {names[name] or name: value for name, value in body.items() if names[name] is not None}

    def learn(self, address: str, model: str, body: Mapping[str, Any], failure: HttpFailure) -> bool:
        """Whether the server refused a parameter of this body, so that another try without it makes sense."""
        if failure.status_code not in _REFUSALS:
            return False
        text = str(failure.body)
        named = {name for name in _OPTIONAL if name in body and re.search(rf"\b{name}\b", text)}
        if not named:
            return False
        self._refused.setdefault((address, model), set()).update(named)
        log.info("%s at %s does not accept %s: left out from now on", model, address, ", ".join(sorted(named)))
        return True
