"""The current work (session, run, operation), for log lines written deep inside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar

_facts: ContextVar[Mapping[str, str]] = ContextVar("onyx_log_context")


@contextmanager
def log_context(**facts: str | None) -> Iterator[None]:
    """Adds facts (session, run, operation) to every line logged inside, also by tasks and threads started there."""
    token = _facts.set({**logged_facts(), **{name: value for name, value in facts.items() if value is not None}})
    try:
        yield
    finally:
        with suppress(ValueError):  # an abandoned task is closed outside its own context, which ends anyway
            _facts.reset(token)


def logged_facts() -> Mapping[str, str]:
    """The facts of the current context."""
    return _facts.get({})
