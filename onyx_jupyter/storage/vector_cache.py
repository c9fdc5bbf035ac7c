"""Vectors that were made before, so that no text is embedded twice. It never makes one."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple

from onyx_jupyter.protocols.retrieval import EmbedderIdentity


def vector_key(identity: EmbedderIdentity, text: str, purpose: str = "passage") -> str:
    """64 hex digits, of all that the vector depends on: who embeds, for what, and the text to the letter."""
    named = json.dumps([*astuple(identity), purpose, text])
    return hashlib.sha256(named.encode()).hexdigest()
