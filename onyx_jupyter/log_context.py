"""What is being worked on, for whoever writes a log line deep inside it. It logs nothing itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar

_facts: ContextVar[Mapping[str, str]] = ContextVar("onyx_log_context")


@contextmanager
def log_context(**facts: str | None) -> Iterator[None]:
    """Adds facts (session, run, operation) to every line logged inside, also by tasks and threads begun there."""
    token = _facts.set({**logged_facts(), **{name: value for name, value in facts.items() if value is not None}})
    try:
        yield
    finally:
        with suppress(ValueError):  # a task that is thrown away is closed outside its own context, which ends anyway
            _facts.reset(token)


def logged_facts() -> Mapping[str, str]:
    """The facts that hold here."""
    return _facts.get({})
