"""Which parts of a message the user may only have passed on, and which words are never taken from those parts.

The latter are orders and addresses. If the text doesn't show who wrote a part, it counts as passed on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LONG_CHARS = 600
"""Longer messages are seldom typed by hand, and it is unknown which part was."""
_CODE = re.compile(r"(`{3,}|~{3,}).*?(?:\1|\Z)", re.DOTALL)
_CITED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_QUOTE = re.compile(r"“[^”]{20,}”|„[^“”]{20,}[“”]|«[^»]{20,}»|»[^«]{20,}«|\"[^\"]{20,}\"|(?<!\w)'[^'\n]{20,}'(?!\w)")
# Email headers, and phrases that introduce someone else's words: up to the end of the message.
_QUOTED_START = re.compile(
    r"^[ \t]*(?:from|to|cc|subject|sent|date|von|an|betreff|gesendet|datum|de|para|objet|asunto|assunto)[ \t]*:[ \t]"
    r"|-{2,}[^\n]{0,20}(?:original|forwarded|weitergeleitet|ursprünglich|transféré|reenviado)"
    r"|\b(?:e-?mail|mail|message|letter|ticket|issue|comment|page|web ?site|site|article|readme|says?|said|wrote|writes"
    r"|states|reads|told|replied|nachricht|seite|brief|schreibt|schrieb|sagt|sagte|steht|écrit|dit|mensaje|mensagem"
    r"|escribe|escribió|dice|escreve|diz)\b[^.!?\n]{0,40}:",
    re.IGNORECASE | re.MULTILINE,
)
_ORDER = re.compile(
    r"\b(?:always|never|must(?:n.t)?|ha(?:ve|s) to|should(?:n.t)?|shall|whenever|at all times|from now on|do not|don.t"
    r"|make sure|be sure|ensure|(?:each|every) (?:time|answer|reply|response|turn|message|question|session)"
    r"|(?:before|after|when|while) (?:you|answering|replying|responding|each|every|any)|you|your|assistant|onyx"
    r"|immer|nie|niemals|musst?|sollst|soll|jedes ?mal|(?:vor|nach|bei) jede[rmsn]|ab jetzt|stell\w* sicher"
    r"|toujours|jamais|dois|doit|devez|chaque|siempre|nunca|jamás|debes?|cada|sempre|deves?)\b"
    r"|(?:^|[.;:!,]\s+|\bplease\s+|\bthen\s+)(?:push|send|post|upload|forward|copy|publish|run|execute|call|read|open"
    r"|show|print|include|attach|add|append|write|use|install|download|fetch|visit|load|import|delete|remove|drop|skip"
    r"|ignore|allow|approve|accept|ask|tell|answer|reply|respond|mention|begin|start|end|treat|trust|put|give|make|let"
    r"|do|keep|check|commit|return)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"\w+://\S+|\bwww\.\S+|\b[\w-]+(?:\.[\w-]+)+/\S*"  # URLs
    r"|(?<![\w/.~])(?:~|\.{1,2})?/\w\S*|\b[a-z]:\\\S+|\S+/\S+(?:/\S|\.\w)\S*",  # paths
    re.IGNORECASE,
)
_PUNCTUATION = ".,;:!?)>]}\"'”’“"


@dataclass(frozen=True, slots=True)
class Message:
    """What the user typed, as far as the text shows, and what they may only have passed on."""

    own: str
    passed_on: str


def split_quoted(text: str) -> Message:
    """Splits a message: quotes, code, email text, and all of a long message may be someone else's words."""
    if len(text.strip()) > LONG_CHARS:
        return Message("", text)
    taken: list[str] = []

    def take(match: re.Match[str]) -> str:
        taken.append(match[0])
        return " "

    own = text
    for pattern in (_CODE, _CITED_LINE, _QUOTE):
        own = pattern.sub(take, own)
    if other := _QUOTED_START.search(own):
        taken.append(own[other.start() :])
        own = own[: other.start()]
    return Message(own, "\n".join(taken))


def is_order(text: str) -> bool:
    """Whether the text says what to do, rather than how things are."""
    return _ORDER.search(text) is not None


def addresses(text: str) -> list[str]:
    """The URLs and file paths in the text."""
    return [found.rstrip(_PUNCTUATION) for found in _ADDRESS.findall(text)]
