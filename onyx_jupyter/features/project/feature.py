"""The instructions of the project in the server's root."""

from __future__ import annotations

import asyncio
from typing import Any

from onyx_jupyter.features.project import wire
from onyx_jupyter.features.project.files import PROJECT_FILES, JudgedFile, ProjectFiles
from onyx_jupyter.files.diff import unified_diff
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import AUDIT, CONFIGURED, HOST, PROJECT_INSTRUCTIONS, STREAMS
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams, Ok


def make(parts: Parts) -> Built:
    host = parts.get(HOST)
    files = ProjectFiles(
        host.server_root,
        host.home.trusted_project_files_file,
        parts.get(CONFIGURED).workspaces,
        host.clock,
        parts.get(AUDIT),
        parts.get(STREAMS).broadcast,
    )
    return Built({PROJECT_FILES: files, PROJECT_INSTRUCTIONS: files.instructions})


async def files(params: NoParams, caller: Caller) -> dict[str, Any]:
    project = caller.get(PROJECT_FILES)
    found = await project.files()
    return {"folder": project.folder, "files": [await asyncio.to_thread(_info, item) for item in found]}


async def trust(params: wire.ProjectDecisionParams, caller: Caller) -> dict[str, Any]:
    await caller.get(PROJECT_FILES).trust(params.path, params.digest, f"user:{caller.user}")
    return {"ok": True}


async def decline(params: wire.ProjectDecisionParams, caller: Caller) -> dict[str, Any]:
    await caller.get(PROJECT_FILES).decline(params.path, params.digest, f"user:{caller.user}")
    return {"ok": True}


def _info(item: JudgedFile) -> dict[str, Any]:
    text = item.found.text
    diff = unified_diff(item.trusted_text, text) if item.trusted_text is not None else ""
    return {
        "path": item.found.name,
        "state": item.state,
        "digest": item.found.digest,
        "lines": text.count("\n") + bool(text and not text.endswith("\n")),
        "text": text,
        "diff": diff or None,
        "reason": item.found.problem,
    }


FEATURE = Feature(
    "project",
    make,
    requires=(HOST, CONFIGURED, AUDIT, STREAMS),
    provides=(PROJECT_FILES, PROJECT_INSTRUCTIONS),
    operations=(
        Operation("project.files", NoParams, wire.ProjectFiles, files, "read"),
        Operation("project.trust", wire.ProjectDecisionParams, Ok, trust, "admin"),
        Operation("project.decline", wire.ProjectDecisionParams, Ok, decline, "admin"),
    ),
    events=(EventType("project.updated", wire.ProjectUpdatedData),),
)
