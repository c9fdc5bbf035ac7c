"""Lets a question end in `?`, which IPython would take for a request for its own help. Other lines are unchanged."""

from __future__ import annotations

import tokenize
from collections.abc import Sequence

from IPython.core.inputtransformer2 import EscapedCommand

MAGIC = "onyx"
_SPACE = frozenset({tokenize.INDENT, tokenize.DEDENT})


class Question(EscapedCommand):
    """Treats `%onyx …?` as the magic; `%onyx?` stays IPython's help. Takes precedence over that help if both match."""

    priority = 4

    @classmethod
    def find(cls, tokens_by_line: Sequence[Sequence[tokenize.TokenInfo]]) -> Question | None:
        for line in tokens_by_line:
            tokens = [token for token in line[:8] if token.type not in _SPACE][:3]
            if len(tokens) < 2 or [token.string for token in tokens[:2]] != ["%", MAGIC]:
                continue
            percent, name, *more = tokens
            behind = name.line[name.end[1] : name.end[1] + 1]
            if percent.end == name.start and not (more and more[0].string == "?" and behind == "?"):
                return cls(percent.start)
        return None
