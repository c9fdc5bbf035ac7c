"""Example notebooks are stored without outputs and run from top to bottom in a fresh kernel."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted([*FOLDER.glob("*.ipynb"), *FOLDER.glob("examples/*.ipynb")])
# Asks a server; it runs in tests/magics.
ASKS = FOLDER / "examples" / "magics.ipynb"


def test_notebooks_named_in_readme_exist() -> None:
    names = [path.relative_to(FOLDER).as_posix() for path in NOTEBOOKS]
    assert {"welcome.ipynb", "examples/penguins.ipynb", "examples/magics.ipynb"} <= set(names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code_cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.id for cell in code_cells if cell.outputs or cell.execution_count] == []


@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path != ASKS], ids=lambda path: path.stem)
async def test_notebook_runs_from_top_to_bottom(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}})
    await client.async_execute()
    images = [
        output for cell in notebook.cells for output in cell.get("outputs", []) if "image/png" in output.get("data", {})
    ]
    assert images, f"{path.name} has a plot, and it was not drawn"
