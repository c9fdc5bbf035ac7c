"""Recognises words that try to steer an assistant, for stored text that a model later reads as its own.

It never cleans a text: callers refuse it as a whole. Text that is read only once is fenced instead.
"""

from __future__ import annotations

import re

from onyx_jupyter.security.confusables import plain_form, remove_invisible
from onyx_jupyter.security.external_content import neutralise

_NO_BOUNDARY = "\x00"
_WHAT: dict[str, tuple[str, ...]] = {
    "it tells an assistant to set its rules aside": (
        r"\b(?:ignor\w*|disregard\w*|forget|overrid\w*|bypass\w*|circumvent\w*)\b.{0,40}"
        r"\b(?:instruction|prompt|rule|guideline|direction|polic|safeguard|restriction)",
        r"\b(?:ignorier\w*|vergiss|missacht\w*)\b.{0,40}\b(?:anweisung|anleitung|regel|vorgabe)",
        r"\b(?:ignore[zr]?|oublie[zr]?)\b.{0,40}\b(?:consigne|regle)",
        r"\b(?:ignor[aei]\w*|olvid[ae]\w*)\b.{0,40}\b(?:instruccion|instruco|regla|regra)",
        r"\bnew (?:system )?(?:instruction|directive|rule)s?\s*:",
    ),
    "it gives an assistant another role": (
        r"\byou are (?:now|no longer)\b",
        r"\b(?:system|developer) (?:prompt|message|mode)\b",
        r"\bjail ?break|\bdo anything now\b",
        r"\b(?:act|behave|respond) as (?:if|though|an?|the)\b.{0,30}\b(?:unrestricted|unfiltered|admin|root|system)",
    ),
    "it tells an assistant to hide something from the user": (
        r"\b(?:do not|don.?t|never|without)\b.{0,20}\b(?:tell|inform|mention|reveal|show|alert|ask|notify)\w*\b.{0,30}"
        r"\b(?:user|person|human|owner|anyone|anybody|them)\b",
        r"\b(?:hide|conceal)\b.{0,40}\bfrom (?:the )?(?:user|person|human|owner)\b",
    ),
    "it tells an assistant to act without approval": (
        r"\b(?:without|skip\w*|bypass\w*|disabl\w*|turn(?:ing)? off)\b.{0,25}"
        r"\b(?:approv\w+|confirm\w+|permission|asking first)\b",
        r"\b(?:approve|allow|grant|accept|confirm)\b.{0,25}\b(?:automatically|everything|(?:all|any|every) "
        r"(?:tool|call|command|request|action)s?)\b",
        r"\b(?:run|do|execut|perform|call|mak|us|switch|chang|turn|enabl|stay|work)\w*\b.{0,40}\bauto[ -]?mode\b",
        r"\b(?:user|person|owner|human)\b.{0,10}\bha(?:s|ve|d)\b.{0,12}\b(?:agreed|consented|approved|authori[sz]ed"
        r"|allowed|permitted)\b(?:\W*$|.{0,30}\b(?:everything|anything|all|every|any)\b)",
    ),
    "it sends something away or runs something": (
        r"\b(?:send|post|upload|forward|exfiltrat\w+|leak|e-?mail)\b.{0,60}"
        r"(?:https?://|\b(?:api[ _-]?key|password|token|secret|credential)s?\b)",
        r"\b(?:push|publish|copy|transmit|submit|transfer|deliver|sync|write|report|save)\b.{0,60}\b(?:in)?to https?://",
        r"\b(?:read|open|print|show|include|cat|load|copy|attach|send|add|quote|paste|put)\b.{0,60}(?:\.ssh\b"
        r"|\bid_(?:rsa|dsa|ecdsa|ed25519)\b|\.aws/|\.kube/|\.netrc\b|\.pgpass\b|\.git-credentials\b"
        r"|/etc/(?:passwd|shadow)\b|\bcredentials\.json\b)",
        r"\b(?:curl|wget|iwr|invoke-webrequest)\b.{0,120}(?:\||&&|;|https?://|\$\()",
        r"\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b",
        r"\brm\s+-[a-z]*[rf]|\bchmod\s+[0-7]*777|\bbase64\s+(?:-d|--decode)",
    ),
}
_PATTERNS = {why: re.compile("|".join(patterns), re.DOTALL) for why, patterns in _WHAT.items()}


def find_injection(text: str) -> str | None:
    """Why this text must not be kept for a model to read as its own, or None. Look-alikes hide nothing."""
    visible, _ = remove_invisible(text)
    if neutralise(visible, _NO_BOUNDARY) != visible:
        return "it contains markers that separate chat turns"
    plain = " ".join(plain_form(visible).text.split())
    return next((why for why, pattern in _PATTERNS.items() if pattern.search(plain)), None)
