"""The kernel tools: what a model reads, what a person is asked, and what is refused."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.errors import NotebookError, PathNotAllowed, ToolError
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.protocols import CellRun, Inspection, InspectionTable, KernelVariables, ToolPreview, Variable
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.registry import ToolRegistry
from tests.features.tool_calls import ToolCalls

FRAME = Variable("frame", "frame", "pandas.DataFrame", "2 × 2: id int64, price float64", 1_234_567)
PICTURE = {"output_type": "display_data", "data": {"image/png": "cG5n"}, "metadata": {}}


class OneKernel:
    """The kernel of `work.ipynb` with what a test puts into it; `calls` is what was asked of it."""

    def __init__(self) -> None:
        self.found = KernelVariables((FRAME,), {}, 2, 0, 1)
        self.told = Inspection("int", "value", "3", facts=(("value", "3"),))
        self.ran = CellRun("ok", 3, ({"output_type": "stream", "name": "stdout", "text": "42\n"}, PICTURE))
        self.calls: list[tuple[Any, ...]] = []

    async def variables(
        self, path: str, pattern: str | None = None, *, functions: bool = False, most: int = 300
    ) -> KernelVariables:
        self.calls.append(("variables", path, pattern, functions))
        return self.found

    async def inspect(self, path: str, name: str) -> Inspection:
        self.calls.append(("inspect", path, name))
        return self.told

    async def executed(self, path: str) -> Mapping[int, str]:
        raise AssertionError("no tool here asks for it")

    async def lacking(self, path: str, packages: Sequence[str]) -> frozenset[str]:
        raise AssertionError("no tool here asks for it")

    async def execute(self, path: str, code: str, progress: Callable[[str], None]) -> CellRun:
        self.calls.append(("execute", path, code))
        return self.ran

    async def restart(self, path: str) -> None:
        raise AssertionError("no tool here restarts")

    async def is_same_kernel(self, path: str, other: str) -> bool:
        return False


class Unreadable:
    async def read_cells(self, path: str, ids: object) -> None:
        raise NotebookError("not_found", "gone")


class Bench:
    def __init__(self, make_context: Callable[..., ToolContext]) -> None:
        self.kernel = OneKernel()
        self.context = make_context(kernels=self.kernel, notebooks=Unreadable())
        self._calls = ToolCalls()

    async def run(self, tool_name: str, /, **arguments: Any) -> ToolResult:
        return await self._calls.run(self.context, tool_name, **arguments)

    async def preview(self, tool_name: str, /, **arguments: Any) -> ToolPreview:
        return await self._calls.preview(self.context, tool_name, **arguments)


@pytest.fixture
def bench(make_context: Callable[..., ToolContext]) -> Bench:
    return Bench(make_context)


async def test_variables_are_listed_one_per_line_with_kernel_notes(bench: Bench) -> None:
    result = await bench.run("kernel_variables", path="./work.ipynb", pattern="fr")
    assert bench.kernel.calls == [("variables", "work.ipynb", "fr", False)]
    assert result.output.splitlines() == [
        "frame (pandas.DataFrame, 1.2 MB): 2 × 2: id int64, price float64",
        "[2 functions, 1 modules: with functions: true]",
    ]
    assert result.external == "the kernel of work.ipynb"


async def test_many_variables_stay_within_budget_with_note(bench: Bench) -> None:
    many = tuple(Variable(f"value_{n}", "value", "float", "0.5 " * 20) for n in range(500))
    bench.kernel.found = KernelVariables(many, {"int": 7}, 0, 0, 0)
    result = await bench.run("kernel_variables", path="work.ipynb")
    assert result.truncated
    assert len(result.output) <= 8_000
    shown = sum(line.startswith("value_") for line in result.output.splitlines())
    assert f"[{507 - shown} more are left out ({500 - shown} float, 7 int); a pattern finds them]" in result.output


async def test_inspection_is_compact_markdown(bench: Bench) -> None:
    table = InspectionTable("first 1 rows", ("index", "a|b"), (("0", "two\nlines"),))
    bench.kernel.told = Inspection(
        "pandas.DataFrame", "frame", "1 × 1", (("shape", "1"),), (table,), ("a note",), "doc"
    )
    result = await bench.run("kernel_inspect", path="work.ipynb", name="frame")
    assert result.output.splitlines() == [
        "frame: pandas.DataFrame",
        "shape: 1",
        "",
        "first 1 rows:",
        "| index | a\\|b |",
        "| --- | --- |",
        "| 0 | two lines |",
        "[a note]",
        "",
        "doc",
    ]


async def test_scratch_code_returns_outputs_and_images(bench: Bench) -> None:
    result = await bench.run("kernel_execute", path="work.ipynb", code="print(42)")
    assert (result.ok, result.output) == (True, "42\n[image/png]")
    assert [picture.data for picture in result.attachments] == ["cG5n"]
    bench.kernel.ran = CellRun("error", 3, ({"output_type": "error", "ename": "E", "evalue": "no", "traceback": []},))
    assert not (await bench.run("kernel_execute", path="work.ipynb", code="x")).ok


async def test_approval_shows_exact_code_and_covers_one_kernel(bench: Bench) -> None:
    shown = await bench.preview("kernel_execute", path="./work.ipynb", code="x = 1")
    assert shown.summary == "Run code in the kernel of work.ipynb"
    assert shown.details == {"path": "work.ipynb", "code": "x = 1"}
    assert shown.grant == (await bench.preview("kernel_execute", path="work.ipynb", code="y")).grant
    assert shown.grant != (await bench.preview("kernel_execute", path="other.ipynb", code="x = 1")).grant
    assert bench.kernel.calls == []
    shell = await bench.preview("kernel_execute", path="work.ipynb", code="!ls")
    assert (shell.details["commands"], shell.also) == (["ls"], ("exec",))
    assert shell.grant != shown.grant


async def test_kernel_of_asking_cell_runs_nothing_but_can_be_inspected(bench: Bench) -> None:
    async def asking() -> str:
        return "work.ipynb"

    bench.context = replace(bench.context, asking_notebook=asking)
    for attempt in (bench.preview, bench.run):
        with pytest.raises(NotebookError) as caught:
            await attempt("kernel_execute", path="work.ipynb", code="1")
        assert caught.value.code == "kernel_waits"
    assert (await bench.run("kernel_variables", path="work.ipynb")).ok
    assert (await bench.run("kernel_inspect", path="work.ipynb", name="x")).ok
    assert [call[0] for call in bench.kernel.calls] == ["variables", "inspect"]


@pytest.mark.parametrize("name", ["kernel_variables", "kernel_inspect", "kernel_execute"])
async def test_paths_and_kernels_out_of_reach_are_rejected(bench: Bench, name: str) -> None:
    more = {"kernel_inspect": {"name": "x"}, "kernel_execute": {"code": "1"}}.get(name, {})
    with pytest.raises(PathNotAllowed):
        await bench.run(name, path="../work.ipynb", **more)
    bench.context = replace(bench.context, kernels=None)
    with pytest.raises(ToolError, match="No kernel"):
        await bench.run(name, path="work.ipynb", **more)


def test_tool_descriptions_explain_inspection_and_only_inspection_needs_no_approval() -> None:
    registry = ToolRegistry(all_tools())
    (further,) = [one.description for one in registry.definitions() if one.name == "more_tools"]
    assert "kernel_variables {path}: a notebook's live variables" in further
    assert "kernel_inspect {path, name}: " in further
    risks = {name: registry.get(name).risk for name in ("kernel_variables", "kernel_inspect", "kernel_execute")}
    assert risks == {"kernel_variables": "read", "kernel_inspect": "read", "kernel_execute": "execute"}
    assert registry.get("kernel_execute").untimed
