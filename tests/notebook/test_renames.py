import asyncio
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.paths import NotebookPaths
from onyx_jupyter.notebook.renames import Renames
from onyx_jupyter.protocols import EditCell, InsertCell
from tests.notebook.fake_tab import FakeTab, tab_cell
from tests.notebook.files import cell, read_cells, service_over, write_notebook


async def test_notebook_renamed_in_jupyter_is_found_under_former_path(jp_serverapp: Any, jp_root_dir: Path) -> None:
    write_notebook(jp_root_dir / "old.ipynb", [cell("a", "x = 1")])
    service, _ = service_over(jp_serverapp)
    await jp_serverapp.contents_manager.rename("old.ipynb", "new.ipynb")
    await asyncio.sleep(0)  # the event's listener has its turn
    await service.apply("old.ipynb", [EditCell("a", "x = 2")])
    assert read_cells(jp_root_dir / "new.ipynb")[0]["source"] == "x = 2"
    assert (await service.read("old.ipynb")).path == "new.ipynb"
    write_notebook(jp_root_dir / "old.ipynb", [cell("b", "another one")])
    assert (await service.read("old.ipynb")).cells[0].id == "b"


async def test_notebook_renamed_while_open_is_found_in_its_tab(jp_serverapp: Any, jp_root_dir: Path) -> None:
    write_notebook(jp_root_dir / "old.ipynb", [cell("a", "x = 1")])
    service, tabs = service_over(jp_serverapp)
    tab = FakeTab(tabs)
    tab.show("old.ipynb", [tab_cell("a", "x = 1")])
    await jp_serverapp.contents_manager.rename("old.ipynb", "new.ipynb")
    await asyncio.sleep(0)
    tab.notebooks["new.ipynb"] = tab.notebooks.pop("old.ipynb")
    tab.show("new.ipynb", tab.notebooks["new.ipynb"])
    await service.apply("old.ipynb", [EditCell("a", "x = 2")])
    assert tab.notebooks["new.ipynb"][0]["source"] == "x = 2"


async def test_deleted_notebook_is_reported(jp_serverapp: Any, jp_root_dir: Path) -> None:
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", "x = 1")])
    service, _ = service_over(jp_serverapp)
    await service.read("n.ipynb")
    await jp_serverapp.contents_manager.delete("n.ipynb")
    with pytest.raises(NotebookError) as caught:
        await service.apply("n.ipynb", [EditCell("a", "x = 2")])
    assert caught.value.code == "not_found"
    assert not (jp_root_dir / "n.ipynb").exists()


async def test_reused_name_leads_to_latest_notebook(jp_serverapp: Any, jp_root_dir: Path) -> None:
    write_notebook(jp_root_dir / "Untitled.ipynb", [cell("a", "old work")])
    service, _ = service_over(jp_serverapp)
    await jp_serverapp.contents_manager.rename("Untitled.ipynb", "analysis.ipynb")
    write_notebook(jp_root_dir / "Untitled.ipynb", [cell("b", "new work")])
    assert (await service.read("Untitled.ipynb")).cells[0].id == "b"
    await jp_serverapp.contents_manager.rename("Untitled.ipynb", "report.ipynb")
    await asyncio.sleep(0)
    assert await service.path_now("Untitled.ipynb") == "report.ipynb"
    await service.apply("Untitled.ipynb", [InsertCell({"cell_type": "code", "source": "agent"})])
    assert [one["source"] for one in read_cells(jp_root_dir / "report.ipynb")] == ["new work", "agent"]
    assert [one["source"] for one in read_cells(jp_root_dir / "analysis.ipynb")] == ["old work"]


async def test_reused_and_deleted_name_leads_nowhere(jp_serverapp: Any, jp_root_dir: Path) -> None:
    write_notebook(jp_root_dir / "Untitled.ipynb", [cell("a", "old work")])
    contents = jp_serverapp.contents_manager
    service, _ = service_over(jp_serverapp)
    await contents.rename("Untitled.ipynb", "analysis.ipynb")
    await contents.new({"type": "notebook"}, "Untitled.ipynb")
    await asyncio.sleep(0)
    (jp_root_dir / "Untitled.ipynb").unlink()  # in a terminal, which tells nobody
    with pytest.raises(NotebookError) as caught:
        await service.apply("Untitled.ipynb", [InsertCell({"cell_type": "code", "source": "agent"})])
    assert caught.value.code == "not_found"
    await contents.rename("analysis.ipynb", "final.ipynb")
    await contents.delete("final.ipynb")
    write_notebook(jp_root_dir / "final.ipynb", [cell("b", "of somebody else")])
    await asyncio.sleep(0)
    assert await service.path_now("Untitled.ipynb") == "Untitled.ipynb"
    assert await service.path_now("analysis.ipynb") == "analysis.ipynb"


def test_notebook_moved_out_before_folder_rename_is_found_at_last_place() -> None:
    renames = Renames(NotebookPaths(None))
    renames.note("deep/a.ipynb", "kept.ipynb")
    renames.note("deep", "deeper")
    assert renames.path_now("deep/a.ipynb") == "deeper/a.ipynb"  # a newer one of that name would be there
    assert renames.path_now("deeper/a.ipynb") == "kept.ipynb"
    renames.taken("deep/b.ipynb")  # in a new folder of the former name
    assert renames.path_now("deep/b.ipynb") is None
    assert renames.path_now("deep/c.ipynb") == "deeper/c.ipynb"


def test_renames_are_followed_through_folders_and_back() -> None:
    renames = Renames(NotebookPaths(None))
    renames.note("a.ipynb", "b.ipynb")
    renames.note("b.ipynb", "deep/c.ipynb")
    renames.note("deep", "deeper")
    assert renames.path_now("a.ipynb") == "deeper/c.ipynb"
    assert renames.path_now("deep/other.ipynb") == "deeper/other.ipynb"
    assert renames.path_now("deeper/c.ipynb") is None
    assert renames.path_now("deepest.ipynb") is None
    renames.note("deeper/c.ipynb", "a.ipynb")
    assert renames.path_now("a.ipynb") is None
