"""A digest of what a cell shows, to distinguish one run's outputs from another's. Pictures are not distinguished."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

# Few enough that every reading has them, however it shortens outputs.
_OUTPUTS = 10
_CHARS = 10_000


def shown_digest(outputs: Sequence[Mapping[str, Any]]) -> str:
    """16 hex digits over the texts of the first outputs, regardless of how a file splits them into lines."""
    return _digest(_shown(outputs))


def shown_size(outputs: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """How many outputs the digest covers, and how many characters of the last one."""
    shown = _shown(outputs)
    return len(shown), len(shown[-1][1]) if shown else 0


def extends_outputs(outputs: Sequence[Mapping[str, Any]], digest: str, size: Sequence[int]) -> bool:
    """Whether these outputs begin with the non-empty ones of that digest and size; only a stream may have grown."""
    count, chars = size
    shown = _shown(outputs)[:count]
    if shown and shown[-1][0] == "stream":
        shown[-1] = ("stream", shown[-1][1][:chars])
    return bool(shown) and _digest(shown) == digest


def _shown(outputs: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    return [(str(output.get("output_type")), _text(output)[:_CHARS]) for output in outputs[:_OUTPUTS]]


def _digest(shown: Sequence[tuple[str, str]]) -> str:
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]


def _text(output: Mapping[str, Any]) -> str:
    if output.get("output_type") == "error":
        return f"{output.get('ename')}: {output.get('evalue')}"
    data = output.get("data")
    text = data.get("text/plain", "") if isinstance(data, Mapping) else output.get("text", "")
    return "".join(map(str, text)) if isinstance(text, list | tuple) else str(text)
