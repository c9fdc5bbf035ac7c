"""The marks that a message may carry: text hidden from people, a silent answer, a job's message.

The prompt explains them to the model; all code that writes or reads a mark imports it from here.
"""

from __future__ import annotations

INTERNAL = "internal"
"""The tag's name: text between `<internal>` and `</internal>` is for the model alone."""

NO_REPLY = "NO_REPLY"
"""An answer that is exactly this, apart from surrounding whitespace, ends its turn without a message."""

SCHEDULED_TASK = "[SCHEDULED TASK]"
"""Starts a message written by a job, so that the model does not take it for a person's."""


def is_silent(answer: str) -> bool:
    return answer.strip() == NO_REPLY
