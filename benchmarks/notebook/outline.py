"""What a notebook of a thousand cells costs a model until it asks: how long its outline takes, and how many tokens."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from jupyter_server.serverapp import ServerApp

from benchmarks.figures import Figure, Group
from onyx_jupyter.clock import IdSource, SystemClock
from onyx_jupyter.features.notebooks.read_tools import NotebookOutlineArguments, notebook_outline_tool
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.notebook.browser_tabs import TabRequests
from onyx_jupyter.notebook.document_service import document_service, notebook_paths
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.toolsets.context import ToolContext

ROUNDS = 25
CELLS = 1_000
LIMIT_MS = 100
LIMIT_TOKENS = 4_000
TABLE = "<table>" + "<tr><td>0.123456789</td><td>a value</td></tr>" * 30 + "</table>"
METHOD = (
    f"A file of {CELLS:,} cells (1 MB): a heading every twenty cells, code of three lines, below each some text or "
    f"a table of thirty rows. The tool `notebook_outline` called {ROUNDS} times in the server's process, from reading "
    "the file through Jupyter's contents API to the text. Open: one of the ranges that it names. Tokens are counted "
    "with cl100k_base."
)


def measure() -> Group:
    with tempfile.TemporaryDirectory() as folder:
        whole_ms, part_ms, whole, part = asyncio.run(_measure(Path(folder)))
    return Group(
        "Outline of a long notebook",
        METHOD,
        [
            Figure(f"outline, {CELLS:,} cells", whole_ms, "ms", LIMIT_MS, digits=1),
            Figure("  its tokens", [_tokens(whole)], "tokens", LIMIT_TOKENS, digits=0),
            Figure("open: twenty of them", part_ms, "ms", LIMIT_MS, digits=1),
            Figure("  its tokens", [_tokens(part)], "tokens", digits=0),
        ],
    )


async def _measure(folder: Path) -> tuple[list[float], list[float], str, str]:
    (folder / "long.ipynb").write_text(json.dumps(_notebook()), encoding="utf-8")
    context = _context(folder)
    whole = NotebookOutlineArguments(path="long.ipynb")
    part = NotebookOutlineArguments.model_validate({"path": "long.ipynb", "from": 501, "cells": 20})
    whole_ms, whole_text = await _timed(whole, context)
    part_ms, part_text = await _timed(part, context)
    if "cells 501–520 " not in whole_text or "501 " not in part_text:
        raise RuntimeError("The outline does not lead to its cells.")
    return whole_ms, part_ms, whole_text, part_text


async def _timed(arguments: NotebookOutlineArguments, context: ToolContext) -> tuple[list[float], str]:
    tool, taken, text = notebook_outline_tool, [], ""
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        text = (await tool.call(arguments, context)).output
        taken.append(1000 * (time.perf_counter() - began))
    return taken[1:], text


def _notebook() -> dict[str, Any]:
    return {"cells": [_cell(number) for number in range(CELLS)], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _cell(number: int) -> dict[str, Any]:
    common = {"id": f"{number:08x}", "metadata": {}}
    if number % 20 == 0:
        return {**common, "cell_type": "markdown", "source": f"## Part {number // 20}\n\nWhat comes next."}
    source = f"part = frame[frame['group'] == {number}]\nprint(len(part))\npart.describe()"
    text = {"output_type": "stream", "name": "stdout", "text": "a line of output\n" * 20}
    table = {"output_type": "execute_result", "data": {"text/html": TABLE}, "metadata": {}, "execution_count": number}
    output = table if number % 2 else text
    return {**common, "cell_type": "code", "source": source, "execution_count": number, "outputs": [output]}


def _context(folder: Path) -> ToolContext:
    app = ServerApp(root_dir=str(folder), log_level="ERROR")
    app.initialize(argv=[], find_extensions=False, new_httpserver=False)
    clock = SystemClock()
    paths = notebook_paths(app)
    return ToolContext(
        session_key="s",
        agent_id="main",
        run_id="r",
        call_id="c",
        workspace=folder,
        server_root=folder,
        paths=PathGuard(folder, folder),
        notebooks=document_service(app, TabRequests(IdSource(clock), paths), paths),
        memory=MemoryFiles(folder, clock),
        clock=clock,
        timeout_s=30,
        max_output_bytes=100_000,
        progress=lambda line: None,
    )


def _tokens(text: str) -> int:
    import litellm

    folder = Path(litellm.__file__).parent / "litellm_core_utils" / "tokenizers"
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))
    import tiktoken

    return len(tiktoken.get_encoding("cl100k_base").encode(text))
