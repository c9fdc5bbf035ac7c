"""Every notebook in notebooks/ is stored without outputs and runs from top to bottom in a fresh kernel."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted(Path(__file__).parents[2].joinpath("notebooks").glob("*.ipynb"))


def test_there_is_a_welcome_notebook() -> None:
    assert "welcome.ipynb" in [path.name for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code_cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.id for cell in code_cells if cell.outputs or cell.execution_count] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
async def test_notebook_runs_from_top_to_bottom(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}})
    await client.async_execute()
    images = [
        output for cell in notebook.cells for output in cell.get("outputs", []) if "image/png" in output.get("data", {})
    ]
    assert images, f"{path.name} has a plot, and it was not drawn"
