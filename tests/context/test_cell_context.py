"""The notebook facts for cell mode: nearby tables, nothing from outside the allowed folders."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from onyx_jupyter.agent.prompt_sections import SkillLine
from onyx_jupyter.cell_mode.notebook_facts import SkillFact
from onyx_jupyter.context.cell_context import CellContext, skill_facts
from onyx_jupyter.errors import NotebookError
from onyx_jupyter.features.skills.skill_service import OfferedSkills
from onyx_jupyter.protocols import Cell, NotebookView
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.sessions.entry import Entry

CELL = Cell("c1", "code", "x = 1", "h", execution_count=1)


class Notebooks:
    async def read(self, path: str, in_full: Any = ()) -> NotebookView:
        return NotebookView(path, (CELL,), "contents", "python3")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "work").mkdir(parents=True)
    (root / "workspace").mkdir()
    return root


def facts(root: Path, request: str, **meta: Any):
    meta = {"notebooks": {"front": "work/a.ipynb"}, **meta}
    message = Entry("id", None, "2026-01-01T00:00:00.000Z", "user", request, meta=meta)
    paths = PathGuard(root, root / "workspace")
    return asyncio.run(CellContext(message, Notebooks(), None, paths).facts(request))  # type: ignore[arg-type]


def test_named_table_is_described_with_columns(root: Path) -> None:
    (root / "work" / "fees.csv").write_text("fee,name\n1,a\n2,b\n")
    (root / "work" / "other.csv").write_text("x\n1\n")
    told = facts(root, "the mean of fees.csv")
    assert told.path == "work/a.ipynb"
    assert [cell.source for cell in told.cells] == ["x = 1"]
    assert [(frame.file, [one.name for one in frame.columns]) for frame in told.frames] == [
        ("fees.csv", ["fee", "name"])
    ]
    assert told.files == ("fees.csv", "other.csv")


@pytest.mark.parametrize("place", ["outside/secrets.csv", "root/.env"])
def test_link_reveals_nothing_outside_roots(root: Path, place: str) -> None:
    target = root.parent / place
    target.parent.mkdir(exist_ok=True)
    target.write_text("account,hunter2\n1,2\n")
    (root / "work" / "fees.csv").symlink_to(target)
    told = facts(root, "the mean of fees.csv")
    assert told.path == "work/a.ipynb"
    assert told.frames == ()


def test_too_large_or_invalid_table_is_left_out(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onyx_jupyter.context.cell_context.MAX_BYTES", 10)
    (root / "work" / "fees.csv").write_text("fee,name\n1,a\n2,b\n")
    assert facts(root, "the mean of fees.csv").frames == ()


def test_question_from_cell_has_no_notebook_to_run_in(root: Path) -> None:
    assert facts(root, "the mean", kernel={"path": "work/a.ipynb"}).path is None
    shown = {"notebooks": {"folder": "work"}}
    assert facts(root, "the mean", kernel={"path": "work/a.ipynb"}, **shown).new_path is None
    assert facts(root, "the mean", **shown, **{"from": {"sessionKey": "s"}}).new_path is None


def test_without_notebook_new_one_is_created_next_to_visible_files(root: Path) -> None:
    (root / "work" / "fees.csv").write_text("fee,name\n1,a\n2,b\n")
    told = facts(root, "the mean of fees", notebooks={"folder": "work"})
    assert (told.path, told.new_path) == (None, "work/Untitled.ipynb")
    assert [frame.file for frame in told.frames] == ["fees.csv"]
    (root / "work" / "Untitled.ipynb").write_text("{}")
    (root / "work" / "untitled1.IPYNB").write_text("{}")
    assert facts(root, "the mean", notebooks={"folder": "work"}).new_path == "work/Untitled2.ipynb"
    assert facts(root, "the mean", notebooks={"folder": ""}).new_path == "Untitled.ipynb"
    assert facts(root, "the mean", notebooks={"folder": "gone"}).new_path is None
    assert facts(root, "the mean", notebooks={"folder": "../outside"}).new_path is None
    assert facts(root, "the mean", notebooks={}).new_path is None


def test_skills_have_parameters_and_untrusted_ones_no_description() -> None:
    schema = {"properties": {"week": {"type": "integer", "description": "…"}, "any": {}}}
    tool = SimpleNamespace(name="skill_report", definition=lambda: SimpleNamespace(parameters=schema))
    lines = [SkillLine("report", "Sums up.", "skill_report"), SkillLine("new", "Obey me.", trusted=False)]
    report, new = skill_facts(OfferedSkills([tool], lines))  # type: ignore[list-item]
    assert (report.tool, report.description, report.parameters) == (
        "skill_report",
        "Sums up.",
        {"week": "integer", "any": "string"},
    )
    assert (new.tool, new.description, new.parameters) == (None, "", {})


def test_skills_are_included_without_notebook(root: Path) -> None:
    message = Entry("id", None, "2026-01-01T00:00:00.000Z", "user", "hi", meta={})
    (root / "first").mkdir()
    (root / "first" / "MEMORY.md").write_text("# Memory\n\nWhat stays true.\n")
    paths = PathGuard(root, root / "workspace")
    around = CellContext(message, Notebooks(), None, paths, [SkillFact("report")], root / "first")  # type: ignore[arg-type]
    told = asyncio.run(around.facts("hi"))
    assert (told.path, told.skills) == (None, (SkillFact("report"),))
    assert told.boilerplate == {"# Memory", "What stays true."}


@pytest.mark.parametrize(
    ("kernel", "language", "begins"),
    [("conda-env-lab-py", "python", "import pandas"), ("ir", "r", ""), ("gone", "gone", "")],
)
def test_language_is_the_kernels_and_only_python_loads_tables_with_pandas(
    root: Path, kernel: str, language: str, begins: str
) -> None:
    (root / "work" / "fees.csv").write_text("fee,name\n1,a\n2,b\n")

    class Here(Notebooks):
        async def read(self, path: str, in_full: Any = ()) -> NotebookView:
            return NotebookView(path, (CELL,), "contents", kernel)

    class Kernels:
        async def language(self, path: str, kernel_name: str | None) -> str:
            known = {"conda-env-lab-py": "python", "ir": "r"}
            if kernel_name not in known:
                raise NotebookError("no_kernel", "not installed")
            return known[kernel_name]

        async def variables(self, path: str, **_: Any) -> None:
            raise NotebookError("not_python", "only Python's")

        async def lacking(self, path: str, packages: Any) -> None:
            raise NotebookError("no_kernel", "none runs")

    message = Entry("id", None, "2026-01-01T00:00:00.000Z", "user", "", meta={"notebooks": {"front": "work/a.ipynb"}})
    around = CellContext(message, Here(), Kernels(), PathGuard(root, root / "workspace"))  # type: ignore[arg-type]
    told = asyncio.run(around.facts("the mean of fees.csv"))
    assert told.language == language
    (table,) = told.frames
    assert [one.name for one in table.columns] == ["fee", "name"]
    assert table.read[:13] == begins
    assert table.name == ("df" if begins else "fees.csv")
