import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.notebook_file import NotebookFile, NotebookFiles
from onyx_jupyter.protocols import After, EditCell, InsertCell
from tests.notebook.fake_tab import FakeTab, tab_cell
from tests.notebook.files import cell, read_cells, service_over, write_notebook
from tests.notebook.kernels import quiet


async def free(path: str) -> None:
    """Nobody has it open."""


async def test_cells_without_ids_keep_assigned_ones(server: Any, jp_root_dir: Path) -> None:
    write_notebook(jp_root_dir / "old.ipynb", [cell(None, "a"), cell(None, "b"), cell(None, "a")], minor=4)
    service, _ = service_over(server)
    first = [c.id for c in (await service.read("old.ipynb")).cells]
    assert len(set(first)) == 3
    assert [c.id for c in (await service.read("old.ipynb")).cells] == first
    await service.apply("old.ipynb", [EditCell(first[1], "b = 1")])
    saved = json.loads((jp_root_dir / "old.ipynb").read_text())
    assert [c["id"] for c in saved["cells"]] == first
    assert saved["nbformat_minor"] == 5


async def test_metadata_and_other_cells_survive_edit(server: Any, jp_root_dir: Path) -> None:
    tagged = cell("b", "y = 2") | {"metadata": {"tags": ["parameters"], "mine": {"deep": [1, 2]}}}
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", "x = 1"), tagged], author="me")
    service, _ = service_over(server)
    await service.apply("n.ipynb", [EditCell("a", "x = 2")])
    saved = json.loads((jp_root_dir / "n.ipynb").read_text())
    assert saved["metadata"]["author"] == "me"
    assert saved["cells"][1]["metadata"] == {"tags": ["parameters"], "mine": {"deep": [1, 2]}}


async def test_write_that_would_empty_notebook_is_rejected(server: Any, jp_root_dir: Path) -> None:
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", "x = 1")])
    files = NotebookFiles(server.contents_manager, free)
    with pytest.raises(NotebookError) as caught:
        await files.change("n.ipynb", lambda file: file.cells.clear())
    assert caught.value.code == "would_empty"
    assert len(read_cells(jp_root_dir / "n.ipynb")) == 1


def edit_behind(path: Path, times: int) -> Any:
    """A change that, as often as that, finds the file changed by somebody else while it works."""
    left = [times]

    def change(file: NotebookFile) -> list[str]:
        if left[0]:
            left[0] -= 1
            write_notebook(path, [cell("a", f"theirs {left[0]}"), cell("theirs", "kept")])
        file.cells[0]["source"] = "ours"
        return file.ids

    return change


async def test_file_changed_meanwhile_is_reread(server: Any, jp_root_dir: Path) -> None:
    path = jp_root_dir / "n.ipynb"
    write_notebook(path, [cell("a", "x = 1")])
    assert await NotebookFiles(server.contents_manager, free).change("n.ipynb", edit_behind(path, 1)) == ["a", "theirs"]
    assert [c["source"] for c in read_cells(path)] == ["ours", "kept"]


async def test_file_that_keeps_changing_is_left_alone(server: Any, jp_root_dir: Path) -> None:
    path = jp_root_dir / "n.ipynb"
    write_notebook(path, [cell("a", "x = 1")])
    with pytest.raises(NotebookError) as caught:
        await NotebookFiles(server.contents_manager, free).change("n.ipynb", edit_behind(path, 2))
    assert caught.value.code == "stale"
    assert [c["source"] for c in read_cells(path)] == ["theirs 0", "kept"]


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [("gone.ipynb", None, "not_found"), ("text.ipynb", "no json", "not_notebook"), ("text.txt", "hi", "not_notebook")],
)
async def test_invalid_notebook_is_reported(
    server: Any, jp_root_dir: Path, name: str, content: str | None, code: str
) -> None:
    if content is not None:
        (jp_root_dir / name).write_text(content)
    service, _ = service_over(server)
    with pytest.raises(NotebookError) as caught:
        await service.read(name)
    assert caught.value.code == code


async def test_file_being_saved_is_read_once_complete(
    server: Any, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jupyter empties a notebook's file before it writes it anew."""
    path = jp_root_dir / "n.ipynb"
    path.write_text("")
    get = server.contents_manager.get

    async def get_and_save(*args: Any, **options: Any) -> Any:
        try:
            return await get(*args, **options)
        finally:
            write_notebook(path, [cell("a", "x = 1")])

    monkeypatch.setattr(server.contents_manager, "get", get_and_save)
    service, _ = service_over(server)
    assert [one.source for one in (await service.read("n.ipynb")).cells] == ["x = 1"]


async def test_missing_kernel_is_named_with_installed_ones(server: Any, jp_root_dir: Path) -> None:
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", "1")], kernelspec={"name": "fortran", "display_name": "F"})
    service, _ = service_over(server)
    with pytest.raises(NotebookError, match=r"fortran.*python3") as caught:
        await service.run_cell("n.ipynb", "a", quiet)
    assert caught.value.code == "no_kernel"


async def test_dying_kernel_is_an_error_and_outputs_are_kept(server: Any, jp_root_dir: Path) -> None:
    path = jp_root_dir / "n.ipynb"
    die = "import os, sys, time; print('last words'); sys.stdout.flush(); time.sleep(0.5); os._exit(1)"
    write_notebook(path, [cell("a", die), cell("b", "print(1)")])
    service, _ = service_over(server)
    with pytest.raises(NotebookError) as caught:
        await service.run_cell("n.ipynb", "a", quiet)
    assert caught.value.code == "kernel_died"
    assert read_cells(path)[0]["outputs"][0]["text"] == ["last words\n"]


async def test_displays_are_updated_and_cleared_as_in_jupyterlab(server: Any, jp_root_dir: Path) -> None:
    source = (
        "from IPython.display import display, clear_output\n"
        "print('gone'); clear_output()\n"
        "handle = display('first', display_id=True); handle.update('second')\n"
        "import sys; print('working', end='\\r'); print('done   '); print('late', file=sys.stderr)\n"
        "40 + 2"
    )
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", source)])
    service, _ = service_over(server)
    run = await service.run_cell("n.ipynb", "a", quiet)
    kinds = [(output["output_type"], output.get("name")) for output in run.outputs]
    assert ("execute_result", None) in kinds
    assert run.outputs[0]["data"]["text/plain"] == "'second'"
    streams = {output["name"]: output["text"] for output in run.outputs if output["output_type"] == "stream"}
    assert streams == {"stdout": "done   \n", "stderr": "late\n"}


async def test_input_request_of_cell_is_refused_not_waited_for(server: Any, jp_root_dir: Path) -> None:
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", "input('Name? ')")])
    service, _ = service_over(server)
    run = await service.run_cell("n.ipynb", "a", quiet)
    assert run.status == "error"
    assert run.outputs[-1]["ename"] == "StdinNotImplementedError"
    assert run.note is not None
    assert "nobody can type" in run.note
    assert run.is_shown
    assert read_cells(jp_root_dir / "n.ipynb")[0]["outputs"][-1]["ename"] == "StdinNotImplementedError"


async def test_kernel_of_open_session_is_used_and_kept(server: Any, jp_root_dir: Path) -> None:
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", "x = 41"), cell("b", "print(x + 1)")])
    await server.session_manager.create_session(
        path="RTC:n.ipynb", name="n.ipynb", type="notebook", kernel_name="python3"
    )
    service, _ = service_over(server)
    await service.run_cell("n.ipynb", "a", quiet)
    run = await service.run_cell("n.ipynb", "b", quiet)
    assert run.outputs[0]["text"] == "42\n"
    assert len(await server.session_manager.list_sessions()) == 1


async def test_outputs_go_to_tab_opened_during_run(server: Any, jp_root_dir: Path) -> None:
    path = jp_root_dir / "n.ipynb"
    wait = "import os, time\nprint('on', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('end')"
    write_notebook(path, [cell("a", wait)])
    before = path.read_bytes()
    service, tabs = service_over(server)
    running = asyncio.Event()
    task = asyncio.ensure_future(service.run_cell("n.ipynb", "a", lambda line: line == "on" and running.set()))
    await running.wait()
    tab = FakeTab(tabs)
    tab.show("n.ipynb", [tab_cell("a", wait)])
    (jp_root_dir / "go").touch()
    run = await task
    assert run.outputs[0]["text"] == "on\nend\n"
    assert run.note is None
    assert tab.notebooks["n.ipynb"][0]["outputs"] == list(run.outputs)
    assert path.read_bytes() == before


async def test_undeliverable_outputs_are_returned_with_reason(server: Any, jp_root_dir: Path) -> None:
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", "import os; os.remove('n.ipynb'); print('gone')")])
    service, _ = service_over(server)
    run = await service.run_cell("n.ipynb", "a", quiet)
    assert run.outputs[0]["text"] == "gone\n"
    assert run.note is not None
    assert run.note.startswith("The outputs are not in the notebook: n.ipynb cannot be read")
    assert not run.is_shown


async def test_notebook_open_in_unreachable_front_end_is_not_written(server: Any, jp_root_dir: Path) -> None:
    path = jp_root_dir / "n.ipynb"
    write_notebook(path, [cell("a", "x = 1")])
    model = await server.session_manager.create_session(
        path="n.ipynb", name="n.ipynb", type="notebook", kernel_name="python3"
    )
    server.kernel_manager.notify_connect(model["kernel"]["id"])
    before = path.read_bytes()
    service, _ = service_over(server)
    with pytest.raises(NotebookError) as caught:
        await service.apply("n.ipynb", [EditCell("a", "x = 2")])
    assert caught.value.code == "open_elsewhere"
    assert path.read_bytes() == before


async def test_concurrent_inserts_both_arrive(server: Any, jp_root_dir: Path) -> None:
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", "x = 1")])
    service, _ = service_over(server)
    insertions = [InsertCell({"cell_type": "code", "source": str(n)}, After("a")) for n in range(5)]
    made = await asyncio.gather(*(service.apply("n.ipynb", [insertion]) for insertion in insertions))
    assert {c["id"] for c in read_cells(jp_root_dir / "n.ipynb")} == {"a", *(change.cell_id for (change,) in made)}


def everything(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


async def test_new_notebook_has_its_cells_and_named_kernel(server: Any, jp_root_dir: Path) -> None:
    (jp_root_dir / "deep").mkdir()
    service, _ = service_over(server)
    cells = [{"cell_type": "markdown", "source": "# New"}, {"cell_type": "code", "source": "x = 1", "id": "mine"}]
    view = await service.create("deep/new.ipynb", cells, "python3")
    assert [(c.cell_type, c.source) for c in view.cells] == [("markdown", "# New"), ("code", "x = 1")]
    assert view.cells[1].id == "mine"
    saved = json.loads((jp_root_dir / "deep" / "new.ipynb").read_text())
    assert saved["metadata"]["kernelspec"]["name"] == "python3"
    assert saved["metadata"]["kernelspec"]["language"] == "python"
    assert (saved["nbformat"], saved["nbformat_minor"]) == (4, 5)
    assert (await service.run_cell("deep/new.ipynb", "mine", quiet)).status == "ok"


@pytest.mark.parametrize(
    ("path", "kernel", "reason"),
    [
        ("there.ipynb", None, "exists"),
        ("folder.ipynb", None, "exists"),
        ("nowhere/new.ipynb", None, "no_folder"),
        ("new.txt", None, "bad_name"),
        ("new.ipynb", "fortran", "no_kernel"),
    ],
)
async def test_notebook_that_cannot_be_created_leaves_nothing(
    server: Any, jp_root_dir: Path, path: str, kernel: str | None, reason: str
) -> None:
    write_notebook(jp_root_dir / "there.ipynb", [cell("a", "kept")])
    (jp_root_dir / "folder.ipynb").mkdir()
    before = everything(jp_root_dir)
    service, _ = service_over(server)
    with pytest.raises(NotebookError) as caught:
        await service.create(path, [{"cell_type": "code", "source": ""}], kernel)
    assert caught.value.code == reason
    assert everything(jp_root_dir) == before
    assert read_cells(jp_root_dir / "there.ipynb")[0]["source"] == "kept"
