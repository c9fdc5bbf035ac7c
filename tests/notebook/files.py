"""Notebook files for tests, and the service over a real Jupyter server."""

import json
from pathlib import Path
from typing import Any

from onyx_jupyter.notebook.browser_tabs import TabRequests
from onyx_jupyter.notebook.document_service import DocumentService, document_service, notebook_paths
from onyx_jupyter.testing.fake_clock import fake_ids


def cell(cell_id: str | None, source: str, cell_type: str = "code") -> dict[str, Any]:
    code = {"execution_count": None, "outputs": []} if cell_type == "code" else {}
    return {"cell_type": cell_type, "metadata": {}, "source": source, **({"id": cell_id} if cell_id else {}), **code}


def write_notebook(path: Path, cells: list[dict[str, Any]], *, minor: int = 5, **metadata: Any) -> None:
    kernelspec = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    content = {"cells": cells, "metadata": kernelspec | metadata, "nbformat": 4, "nbformat_minor": minor}
    path.write_text(json.dumps(content), encoding="utf-8")


def read_cells(path: Path) -> list[dict[str, Any]]:
    """The cells on disk, each source as one string."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell | {"source": "".join(cell["source"])} for cell in cells]


def service_over(server_app: Any, *, reconnect_s: float = 0.0) -> tuple[DocumentService, TabRequests]:
    paths = notebook_paths(server_app)
    tabs = TabRequests(fake_ids(), paths, reconnect_s=reconnect_s)
    return document_service(server_app, tabs, paths), tabs
