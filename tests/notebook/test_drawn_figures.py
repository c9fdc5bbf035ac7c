"""What figures hold, read back from a real kernel, and that drawing stays as it was."""

from collections.abc import Sequence
from typing import Any

import pytest

from onyx_jupyter.notebook.document_service import document_service, notebook_paths
from onyx_jupyter.notebook.drawn_figures import DrawnFigures
from onyx_jupyter.notebook.kernel_inspection import KernelInspection
from onyx_jupyter.protocols import CellRun
from tests.notebook.fake_tab import FakeTab, tab_cell
from tests.notebook.files import cell, write_notebook
from tests.notebook.kernels import KernelPlace, quiet

BEGIN = "import matplotlib.pyplot as plt, numpy as np, pandas as pd\n"
LISTENS = "'format' in vars(get_ipython().display_formatter)"


async def drawn(kernels: KernelPlace, code: str) -> CellRun:
    if not kernels.kernel_id:
        await kernels.start()
        await kernels.run(BEGIN)
    figures = DrawnFigures(KernelInspection(kernels.manager))
    run = await figures.with_figures(kernels.kernel_id, lambda: kernels.run(code))
    assert run.status == "ok", run.outputs
    return run


async def told(kernels: KernelPlace, code: str) -> Sequence[str]:
    return (await drawn(kernels, code)).figures


async def test_bars_are_described_with_names_and_heights(kernels: KernelPlace) -> None:
    upright = "plt.bar(['monthly', 'one year'], [0.4271, 0.1127]); plt.title('Churn'); plt.ylabel('rate')"
    assert await told(kernels, upright) == (
        'title "Churn"; x: monthly, one year; y "rate" from 0 to 0.4485; bars: monthly 0.4271, one year 0.1127',
    )
    (flat,) = await told(kernels, "pd.Series({'a': 1.5, 'b': 2.25}).plot.barh(); plt.show()")
    assert flat.endswith("y: a, b; bars: a 1.5, b 2.25")
    (grouped,) = await told(
        kernels, "pd.DataFrame({'a': [1, 2], 'b': [3, 4]}, index=['p', 'q']).plot.bar(stacked=True)"
    )
    assert 'bars "a": p 1, q 2; bars "b": p 3, q 4; legend: a, b' in grouped
    (many,) = await told(kernels, "plt.bar(range(40), range(40))")
    assert "bars: 40 of them, the highest at 39 with 39, the lowest at 0 with 0" in many


async def test_lines_and_points_are_described_with_ranges_and_dates(kernels: KernelPlace) -> None:
    days = "s = pd.Series(range(30), index=pd.date_range('2024-01-01', periods=30), name='calls')\n"
    (line,) = await told(kernels, days + "plt.plot(s.index, s.values, label='calls'); plt.axhline(7); plt.legend()")
    assert "x from 2023-12-30 to 2024-01-31" in line
    assert (
        'line "calls": 30 points, x from 2024-01-01 to 2024-01-30, y from 0 to 29, the highest at x 2024-01-30' in line
    )
    assert "horizontal line at 7" in line
    (periods,) = await told(kernels, "s.plot()")
    assert 'line "calls": 30 points, x from 2024-01-01 to 2024-01-30, y from 0 to 29' in periods
    (points,) = await told(kernels, "plt.scatter([1, 2, np.nan], [3, 4, 5], label='fees'); plt.yscale('log')")
    assert 'points "fees": 2 points, x from 1 to 2, y from 3 to 4' in points
    assert "(log)" in points


async def test_histograms_boxes_pies_and_grids_are_described(kernels: KernelPlace) -> None:
    (bins,) = await told(kernels, "plt.hist([1, 1, 2, 5], bins=[0, 2, 4, 6])")
    assert "histogram: 3 bins from 0 to 6 with 2, 1, 1, the highest 0 to 2 with 2" in bins
    (boxes,) = await told(kernels, "pd.DataFrame({'a': [1, 2, 3, 4, 100], 'b': [1, 2, 3, 4, 5]}).plot.box()")
    assert "box plot: a median 3, middle half 2 to 4, whiskers 1 to 4, 1 outlier / b median 3" in boxes
    (pie,) = await told(kernels, "plt.pie([1, 3], labels=['u', 'v'])")
    assert pie == "pie with shares: u 0.25, v 0.75"
    (grid,) = await told(
        kernels, "plt.imshow(np.eye(2)); plt.xticks([0, 1], ['a', 'b']); plt.yticks([0, 1], ['a', 'b'])"
    )
    assert "image of 2 × 2, values from 0 to 1, row by row: a 1, 0 / b 0, 1" in grid


async def test_each_axes_has_a_line_and_colour_bars_have_none(kernels: KernelPlace) -> None:
    code = "fig, (a, b) = plt.subplots(1, 2); a.plot([1, 2]); b.set_title('[right]'); fig.suptitle('both')"
    one, two = await told(kernels, code)
    assert one.startswith('figure "both"; axes 1 of 2; ')
    assert 'title "(right)"' in two
    assert "nothing is drawn in it" in two
    assert len(await told(kernels, "plt.imshow(np.eye(50)); plt.colorbar()")) == 1
    assert await told(kernels, "ax = plt.figure().add_subplot(projection='3d'); ax.scatter([1], [2], [3])") == (
        "in three dimensions",
    )


async def test_display_and_kernel_state_are_unchanged(kernels: KernelPlace) -> None:
    code = "plt.plot([1, 2], [3, 4]); print('drawn')"
    await kernels.start()
    await kernels.run(BEGIN)
    await kernels.value("1")
    names = await kernels.value("sorted(globals())")
    plain = await kernels.run(code)
    watched = await drawn(kernels, code)
    assert [output.get("data", output.get("text")) for output in watched.outputs[1:]] == [
        output.get("data", output.get("text")) for output in plain.outputs[1:]
    ]
    assert [output["metadata"] for output in watched.outputs if "metadata" in output] == [{}]
    assert watched.figures
    assert await kernels.value(LISTENS) == "False"
    assert await kernels.value("[name for name in sorted(globals()) if 'onyx' in name]") == "[]"
    assert len(await kernels.value("sorted(globals())")) <= len(names) + 60  # `_i…` of the cells that ran
    assert await kernels.value("plt.get_fignums()") == "[]"


async def test_cell_without_plot_and_figure_of_other_cell_yield_nothing(kernels: KernelPlace) -> None:
    assert await told(kernels, "1 + 1") == ()
    figures = DrawnFigures(KernelInspection(kernels.manager))

    async def after_another() -> CellRun:
        await kernels.run("plt.plot([1, 2])")
        return await kernels.run("x = 1")

    assert (await figures.with_figures(kernels.kernel_id, after_another)).figures == ()
    assert await kernels.value(LISTENS) == "False"


async def test_user_defined_figure_classes_are_not_called(kernels: KernelPlace) -> None:
    own = """
class Own(plt.Figure):
    @property
    def axes(self):
        if globals().get('shown'): print('asked')
        return super().axes
f = plt.figure(FigureClass=Own); plt.plot([1, 2]); shown = False
"""
    assert await told(kernels, own) == ()


async def test_abandoned_request_leaves_nothing_behind_for_long(kernels: KernelPlace) -> None:
    await kernels.start()
    await kernels.run(BEGIN)

    async def gone() -> CellRun:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await DrawnFigures(KernelInspection(kernels.manager)).with_figures(kernels.kernel_id, gone)
    assert await kernels.value(LISTENS) == "True"
    for _ in range(22):
        await kernels.run("1")
    assert await kernels.value(LISTENS) == "False"


async def test_run_without_or_with_dead_kernel_is_unaffected(kernels: KernelPlace) -> None:
    async def run() -> CellRun:
        return CellRun("ok", 1, ())

    await kernels.start()
    figures = DrawnFigures(KernelInspection(kernels.manager))
    assert await figures.with_figures(None, run) == CellRun("ok", 1, ())
    await kernels.manager.get_kernel(kernels.kernel_id).shutdown_kernel(now=True)
    assert await figures.with_figures(kernels.kernel_id, run) == CellRun("ok", 1, ())


async def test_first_cell_of_closed_notebook_describes_its_figure(kernels: KernelPlace) -> None:
    source = "import matplotlib.pyplot as plt\nplt.bar(['a'], [2])"
    write_notebook(kernels.root / "work.ipynb", [cell("a", source)])
    service = document_service(kernels.server_app, kernels.tabs, notebook_paths(kernels.server_app))
    run = await service.run_cell("work.ipynb", "a", quiet)
    assert [figure.rpartition("; ")[2] for figure in run.figures] == ["bars: a 2"]
    assert "bars: a 2" not in (kernels.root / "work.ipynb").read_text("utf-8")


class RunningTab(FakeTab):
    """A tab whose cells run in the notebook's real kernel, as a page runs them."""

    kernels: KernelPlace

    async def _run(self, cell: dict[str, Any]) -> dict[str, Any]:
        run = await self.kernels.run(cell["source"])
        return {"status": run.status, "executionCount": run.execution_count, "outputs": list(run.outputs)}


async def test_cell_run_by_tab_describes_its_figure(kernels: KernelPlace) -> None:
    service = document_service(kernels.server_app, kernels.tabs, notebook_paths(kernels.server_app))
    tab = RunningTab(kernels.tabs)
    tab.kernels = kernels
    source = "import matplotlib.pyplot as plt\nplt.bar(['a'], [2])"
    tab.show("work.ipynb", [tab_cell("a", source), tab_cell("b", "1 / 0")])
    await kernels.start()
    run = await service.run_cell("work.ipynb", "a", quiet)
    assert [figure.rpartition("; ")[2] for figure in run.figures] == ["bars: a 2"]
    assert "figure" not in str(tab.notebooks["work.ipynb"][0]["outputs"])
    assert (await service.run_cell("work.ipynb", "b", quiet)).status == "error"
    assert await kernels.value(LISTENS) == "False"
