"""The marks that a message may carry: text hidden from people, a silent answer, a job's message.

The prompt explains them to the model; all code that writes or reads a mark imports it from here.
"""

from __future__ import annotations

INTERNAL = "internal"
"""The tag's name: text between `<internal>` and `</internal>` is for the model alone."""

NO_REPLY = "NO_REPLY"
"""An answer that is exactly this, apart from surrounding whitespace, ends its turn without a message."""

SCHEDULED_TASK = "[SCHEDULED TASK"
"""Starts a message written by a job, so that the model does not take it for a person's."""

HEARTBEAT_OK = "HEARTBEAT_OK"
"""At the beginning or the end of a heartbeat's answer: there is nothing to say."""
HEARTBEAT_OK_CHARS = 300
"""An answer with more text than this around the token says something."""


def scheduled_prefix(name: str, due: str) -> str:
    """The first line of a job's message; the name can end neither the mark nor the line."""
    plain = " ".join(name.replace("]", ")").split())
    return f"{SCHEDULED_TASK} - {plain}, due {due}]"


def says_nothing(answer: str) -> bool:
    """Whether a heartbeat found nothing to do."""
    text = answer.strip()
    if not (text.startswith(HEARTBEAT_OK) or text.endswith(HEARTBEAT_OK)):
        return False
    return len(text) - len(HEARTBEAT_OK) <= HEARTBEAT_OK_CHARS


def is_silent(answer: str) -> bool:
    return answer.strip() == NO_REPLY
