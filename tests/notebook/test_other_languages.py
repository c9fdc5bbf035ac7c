"""A notebook whose kernel speaks no Python: cells run there, and nothing is asked that it cannot answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.document_service import DocumentService, document_service, notebook_paths
from tests.notebook.files import cell, write_notebook
from tests.notebook.kernels import KernelPlace, add_shouting_kernel, quiet


@pytest.fixture
def service(kernels: KernelPlace, tmp_path: Path) -> DocumentService:
    """Of a server that has that kernel, too; `work.ipynb` asks for it."""
    add_shouting_kernel(kernels.server_app, tmp_path)
    cells = [cell("good", "say hello\nsay again"), cell("bad", "say hello\nwhisper")]
    write_notebook(kernels.root / "work.ipynb", cells)
    file = kernels.root / "work.ipynb"
    notebook: dict[str, Any] = json.loads(file.read_text("utf-8"))
    notebook["metadata"]["kernelspec"] = {"name": "loud-env", "display_name": "Shout", "language": "shout"}
    file.write_text(json.dumps(notebook), "utf-8")
    return document_service(kernels.server_app, kernels.tabs, notebook_paths(kernels.server_app))


async def test_language_comes_from_kernel_not_its_name(kernels: KernelPlace, service: DocumentService) -> None:
    view = await service.read("work.ipynb")
    assert view.kernel_name == "loud-env"
    assert await kernels.service.language("work.ipynb", view.kernel_name) == "shout"
    assert await kernels.service.language("work.ipynb", "python3") == "python"
    assert await kernels.service.language("work.ipynb", None) == "python"
    with pytest.raises(NotebookError) as caught:
        await kernels.service.language("work.ipynb", "gone")
    assert caught.value.code == "no_kernel"


async def test_cells_run_and_fail_as_in_python(kernels: KernelPlace, service: DocumentService) -> None:
    good = await service.run_cell("work.ipynb", "good", quiet)
    assert (good.status, [output["text"] for output in good.outputs]) == ("ok", ["HELLO\nAGAIN\n"])
    assert good.figures == ()
    bad = await service.run_cell("work.ipynb", "bad", quiet)
    assert bad.status == "error"
    assert [output["text"] for output in bad.outputs] == ["HELLO\n", "whisper: not a word\n"]
    with pytest.raises(NotebookError) as caught:
        await kernels.service.variables("work.ipynb")
    assert caught.value.code == "not_python"
