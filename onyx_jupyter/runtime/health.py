"""How Onyx's parts are. Only what was really looked at is called ok."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from onyx_jupyter.errors import ModelError, StorageError
from onyx_jupyter.runtime.onyx import Onyx

UNTIL_IT_IS_RIGHT = (
    "Until this is corrected, Auto mode asks for everything, denied tools stay denied, and all other settings are the "
    "defaults. Correct it, then choose “Check again”."
)


async def components(onyx: Onyx) -> dict[str, dict[str, Any]]:
    """Name → {ok, message, hint?}; `ready` must have been awaited."""
    return {
        "config": _config(onyx),
        "model": _model(onyx, _default_model(onyx)),
        "storage": await asyncio.to_thread(_storage, onyx),
        "grants": await _grants(onyx),
        "audit": await _audit(onyx),
    }


def _config(onyx: Onyx) -> dict[str, Any]:
    error = onyx.settings.error
    if error is None and (problems := onyx.configured.problems()):
        return {"ok": False, "message": " ".join(problems), "hint": "Everything else in the file is in force."}
    if error is None:
        return {"ok": True, "message": str(onyx.home.config_file)}
    return {"ok": False, "message": str(error), "hint": UNTIL_IT_IS_RIGHT}


def _default_model(onyx: Onyx) -> str:
    return onyx.configured.model_of(onyx.settings.config.default_agent())


def _model(onyx: Onyx, model_id: str) -> dict[str, Any]:
    """Whether the model can be opened; that costs no call to a provider."""
    try:
        onyx.models.open(model_id)
    except ModelError as error:
        return {"ok": False, "message": str(error)} | ({"hint": error.hint} if error.hint else {})
    return {"ok": True, "message": model_id}


def _storage(onyx: Onyx) -> dict[str, Any]:
    if os.access(onyx.home.root, os.W_OK | os.X_OK):
        return {"ok": True, "message": str(onyx.home.root)}
    hint = "Set ONYX_HOME to a folder that you own."
    return {"ok": False, "message": f"{onyx.home.root} cannot be written to.", "hint": hint}


async def _grants(onyx: Onyx) -> dict[str, Any]:
    problem = await onyx.grants.problem()
    if problem is None:
        count = len(await onyx.grants.list())
        things = "1 thing is" if count == 1 else f"{count} things are"
        return {"ok": True, "message": f"{things} allowed always."}
    hint = f"Allow again what you want allowed, then delete the damaged file in {onyx.home.root}."
    return {"ok": False, "message": problem, "hint": hint}


async def _audit(onyx: Onyx) -> dict[str, Any]:
    path = onyx.home.audit_file
    try:
        verified = await onyx.audit_log.check()
    except StorageError as error:
        return {"ok": False, "message": str(error)} | ({"hint": error.hint} if error.hint else {})
    if verified.broken is None:
        return {"ok": True, "message": f"{path.name}: {verified.entries} entries, as they were written."}
    where = f"{path.name}, line {verified.broken.line}: {verified.broken.reason}."
    hint = f"Keep a copy of it. To begin a new one, stop the server and move {path.stem}.* out of {path.parent}."
    return {"ok": False, "message": where, "hint": hint}
