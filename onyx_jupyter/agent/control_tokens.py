"""The marks that a message may carry: words kept from people, silence, a job's message. It never removes them itself.

The prompt explains them to the model; whoever writes or reads a mark takes it from here.
"""

from __future__ import annotations

INTERNAL = "internal"
"""The tag's name: what stands between `<internal>` and `</internal>` is for the model alone."""

NO_REPLY = "NO_REPLY"
"""An answer that is exactly this, blanks around it aside, ends its turn without a message."""

SCHEDULED_TASK = "[SCHEDULED TASK]"
"""Begins a message that a job wrote, so that the model does not take it for a person's."""


def is_silent(answer: str) -> bool:
    return answer.strip() == NO_REPLY


def scheduled_task(message: str) -> str:
    """A job's message as the model gets it."""
    return f"{SCHEDULED_TASK} {message}"
