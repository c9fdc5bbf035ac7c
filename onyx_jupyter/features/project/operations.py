"""`project.*`: the instructions of the project in the server's root, and whether the user trusts them."""

from __future__ import annotations

import asyncio
from typing import Any

from onyx_jupyter.features.project.files import JudgedFile
from onyx_jupyter.features.project.keys import PROJECT_FILES
from onyx_jupyter.features.project.wire import ProjectDecisionParams, ProjectFiles
from onyx_jupyter.files.diff import unified_diff
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams, Ok


async def files(params: NoParams, caller: Caller) -> dict[str, Any]:
    project = caller.get(PROJECT_FILES)
    found = await project.files()
    return {"folder": project.folder, "files": [await asyncio.to_thread(_info, item) for item in found]}


async def trust(params: ProjectDecisionParams, caller: Caller) -> dict[str, Any]:
    await caller.get(PROJECT_FILES).trust(params.path, params.digest, f"user:{caller.user}")
    return {"ok": True}


async def decline(params: ProjectDecisionParams, caller: Caller) -> dict[str, Any]:
    await caller.get(PROJECT_FILES).decline(params.path, params.digest, f"user:{caller.user}")
    return {"ok": True}


def _info(item: JudgedFile) -> dict[str, Any]:
    text = item.text
    diff = unified_diff(item.trusted_text, text) if item.trusted_text is not None else ""
    return {
        "path": item.found.name,
        "state": item.state,
        "digest": item.digest,
        "lines": text.count("\n") + bool(text and not text.endswith("\n")),
        "text": text,
        "diff": diff or None,
        "reason": item.problem,
    }


OPERATIONS = (
    Operation("project.files", NoParams, ProjectFiles, files, "read"),
    Operation("project.trust", ProjectDecisionParams, Ok, trust, "admin"),
    Operation("project.decline", ProjectDecisionParams, Ok, decline, "admin"),
)
