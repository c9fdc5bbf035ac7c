"""`usage.get`: totals and the budget."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from onyx_jupyter.clock import timestamp
from onyx_jupyter.features.usage.wire import UsageGetParams, UsageReport
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import CONFIGURED, HOST
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.usage.budget import state_to_json
from onyx_jupyter.usage.meter import UsageMeter
from onyx_jupyter.usage.model_call import ModelCall
from onyx_jupyter.usage.totals import Sum, added, local_day, sum_of

MAX_TURNS = 100


async def usage_get(params: UsageGetParams, caller: Caller) -> dict[str, Any]:
    meter, now = caller.get(CONFIGURED).meter, caller.get(HOST).clock.now()
    zone = meter.zone()
    today = local_day(now, zone)

    def report() -> dict[str, Any]:
        days = meter.totals.since(today - timedelta(days=params.days - 1), zone)
        cells = sorted({cell for day in days.values() for cell in day})
        budget = [state_to_json(state) for state in meter.budget(params.session_key)]
        return {
            "today": today.isoformat(),
            "days": [{"day": day.isoformat(), "total": _to_json(added(sums.values()))} for day, sums in days.items()],
            "cells": [
                {
                    "role": role,
                    "model": model,
                    "total": _to_json(added(day[role, model] for day in days.values() if (role, model) in day)),
                }
                for role, model in cells
            ],
            "session": _session(meter, params.session_key) if params.session_key else None,
            "budget": budget,
        }

    return await asyncio.to_thread(report)


def _session(meter: UsageMeter, session_key: str) -> dict[str, Any]:
    turns: dict[str, list[ModelCall]] = {}
    for call in meter.ledger.calls_of(session_key):
        if call.run_id is not None:
            turns.setdefault(call.run_id, []).append(call)
    newest = list(turns.items())[-MAX_TURNS:]
    return {
        "total": _to_json(meter.totals.of_session(session_key)),
        "turns": [
            {"runId": run_id, "total": _to_json(sum_of(calls)), "steps": [_step(call) for call in calls]}
            for run_id, calls in newest
        ],
    }


def _step(call: ModelCall) -> dict[str, Any]:
    return {"at": timestamp(call.at), "role": call.role, "model": call.model, "total": _to_json(sum_of([call]))}


def _to_json(total: Sum) -> dict[str, Any]:
    return {
        "calls": total.calls,
        "inputTokens": total.input_tokens,
        "outputTokens": total.output_tokens,
        "cachedTokens": total.cached_tokens,
        "reasoningTokens": total.reasoning_tokens,
        "costUsd": total.cost_usd,
        "unpricedCalls": total.unpriced_calls,
        "planCalls": total.plan_calls,
        "freeCalls": total.free_calls,
        "estimatedCalls": total.estimated_calls,
    }


OPERATIONS = (Operation("usage.get", UsageGetParams, UsageReport, usage_get, "read", dispatch="beside"),)
