"""Takes secrets out of text before it reaches a model, a file, a log or a screen. It stores them nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

REDACTED = "[secret removed]"
MIN_SECRET_CHARS = 8
_SECRET_VARIABLE = re.compile(r"(API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
_KNOWN_SHAPES = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{16,}"  # OpenAI, Anthropic, OpenRouter
    r"|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}"
    r"|AKIA[0-9A-Z]{16}|xox[abprs]-[A-Za-z0-9-]{10,}|AIza[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{30,}"
    r"|onyx_sk_[A-Za-z0-9_-]{16,})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----",
    re.DOTALL,
)


class SecretsFilter:
    """Knows the exact secrets of this server and the shapes of common ones."""

    def __init__(self, values: Iterable[str], *, shapes: bool = True) -> None:
        """`shapes` False takes out the exact values alone."""
        self._shapes = shapes
        known = sorted({value for value in values if len(value) >= MIN_SECRET_CHARS}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], more: Iterable[str]) -> SecretsFilter:
        """With the values of all variables whose names end like a secret's."""
        found = (value for name, value in environment.items() if _SECRET_VARIABLE.search(name))
        return cls([*found, *more])

    def apply(self, text: str) -> str:
        """The text with every secret replaced."""
        if self._known is not None:
            text = self._known.sub(REDACTED, text)
        return _KNOWN_SHAPES.sub(REDACTED, text) if self._shapes else text
