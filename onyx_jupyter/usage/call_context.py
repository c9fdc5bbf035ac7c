"""On whose behalf models are being called, for the ledger: role, conversation and run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace


@dataclass(slots=True)
class _Steps:
    count: int = 0

    def next(self) -> int:
        self.count += 1
        return self.count


@dataclass(frozen=True, slots=True)
class CallContext:
    """`role` is what the calls are for (default, subagent, consolidation, …); `steps` numbers those of one run."""

    role: str = "default"
    session_key: str | None = None
    run_id: str | None = None
    steps: _Steps = field(default_factory=_Steps, compare=False)


_current: ContextVar[CallContext] = ContextVar("onyx_model_calls")


@contextmanager
def model_calls(role: str, *, session_key: str | None = None, run_id: str | None = None) -> Iterator[None]:
    """Every model call made inside counts for this, also those of tasks started there."""
    with _set(CallContext(role, session_key, run_id)):
        yield


@contextmanager
def in_role(role: str) -> Iterator[None]:
    """The calls made inside have another role, in the same run."""
    with _set(replace(current_calls(), role=role)):
        yield


def current_calls() -> CallContext:
    """The context in force; outside of any, calls belong to no conversation."""
    return _current.get(CallContext())


@contextmanager
def _set(context: CallContext) -> Iterator[None]:
    token = _current.set(context)
    try:
        yield
    finally:
        with suppress(ValueError):  # an abandoned task is closed outside its own context, which ends anyway
            _current.reset(token)
