"""A digest of what a cell shows, for telling one run's outputs from another's. It never tells pictures apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

# Few enough that every reading has them, however it shortens outputs.
_OUTPUTS = 10
_CHARS = 10_000


def shown_digest(outputs: Sequence[Mapping[str, Any]]) -> str:
    """16 hex digits over the texts of the first outputs, the same however a file splits them into lines."""
    shown = [(str(output.get("output_type")), _text(output)[:_CHARS]) for output in outputs[:_OUTPUTS]]
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]


def _text(output: Mapping[str, Any]) -> str:
    if output.get("output_type") == "error":
        return f"{output.get('ename')}: {output.get('evalue')}"
    data = output.get("data")
    text = data.get("text/plain", "") if isinstance(data, Mapping) else output.get("text", "")
    return "".join(map(str, text)) if isinstance(text, list | tuple) else str(text)
