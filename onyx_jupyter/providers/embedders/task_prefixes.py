"""What stands before a text so that an embedding model knows what it is for. Most models want nothing.

Source: the model cards of nomic-embed-text, mxbai-embed-large, snowflake-arctic-embed and e5.
"""

from __future__ import annotations

import re

from onyx_jupyter.providers.embedders.source import Purpose

_RETRIEVE = "Represent this sentence for searching relevant passages: "
# Model name → what goes before a passage and before a query; the first that is found in the name counts.
_PREFIXES = (
    (re.compile(r"nomic-embed-text"), "search_document: ", "search_query: "),
    (re.compile(r"mxbai-embed-large"), "", _RETRIEVE),
    (re.compile(r"snowflake-arctic-embed-?(l-|m-)?v?2|snowflake-arctic-embed2"), "", "query: "),
    (re.compile(r"snowflake-arctic-embed"), "", _RETRIEVE),
    (re.compile(r"(?:^|[/-])e5-(?:small|base|large)(?!.*instruct)"), "passage: ", "query: "),
)


def prefixed(model: str, text: str, purpose: Purpose) -> str:
    """The text as that model wants it."""
    for name, passage, query in _PREFIXES:
        if name.search(model.lower()):
            return (passage if purpose == "passage" else query) + text
    return text
