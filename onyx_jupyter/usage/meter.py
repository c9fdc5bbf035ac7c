"""Counts every model call and checks the budget before it; servers with the same home share the ledger."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import tzinfo
from pathlib import Path

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import StorageError
from onyx_jupyter.messages import Usage
from onyx_jupyter.usage.budget import BudgetLimits, BudgetState, budget_states, check_budget
from onyx_jupyter.usage.call_context import current_calls
from onyx_jupyter.usage.ledger import Ledger
from onyx_jupyter.usage.model_call import ModelCall, Terms
from onyx_jupyter.usage.totals import Totals, end_of_day, local_day

log = logging.getLogger(__name__)
SHOWN_ROLES = frozenset({"default", "subagent", "compaction"})
"""Calls of other roles have nobody to show a warning to, so they leave it to the next one."""


class UsageMeter:
    """`limits` is the budget in force, `zone` the user's time zone, `on_call` is called after each recorded call."""

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        limits: Callable[[], BudgetLimits],
        on_call: Callable[[ModelCall], None],
        zone: Callable[[], tzinfo],
    ) -> None:
        self.ledger = Ledger(folder)
        self.totals = Totals(self.ledger)
        self.zone = zone
        self._clock = clock
        self._limits = limits
        self._on_call = on_call
        self._warned: set[tuple[str, str]] = set()

    async def admit(self, terms: Terms) -> Sequence[BudgetState]:
        """Checks the budget before a call; returns the limits that are nearly reached, each only once.

        Raises: ModelError (budget). If the ledger cannot be read, the call is refused as well: StorageError.
        """
        limits, session_key = self._limits(), current_calls().session_key
        if terms == "free" or not limits.is_set:
            return ()
        states = await asyncio.to_thread(self.budget, session_key)
        check_budget(states, terms)
        return [state for state in states if state.limits(terms) and state.is_near and self._is_news(state)]

    async def record(self, model_id: str, terms: Terms, usage: Usage) -> None:
        """Appends the call, even if cancelled. If the disk refuses, it still counts until this server ends."""
        context = current_calls()
        step = context.steps.next() if context.run_id is not None else 0
        call = ModelCall(
            self._clock.now(), model_id, context.role, usage, terms, context.session_key, context.run_id, step
        )
        writing = asyncio.ensure_future(asyncio.to_thread(self._write, call))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait([writing])
            raise
        finally:
            self._on_call(call)

    def budget(self, session_key: str | None) -> list[BudgetState]:
        """The limits that are set, and how much of each is used; call it in a thread. Raises: StorageError."""
        now, zone = self._clock.now(), self.zone()
        session = self.totals.of_session(session_key) if session_key is not None else None
        day = self.totals.of_day(local_day(now, zone), zone)
        return budget_states(self._limits(), day, session, end_of_day(now, zone))

    def _is_news(self, state: BudgetState) -> bool:
        context = current_calls()
        if context.role not in SHOWN_ROLES:
            return False
        period = str(state.resets_at) if state.resets_at is not None else context.session_key or ""
        is_new = (state.name, period) not in self._warned
        self._warned.add((state.name, period))
        return is_new

    def _write(self, call: ModelCall) -> None:
        try:
            self.ledger.append(call)
        except StorageError as error:
            log.error("A model call could not be written to the usage ledger: %s", error)
            self.totals.add_unwritten(call)
