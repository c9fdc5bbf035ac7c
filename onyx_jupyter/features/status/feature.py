"""`health.check`, and the health of the configuration, the default model and the home."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict
from typing import Any

from onyx_jupyter.agents.agents import Agents
from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.config.paths import Home
from onyx_jupyter.errors import ModelError
from onyx_jupyter.features.status.wire import Health
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.feature import Built, Component, Components, Feature
from onyx_jupyter.operations.keys import AGENTS, CONFIGURED, HEALTH
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams
from onyx_jupyter.providers.known_providers import is_agent

CONFIG_HINT = "Correct it and save the file: Onyx reads it again at once."


def make(parts: Parts) -> Built:
    configured, agents = parts.get(CONFIGURED), parts.get(AGENTS)

    async def health() -> Components:
        """Only what was actually checked is reported as ok; the configuration must have been read."""
        model_id = configured.model_of(configured.settings.config.default_agent())
        return {
            "config": _config(configured, agents),
            "model": _model(configured, model_id),
            "storage": await asyncio.to_thread(_storage, configured.home),
        }

    return Built(health=health)


def _config(configured: Configured, agents: Agents) -> Component:
    problems = agents.problems()
    if not problems:
        return {"ok": True, "message": str(configured.home.config_file)}
    found = {"problems": [asdict(problem) for problem in problems]}
    if all(problem.severity == "notice" for problem in problems):  # what is written works; the settings list them
        return {"ok": True, "message": str(configured.home.config_file), **found}
    return {"ok": False, "message": " ".join(map(str, problems)), "hint": CONFIG_HINT, **found}


def _model(configured: Configured, model_id: str) -> Component:
    """Whether the model can be opened, without a call to the provider."""
    if is_agent(model_id):
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


async def health_check(params: NoParams, caller: Caller) -> dict[str, Any]:
    return await caller.get(HEALTH)()


FEATURE = Feature(
    "status",
    make,
    requires=(CONFIGURED, AGENTS),
    operations=(Operation("health.check", NoParams, Health, health_check, "read", before_ready=True),),
)
