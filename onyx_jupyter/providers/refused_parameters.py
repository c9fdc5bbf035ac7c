"""Parameters that a server refuses although the protocol has them: left out from then on, and said once in the log.

No list of models is complete. A refusal names the parameter, so it is learned from the refusal itself.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Collection, Mapping
from typing import Any

from onyx_jupyter.providers.event_stream import HttpFailure

log = logging.getLogger(__name__)
_REFUSALS = frozenset({400, 422})
# A request means the same without these, or with the newer name. The part of a parameter comes before the whole.
_OPTIONAL: Mapping[str, str | None] = {
    "temperature": None,
    "stream_options": None,
    "max_tokens": "max_completion_tokens",
    "include": None,
    "reasoning.summary": None,
    "reasoning": None,
    "reasoning_effort": None,
    "thinking": None,
    "output_config": None,
}
# A refusal of what a message lacks or holds names parameters, too.
_OF_A_MESSAGE = re.compile(r"\b(messages|input|contents)[.\[] ?\d|passed back|of type '|thought_signature")
# Of these a model may refuse one value and accept another.
_BY_VALUE = frozenset({"reasoning", "reasoning_effort", "thinking", "output_config"})


class RefusedParameters:
    """What each model at each address refused, kept as long as the process lives."""

    def __init__(self) -> None:
        self._refused: dict[tuple[str, str], set[str]] = {}

    def accepted(self, address: str, model: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body without what that model refused before."""
        refused, sent = self._refused.get((address, model), set()), dict(body)
        for name, newer in _OPTIONAL.items():
            if _value(sent, name) is None or _key(sent, name) not in refused:
                continue
            whole, _, part = name.partition(".")
            value = sent.pop(whole)
            if part:
                sent[whole] = {field: kept for field, kept in value.items() if field != part}
            elif newer is not None:
                sent[newer] = value
        return sent

    def learn(
        self,
        address: str,
        model: str,
        body: Mapping[str, Any],
        failure: HttpFailure,
        needed: Collection[str] = (),
    ) -> bool:
        """Whether the server refused a parameter of this body, so that another try without it makes sense.

        `needed` are parameters that the protocol insists on.
        """
        if failure.status_code not in _REFUSALS:
            return False
        text = str(failure.body)
        if _OF_A_MESSAGE.search(text):
            return False
        optional = [name for name in _OPTIONAL if name not in needed]
        named = [name for name in optional if _value(body, name) is not None and _is_named(name, text)]
        named = [name for name in named if not any(other.startswith(f"{name}.") for other in named)]
        if not named:
            return False
        self._refused.setdefault((address, model), set()).update(_key(body, name) for name in named)
        log.info("%s at %s does not accept %s: left out from now on", model, address, ", ".join(sorted(named)))
        return True


def _is_named(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None


def _value(body: Mapping[str, Any], name: str) -> Any:
    whole, _, part = name.partition(".")
    value = body.get(whole)
    return value.get(part) if part and isinstance(value, Mapping) else value if not part else None


def _key(body: Mapping[str, Any], name: str) -> str:
    return f"{name}={json.dumps(body[name], sort_keys=True)}" if name in _BY_VALUE else name
