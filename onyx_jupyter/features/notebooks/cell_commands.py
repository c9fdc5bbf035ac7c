"""Approvals of cells that run shell commands: what they show, and what a yes covers."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace

from onyx_jupyter.notebook.shell_commands import ShellUse, shell_in
from onyx_jupyter.protocols import ToolPreview

EXEC = "exec"


async def with_commands(preview: ToolPreview, sources: Sequence[str], kernel: str | None) -> ToolPreview:
    """The preview of a call that runs these cells; shell commands in them are listed and approved like `exec`.

    A yes then covers exactly these cells; if a command cannot be determined exactly, only this one call.
    """
    found = await asyncio.to_thread(shell_in, sources, kernel)
    if found is None:
        return preview
    these = hashlib.sha256(json.dumps(list(sources)).encode()).hexdigest()
    return replace(
        preview,
        summary=f"{preview.summary}{_with(found)}",
        details={**preview.details, "commands": list(found.commands)},
        grant=f"{preview.grant} with commands {these}",
        grant_text=f"exactly this again, with {'its command' if len(found.commands) == 1 else 'its commands'}",
        exactly=replace(preview.exactly, commands=found.commands, unsure=found.unsure),
        also=(EXEC,),
    )


def _with(found: ShellUse) -> str:
    count = len(found.commands)
    return ", with a shell command" if count == 1 else f", with {count} shell commands"
