"""Cells whose outputs may be old, from what a real kernel says that it ran."""

from collections.abc import Mapping

from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.notebook.stale_cells import stale_cells
from onyx_jupyter.protocols import Cell
from tests.notebook.kernels import KernelPlace


def ran(source: str, count: int | None) -> Cell:
    return Cell(source, "code", source, cell_hash(source), count)


def by_count(*sources: str) -> Mapping[int, str]:
    return {count: cell_hash(source) for count, source in enumerate(sources, 1)}


def test_cells_run_in_order_are_not_stale() -> None:
    cells = [ran("a", 1), Cell("m", "markdown", "# b", cell_hash("# b")), ran("c\n", 3), ran("new", None)]
    assert stale_cells(cells, by_count("a", "deleted", "c")) == {}


def test_edited_cell_and_one_run_before_its_predecessor_are_stale() -> None:
    cells = [ran("a = 2", 1), ran("b", 3), ran("c", 2)]
    assert stale_cells(cells, by_count("a = 1", "c", "b")) == {"a = 2": "edited", "c": "out_of_order"}


def test_outputs_of_earlier_kernel_are_recognized() -> None:
    cells = [ran("a", 1), ran("b", 2), ran("late", 7), ran("twice", 1)]
    assert stale_cells(cells, by_count("a")) == {"b": "other_kernel", "late": "other_kernel", "twice": "other_kernel"}
    assert stale_cells(cells, {}) == dict.fromkeys(["a", "b", "late", "twice"], "other_kernel")


async def test_kernel_reports_source_for_each_execution_count(kernels: KernelPlace) -> None:
    sources = ["x = 1\n", "%%time\nx += 1", "!true", "1 / 0"]
    for source in sources:
        await kernels.run(source)
    await kernels.service.execute("work.ipynb", "x = 5", lambda line: None)
    cells = [ran(source, count) for count, source in enumerate(sources, 1)]
    executed = await kernels.service.executed("work.ipynb")
    assert len(executed) == 4
    assert stale_cells(cells, executed) == {}
    assert stale_cells([ran("x = 2", 1), *cells[1:]], executed) == {"x = 2": "edited"}
