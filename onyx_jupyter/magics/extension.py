"""Registers the magics in a shell, where a question may end in `?`, and removes them again."""

from __future__ import annotations

import re
import sys
import tokenize
from collections.abc import Sequence
from typing import Any

from IPython.core.inputtransformer2 import EscapedCommand

from onyx_jupyter.magics.onyx_magic import OnyxMagics

_TAKEN_FOR_HELP = re.compile(r"^[ \t]*%onyx[ \t].*\?[ \t]*$", re.MULTILINE)
MAGIC = "onyx"
_SPACE = frozenset({tokenize.INDENT, tokenize.DEDENT})


def load(shell: Any) -> None:
    """What `%load_ext onyx_jupyter` does; a second time changes nothing."""
    shell.register_magics(OnyxMagics(shell))
    transformers = shell.input_transformer_manager.token_transformers
    if Question not in transformers:
        transformers.append(Question)
        _warn_of_questions_in_this_cell(shell)


def unload(shell: Any) -> None:
    """What `%unload_ext onyx_jupyter` does."""
    for magics in shell.magics_manager.magics.values():
        magics.pop(MAGIC, None)
    transformers = shell.input_transformer_manager.token_transformers
    transformers[:] = [one for one in transformers if one.__name__ != Question.__name__]


def _warn_of_questions_in_this_cell(shell: Any) -> None:
    """IPython parses the whole cell before running it, so in this cell a question mark still meant its own help."""
    history = getattr(getattr(shell, "history_manager", None), "input_hist_raw", [""])
    if _TAKEN_FOR_HELP.search(str(history[-1])):
        sys.stderr.write(
            "Onyx: a question in the cell that loads the extension must not end in ?, because IPython takes it as a "
            "help request. Put %load_ext onyx_jupyter in a cell of its own.\n"
        )


class Question(EscapedCommand):
    """`%onyx …?` is a question, not a request for IPython's help, over which it takes precedence; `%onyx?` is one."""

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
