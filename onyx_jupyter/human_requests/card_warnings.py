"""Warnings about what a card contains: secrets, and deceptive characters. They do not change what is shown.

A yes beyond this once is not offered for secrets or invisible characters: a grant's description must contain no secret,
and no one should allow permanently what they cannot see.
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
SECRET = "it contains what looks like a secret"
UNSEEN = "it contains invisible characters"


def cautions_of(call: ToolCall, preview: ToolPreview, redact: Redact) -> Sequence[Caution]:
    """The warnings to show for this call. Reads all of it, so do not call it in the event loop."""
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
    """Limits the scope to this once if the call contains what a grant must not cover."""
    if scope.blocked is not None and not scope.session_keys:
        return scope
    if "secret" in cautions:
        return blocked(SECRET)
    return blocked(UNSEEN) if "invisible" in cautions else scope


def as_json(data: Any) -> Any:
    """The data as on the wire and on disk: tuples are lists, names are text."""
    return json.loads(json.dumps(data, default=str))
