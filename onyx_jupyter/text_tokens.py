"""Estimates the tokens of a text without a tokenizer."""

from __future__ import annotations

import string

# Calibrated by tests/agent/test_token_count.py against two common tokenizers: preferably too many than too few.
_LOWER_CASE = (string.ascii_lowercase + " ").encode()
_LOWER_CASE_CHARS = 4.0
_OTHER_ASCII_CHARS = 1.4
_OTHER_BYTES = 1.7


def text_tokens(text: str) -> int:
    """By kinds of characters: words are cheap, digits and punctuation expensive, other scripts by their UTF-8 bytes."""
    return round(token_weight(text))


def token_weight(text: str) -> float:
    """`text_tokens` before rounding: the weight of two texts together is the sum of their weights."""
    data = text.encode("utf-8", "replace")
    rest = data.translate(None, _LOWER_CASE)
    ascii_rest = len(rest.decode("utf-8").encode("ascii", "ignore"))
    words = (len(data) - len(rest)) / _LOWER_CASE_CHARS
    return words + ascii_rest / _OTHER_ASCII_CHARS + (len(rest) - ascii_rest) / _OTHER_BYTES
