"""Health of the configuration, the default model and the home. Only what was actually checked is reported as ok."""

from __future__ import annotations

import asyncio
import os

from onyx_jupyter.agents.agents import Agents
from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.config.paths import Home
from onyx_jupyter.errors import ModelError
from onyx_jupyter.operations.feature import Component, Components
from onyx_jupyter.providers.known_providers import ACP

CONFIG_HINT = (
    "Until this is corrected, Auto mode asks for everything, denied tools stay denied, and all other settings use "
    "their "
    "defaults. Correct it, then choose “Check again”."
)


async def components(configured: Configured, agents: Agents) -> Components:
    """Name → {ok, message, hint?}; the configuration must have been read."""
    model_id = configured.model_of(configured.settings.config.default_agent())
    return {
        "config": _config(configured, agents),
        "model": _model(configured, model_id),
        "storage": await asyncio.to_thread(_storage, configured.home),
    }


def _config(configured: Configured, agents: Agents) -> Component:
    error = configured.settings.error
    if error is None and (problems := agents.problems()):
        return {"ok": False, "message": " ".join(problems), "hint": "The rest of the file is in effect."}
    if error is None:
        return {"ok": True, "message": str(configured.home.config_file)}
    return {"ok": False, "message": str(error), "hint": CONFIG_HINT}


def _model(configured: Configured, model_id: str) -> Component:
    """Whether the model can be opened, without a call to the provider."""
    if model_id.partition("/")[0] == ACP:
        return {"ok": True, "message": model_id}  # another agent: its own component says whether it is there
    try:
        configured.models.open(model_id)
    except ModelError as error:
        return {"ok": False, "message": str(error)} | ({"hint": error.hint} if error.hint else {})
    return {"ok": True, "message": model_id}


def _storage(home: Home) -> Component:
    if os.access(home.root, os.W_OK | os.X_OK):
        return {"ok": True, "message": str(home.root)}
    return {
        "ok": False,
        "message": f"{home.root} is not writable.",
        "hint": "Set ONYX_HOME to a folder that you own.",
    }
