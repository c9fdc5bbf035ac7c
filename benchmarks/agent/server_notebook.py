"""A notebook of a running server and its kernel, used as a front end does. It never asks Onyx anything."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.blocking import BlockingKernelClient

from benchmarks.jupyter_process import JupyterProcess

_CELL_TIMEOUT_S = 120
_READY_TIMEOUT_S = 60
_KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
_ASKS_ONYX = re.compile(r"^\s*%%?onyx\b", re.MULTILINE)


def write_empty(path: Path) -> None:
    """A notebook as JupyterLab makes one: one empty cell and a Python kernel."""
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": _KERNEL}, cells=[nbformat.v4.new_code_cell()])
    nbformat.write(notebook, path)


def read_cells(path: Path) -> list[dict[str, Any]]:
    """Its cells as plain data; none if it is no longer a notebook."""
    try:
        notebook = nbformat.read(path, as_version=4)
    except (OSError, ValueError):
        return []
    return [dict(cell) for cell in notebook.cells]


def run_all(server: JupyterProcess, name: str) -> None:
    """Runs the notebook in the kernel of its session and saves the outputs.

    A cell that would ask Onyx ends it: the question comes from the benchmark. Raises: RuntimeError where a cell fails.
    """
    body = {"path": name, "name": name, "type": "notebook", "kernel": {"name": _KERNEL["name"]}}
    session = server.post("api/sessions", body)
    client = BlockingKernelClient()
    client.load_connection_file(str(server.runtime / f"kernel-{session['kernel']['id']}.json"))
    client.start_channels(hb=False)  # a kernel that is slow to start would miss a beat and be taken for dead
    try:
        client.wait_for_ready(timeout=_READY_TIMEOUT_S)
        notebook = nbformat.read(server.root / name, as_version=4)
        for cell in notebook.cells:
            if _ASKS_ONYX.search(cell.source):
                break
            if cell.cell_type == "code" and cell.source.strip():
                _run(client, cell)
        nbformat.write(notebook, server.root / name)
    finally:
        client.stop_channels()


def _run(client: Any, cell: Any) -> None:
    cell.outputs = []

    def keep(message: Mapping[str, Any]) -> None:
        if message["msg_type"] in ("stream", "display_data", "execute_result", "error"):
            cell.outputs.append(nbformat.v4.output_from_msg(message))

    reply = client.execute_interactive(cell.source, timeout=_CELL_TIMEOUT_S, output_hook=keep, allow_stdin=False)
    if reply["content"]["status"] != "ok":
        raise RuntimeError(f"The cell {cell.id} failed: {reply['content'].get('evalue')}")
    cell.execution_count = reply["content"]["execution_count"]
