"""Says what a card holds beyond its words: secrets, and characters that deceive. It never changes what is shown.

A yes beyond this once is not offered for either: a grant's words must hold no secret, and nobody allows for good what
they cannot see.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from onyx_jupyter.human_requests.approval_scope import Scope, blocked
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import ToolPreview
from onyx_jupyter.security.visible_characters import kinds_in

Caution = Literal["secret", "invisible", "look_alike"]
Redact = Callable[[Any], Any]
SECRET = "it holds what looks like a secret"
UNSEEN = "it holds characters that cannot be seen"


def cautions_of(call: ToolCall, preview: ToolPreview, redact: Redact) -> Sequence[Caution]:
    """What a person is told of this call beside what it does. Reads all of it, so not for the event loop."""
    held = as_json(
        {
            "summary": preview.summary,
            "details": dict(preview.details),
            "facts": dict(preview.exactly.facts),
            "arguments": dict(call.arguments),
            "words": [preview.grant_text, preview.must_ask],
        }
    )
    kinds = kinds_in(held)
    found: Mapping[Caution, bool] = {
        "secret": redact(held) != held,
        "invisible": "invisible" in kinds,
        "look_alike": bool(kinds & {"look_alike", "space"}),
    }
    return [caution for caution, is_there in found.items() if is_there]


def with_cautions(scope: Scope, cautions: Sequence[Caution]) -> Scope:
    """No further than this once, where it holds what a grant must not cover."""
    if scope.blocked is not None and not scope.session_keys:
        return scope
    if "secret" in cautions:
        return blocked(SECRET)
    return blocked(UNSEEN) if "invisible" in cautions else scope


def as_json(data: Any) -> Any:
    """As it is on the wire and on disk: tuples are lists, names are text."""
    return json.loads(json.dumps(data, default=str))
