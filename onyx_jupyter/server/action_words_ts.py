"""Writes the table of what tools do as TypeScript, with each verb wrapped for translation.

`python -m onyx_jupyter.server.action_words_ts` writes the file, `--check` only says whether it is current.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from onyx_jupyter.action_words import ACTIONS, Words
from onyx_jupyter.generated_file import write_or_check

TARGET = Path(__file__).parents[2] / "labextension" / "src" / "features" / "chat" / "action_words.ts"
HEADER = """\
/** What tools do, in words. */
// Generated from onyx_jupyter/action_words.py by `python -m onyx_jupyter.server.action_words_ts`. Do not edit.
import type { TranslationBundle } from '@jupyterlab/translation';

/** While it goes on, and when it is done. */
export type ActionWords = readonly [doing: string, done: string];

/** The words for a label's `action`, done to `count` things; null for one that this version does not know. */
export function phrasesOf(action: string, count: number, trans: TranslationBundle): ActionWords | null {
  switch (action) {
"""
FOOTER = """\
    default:
      return null;
  }
}
"""


def main(arguments: Sequence[str]) -> int:
    """Writes the words, or with `--check` compares them: returns 1 if the file on disk is outdated."""
    return write_or_check(TARGET, typescript(), arguments, "onyx_jupyter.server.action_words_ts")


def typescript() -> str:
    """The whole file."""
    cases = (f"    case '{action}':\n      return {_words(words)};\n" for action, words in ACTIONS.items())
    return f"{HEADER}{''.join(cases)}{FOOTER}"


def _words(words: Words) -> str:
    if words.many is None:
        return f"[trans.__({json.dumps(words.doing)}), trans.__({json.dumps(words.done)})]"
    doing, done = words.many
    first = f"trans._n({json.dumps(words.doing)}, {json.dumps(doing)}, count)"
    return f"[{first}, trans._n({json.dumps(words.done)}, {json.dumps(done)}, count)]"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
