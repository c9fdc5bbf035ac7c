"""Making a skill of a notebook: what is proposed, and what is written."""

import json
import stat
from pathlib import Path
from textwrap import dedent

import nbformat
import pytest

from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.skills.authoring import skill_notebook, write_skill
from onyx_jupyter.skills.notebook_skill import read_notebook_skill
from onyx_jupyter.skills.parameters import parse_parameters
from onyx_jupyter.skills.proposal import SourceCell, propose, without_values

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def code(*sources: str) -> list[SourceCell]:
    return [SourceCell("code", dedent(source).strip()) for source in sources]


def parameters(*sources: str) -> str:
    return propose(code(*sources), "x").parameters


def test_literals_assigned_once_become_parameters_with_comments() -> None:
    assert parameters(
        """
        import pandas as pd
        path = "größe.csv"  # the table: größe
        rows = 10
        ratio = -0.5
        quick = True
        names = ["a", "b"]
        where = Path("data")
        limits = {"low": 1}
        """,
        "df = pd.read_csv(path)",
    ).splitlines() == [
        "from pathlib import Path",
        "",
        'path: str = "größe.csv"  # the table: größe',
        "rows: int = 10",
        "ratio: float = -0.5",
        "quick: bool = True",
        'names: list[str] = ["a", "b"]',
        'where: Path = Path("data")',
        'limits: dict = {"low": 1}',
    ]


NO_PARAMETERS = {
    "given twice": ("n = 1", "n = 2"),
    "counted up": ("n = 1", "n += 1"),
    "a loop's": ("n = 1", "for n in range(3): pass"),
    "filled later": ("found = [1]", "found.append(2)"),
    "changed in place": ("found = {'a': 1}", "found['b'] = 2"),
    "empty": ("found = []", "table = {}"),
    "not a literal": ("n = compute()", "m = [x for x in y]"),
    "private": ("_n = 1",),
    "with company on its line": ("n = 1; print(n)",),
    "not at the top": ("if True:\n    n = 1",),
    "none": ("n = None",),
    "another name of a function": ("n = 1", "def n(): pass"),
    "an import's": ("n = 1", "import n"),
    "no python": ("n = = 1",),
    "another language": ("%%bash\nn=1",),
}


@pytest.mark.parametrize("sources", NO_PARAMETERS.values(), ids=NO_PARAMETERS.keys())
def test_reassigned_or_computed_names_are_no_parameters(sources: tuple[str, ...]) -> None:
    assert parameters(*sources) == ""


def test_ipython_syntax_hides_nothing() -> None:
    assert parameters("%matplotlib inline\n!pip list\nn = 1\nm = 2") == "n: int = 1\nm: int = 2"


def test_single_parameter_gets_a_second_line_so_it_is_not_a_magic() -> None:
    proposed = parameters("time = 5")
    assert proposed == "# Parameters\ntime: int = 5"
    (item,) = parse_parameters(proposed).items
    assert (item.name, item.default, item.description) == ("time", 5, "")


def test_existing_parameters_are_kept() -> None:
    own = SourceCell("code", "n = 5  # its own", ("parameters",))
    assert propose([*code("m = 1"), own], "x").parameters == "n = 5  # its own"


def test_name_and_description_come_from_file_name_and_first_text() -> None:
    text = SourceCell("markdown", "# Churn\n\n![logo](x.png)\n\nHow churn\ndevelops by month.\n\n## Data")
    proposal = propose([text], "Churn Analysis (v2)")
    assert (proposal.name, proposal.description) == ("churn-analysis-v2", "How churn develops by month.")
    assert propose([SourceCell("markdown", "# Only a heading")], "Übersicht").description == "Only a heading"
    assert propose([], "日本").name == "my-skill"
    assert propose([], "read").name == "read-notebook"
    assert len(propose([SourceCell("markdown", "word " * 500)], "x" * 200).description) <= 301


def test_extracted_parameter_is_removed_from_its_cell() -> None:
    source = "import os\nrows = [\n    1,\n]\nn = 2\nprint(n)\nn: int = 3"
    assert without_values(source, ["rows", "n"]) == "import os\nprint(n)"
    assert without_values(source, ["other"]) == source
    assert without_values("n = = 1", ["n"]) == "n = = 1"


def cells(*made: tuple[str, str]) -> list[dict[str, object]]:
    return [
        {"cell_type": kind, "id": f"c{index}", "metadata": {"tags": ["result"]} if index == 2 else {}, "source": source}
        for index, (kind, source) in enumerate(made)
    ]


def test_saved_skill_is_a_valid_notebook_that_round_trips(tmp_path: Path) -> None:
    made = skill_notebook(
        cells(("markdown", "# Count"), ("code", "n = 1"), ("code", "print(n)")),
        "count-it",
        "Counts.",
        "n: int = 1  # how many",
        KERNEL,
    )
    nbformat.validate(made)
    path = write_skill(tmp_path / "skills", "count-it", made, overwrite=False, private=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    skill = read_notebook_skill(path, "home")
    assert (skill.problem, skill.name, skill.description, skill.kernel) == (None, "count-it", "Counts.", "python3")
    assert skill.parameters is not None
    assert [(item.name, item.default) for item in skill.parameters.items] == [("n", 1)]
    sources = [(cell["cell_type"], cell["source"]) for cell in json.loads(path.read_text())["cells"]]
    assert sources == [("markdown", "# Count"), ("code", "n: int = 1  # how many"), ("code", "print(n)")]
    assert json.loads(path.read_text())["cells"][2]["metadata"] == {"tags": ["result"]}


def test_there_is_at_most_one_parameters_cell() -> None:
    old = {"cell_type": "code", "id": "parameters", "metadata": {"tags": ["parameters"]}, "source": "m = 1"}
    made = skill_notebook([old, *cells(("code", "m"))], "x", "d", "n = 1", KERNEL)
    assert [cell["source"] for cell in made["cells"]] == ["n = 1", "m"]
    bare = skill_notebook([old, *cells(("code", "m"))], "x", "d", "", KERNEL)
    assert [cell["source"] for cell in bare["cells"]] == ["m"]


@pytest.mark.parametrize(
    ("name", "description", "source", "field"),
    [("Bad Name", "d", "", "name"), ("x", " ", "", "description"), ("x", "d", "n = = 1", "parameters")],
)
def test_invalid_field_is_named(name: str, description: str, source: str, field: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        skill_notebook([], name, description, source, KERNEL)
    assert refused.value.field == field


def test_existing_skill_is_replaced_only_if_requested(tmp_path: Path) -> None:
    made = skill_notebook([], "count", "Counts.", "", KERNEL)
    write_skill(tmp_path, "count", made, overwrite=False, private=True)
    before = (tmp_path / "count.ipynb").read_bytes()
    other = skill_notebook([], "count", "Counts otherwise.", "", KERNEL)
    with pytest.raises(InvalidRequest, match="already has a skill 'count'"):
        write_skill(tmp_path, "count", other, overwrite=False, private=True)
    assert (tmp_path / "count.ipynb").read_bytes() == before
    write_skill(tmp_path, "count", other, overwrite=True, private=True)
    assert "otherwise" in (tmp_path / "count.ipynb").read_text()


def test_folder_or_link_of_that_name_is_never_replaced(tmp_path: Path) -> None:
    made = skill_notebook([], "count", "Counts.", "", KERNEL)
    (tmp_path / "count").mkdir()
    (tmp_path / "far.ipynb").symlink_to(tmp_path / "elsewhere.ipynb")
    for name in ("count", "far"):
        with pytest.raises(InvalidRequest, match="already has a skill"):
            write_skill(tmp_path, name, made, overwrite=True, private=True)
    assert not (tmp_path / "elsewhere.ipynb").exists()
