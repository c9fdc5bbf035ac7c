"""Removes keys from texts that providers write, before anyone sees them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MASK = "[key]"
_MIN_SECRET_CHARS = 6
# Providers quote a key whole or with stars in the middle; both start with a known prefix or follow a telling word.
_KEY_SHAPES = re.compile(
    r"""(?x)
    \b(?:sk|pk|rk|gsk|xai|nvapi|hf|r8|pplx|fw|csk|tgp)[-_][A-Za-z0-9_\-*.…]{6,}
    | \bAIza[A-Za-z0-9_\-*]{10,}
    | \bAKIA[A-Z0-9*]{8,}
    | (?<=Bearer\s)[A-Za-z0-9._\-*~+/=]{6,}
    | (?<=key=)[^&\s"']{6,}
    | \btid=[^\s"']{6,}  # Copilot's
    """
)
_QUOTED_KEY = re.compile(r"(?i)(api[ _-]?key(?: provided)?\s*[:=]\s*)[\"']?[^\s\"',}]{6,}")


def scrub(text: str, secrets: Iterable[str | None] = ()) -> str:
    """`text` without the given secrets and without anything that looks like a key."""
    for secret in secrets:
        bare = (secret or "").strip()  # an error may show the line break after it as \\n
        if len(bare) >= _MIN_SECRET_CHARS:
            text = text.replace(bare, _MASK)
    return _QUOTED_KEY.sub(rf"\1{_MASK}", _KEY_SHAPES.sub(_MASK, text))
