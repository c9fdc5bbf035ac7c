"""Prefixes that tell an embedding model the purpose of a text. Most models need none.

Source: the model cards of nomic-embed-text, mxbai-embed-large, snowflake-arctic-embed and e5.
"""

from __future__ import annotations

import re

from onyx_jupyter.providers.embedders.source import Purpose

_RETRIEVE = "Represent this sentence for searching relevant passages: "
# Model name → prefix of a passage and of a query; the first entry that occurs in the model's name counts.
_PREFIXES = (
    (re.compile(r"nomic-embed-text"), "search_document: ", "search_query: "),
    (re.compile(r"mxbai-embed-large"), "", _RETRIEVE),
    (re.compile(r"snowflake-arctic-embed-?(l-|m-)?v?2|snowflake-arctic-embed2"), "", "query: "),
    (re.compile(r"snowflake-arctic-embed"), "", _RETRIEVE),
    (re.compile(r"(?:^|[/-])e5-(?:small|base|large)(?!.*instruct)"), "passage: ", "query: "),
)


def prefixed(model: str, text: str, purpose: Purpose) -> str:
    """The text with the prefix that the model expects."""
    for name, passage, query in _PREFIXES:
        if name.search(model.lower()):
            return (passage if purpose == "passage" else query) + text
    return text
