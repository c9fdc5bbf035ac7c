"""The packaged skills work on real data, and name the parameter when something is wrong."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import numpy as np
import palmerpenguins
import pandas as pd
import pytest
import sklearn.datasets

from onyx_jupyter.skills.markdown_skill import read_markdown_skill
from onyx_jupyter.skills.notebook_skill import read_notebook_skill
from tests.notebooks.kernel import NOTEBOOKS, Kernel

PENGUINS = Path(palmerpenguins.__file__).parent / "data" / "penguins.csv"
WINE_ROWS = 178
SKILLS = sorted(NOTEBOOKS.joinpath("skills").glob("*.ipynb"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tables, good and bad; the kernel works in it."""
    folder = tmp_path_factory.mktemp("tables")
    penguins = pd.read_csv(PENGUINS)
    penguins.to_csv(folder / "penguins.csv", index=False)
    penguins.to_parquet(folder / "penguins.parquet")
    with gzip.open(folder / "semicolons.csv.gz", "wt", encoding="latin-1") as file:
        file.write("Ort;Preis\nKöln;1\nMünchen;2\nKöln;3\n")
    pd.DataFrame({"a": [], "b": []}).to_csv(folder / "empty.csv", index=False)
    pd.DataFrame({"only": range(30)}).to_csv(folder / "one-column.csv", index=False)
    folder.joinpath("nothing.csv").touch()
    folder.joinpath("broken.parquet").write_bytes(b"PAR1 and nothing more")
    return folder


@pytest.fixture(scope="module")
def large(place: Path) -> str:
    """A million rows, in which every hundredth `size` is missing."""
    count = 1_000_000
    chance = np.random.default_rng(seed=3)
    numbers = np.arange(count)
    table = pd.DataFrame({"id": numbers, "size": chance.normal(size=count), "kind": chance.choice(["x", "y"], count)})
    table.loc[table["id"] % 100 == 0, "size"] = np.nan
    table.to_parquet(place / "large.parquet")
    table.assign(size=table["size"].where(numbers % 10 != 5, 7.0)).to_parquet(place / "large-later.parquet")
    return "large.parquet"


@pytest.fixture(scope="module")
def kernel(place: Path) -> Iterator[Kernel]:
    with Kernel(place) as kernel:
        yield kernel


@pytest.mark.parametrize("path", SKILLS, ids=lambda path: path.stem)
def test_skill_notebook_describes_itself_and_has_no_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    skill = notebook.metadata["onyx"]["skill"]
    assert skill["name"] == path.stem
    assert 20 < len(skill["description"]) <= 1024
    tags = [tag for cell in notebook.cells for tag in cell.metadata.get("tags", [])]
    assert tags.count("parameters") == 1
    assert "result" in tags
    assert [cell.id for cell in notebook.cells if cell.get("outputs") or cell.get("execution_count")] == []


def test_packaged_skills_are_usable() -> None:
    skills = [read_notebook_skill(path, "packaged") for path in SKILLS]
    skills += [read_markdown_skill(path.parent, "packaged") for path in NOTEBOOKS.glob("skills/*/SKILL.md")]
    assert {skill.name for skill in skills} == {"compare-tables", "profile-table", "tidy-notebook", "train-baseline"}
    assert [(skill.name, skill.problem) for skill in skills if skill.problem] == []
    assert all(skill.instructions for skill in skills)
    needed = {skill.name: [item.name for item in skill.parameters.items if item.required] for skill in skills[:3]}
    assert needed == {
        "compare-tables": ["left", "right"],
        "profile-table": ["path"],
        "train-baseline": ["path", "target"],
    }


def test_parameters_are_typed_and_commented() -> None:
    for path in SKILLS:
        cells = nbformat.read(path, as_version=4).cells
        source = next(cell.source for cell in cells if "parameters" in cell.metadata.get("tags", []))
        lines = [line for line in source.splitlines() if line and not line.startswith(("from ", "import "))]
        assert lines
        for line in lines:
            assert re.fullmatch(r"\w+: \S.*  # \w.*", line), f"{path.stem}: {line}"


def test_profile_counts_and_plots(kernel: Kernel) -> None:
    for file in ("penguins.csv", "penguins.parquet"):
        outcome = kernel.run("skills/profile-table.ipynb", path=file)
        assert outcome.error is None
        assert outcome.warnings == ""
        assert "**344 rows × 8 columns** · 19 missing values (0.7 %) · no duplicate rows" in outcome.text("overview")
        columns = outcome.table("columns")
        assert (columns["sex"]["type"], columns["sex"]["missing"], columns["sex"]["distinct"]) == (
            "category",
            "3.2 %",
            "2",
        )
        assert columns["species"]["most frequent"] == "Adelie (44.2 %)"
        mass = columns["body_mass_g"]
        assert (mass["type"], mass["min"], mass["median"], mass["max"]) == ("number", "2,700", "4,050", "6,300")
        assert "`flipper_length_mm` and `body_mass_g` move together (r = 0.871)" in outcome.text("notable")
        assert outcome.images("plots") == 1
        assert outcome.images("correlation") == 1


def test_profile_of_partial_table_names_the_part(kernel: Kernel, large: str) -> None:
    values = {"columns": ["species", "year"], "max_rows": 100, "max_plots": 1}
    outcome = kernel.run("skills/profile-table.ipynb", path="penguins.csv", **values)
    assert "**100 rows × 2 columns**" in outcome.text("overview")
    assert "only the first 100 were read (`max_rows`)" in outcome.text("overview")
    assert "`species` is always Adelie." in outcome.text("notable")
    assert "Drawn are the first 1 of 2 columns" in outcome.text("plots")

    outcome = kernel.run("skills/profile-table.ipynb", path=large, sample_rows=5_000)
    assert "**1,000,000 rows × 3 columns** · 10,000 missing values" in outcome.text("overview")
    assert "from 5,000 rows drawn at random (`sample_rows`)" in outcome.text("overview")
    columns = outcome.table("columns")
    assert columns["size"]["missing"] == "1 %"
    assert (columns["id"]["distinct"], columns["id"]["max"]) == ("≥ 5,000", "999,999")


def test_profile_of_unusual_tables(kernel: Kernel) -> None:
    empty = kernel.run("skills/profile-table.ipynb", path="empty.csv")
    assert empty.error is None
    assert "0 rows × 2 columns" in empty.text("overview")
    assert "There is no column to draw." in empty.text("plots")
    assert empty.images("plots") == 0

    one = kernel.run("skills/profile-table.ipynb", path="one-column.csv")
    assert one.error is None
    assert "`only` differs in every row" in one.text("notable")
    assert one.images("plots") == 1
    assert "no correlations" in one.text("correlation")

    old = kernel.run("skills/profile-table.ipynb", path="semicolons.csv.gz", encoding="latin-1")
    assert "**3 rows × 2 columns**" in old.text("overview")
    assert old.table("columns")["Ort"]["most frequent"] == "Köln (66.7 %)"


def test_compare_finds_exact_differences(kernel: Kernel, place: Path) -> None:
    before = pd.read_csv(PENGUINS).assign(number=range(344))
    after = before.assign(note="new").drop(index=[0, 1])
    after.loc[5:8, "bill_length_mm"] += 2
    after.loc[8, "species"] = "Rockhopper"
    after.loc[9, "sex"] = "female"
    after = pd.concat([after, after.tail(1).assign(number=900)]).sample(frac=1, random_state=1)
    before.to_csv(place / "before.csv", index=False)
    after.to_csv(place / "after.csv", index=False)

    outcome = kernel.run("skills/compare-tables.ipynb", left="before.csv", right="after.csv")
    assert outcome.error is None
    assert outcome.warnings == ""
    assert outcome.table("schema") == {"note": {"left": "–", "right": "text"}}
    assert "matched by **number**, which identifies every row" in outcome.text("match")
    assert [row["rows"] for row in outcome.table("match").values()] == ["344", "343", "342", "2", "1"]
    assert "**5 of 342 rows**" in outcome.text("values")
    bill = outcome.table("values")["bill_length_mm"]
    assert (bill["changed"], bill["share"], bill["mean change"]) == ("4", "1.2 %", "+2")
    assert outcome.table("values")["species"]["changed"] == "1"
    assert outcome.table("values")["sex"]["example"] == "(missing) → female"
    assert "Rockhopper" in outcome.text("listed")
    verdict = "columns that differ: 1, rows removed: 2, rows added: 1, rows changed: 5"
    assert verdict in outcome.text("summary")
    assert outcome.images("summary") == 1

    values = {"ignore": ["bill_length_mm", "note"], "key": ["number"], "show": 1}
    outcome = kernel.run("skills/compare-tables.ipynb", left="before.csv", right="after.csv", **values)
    assert "**2 of 342 rows**" in outcome.text("values")
    assert "bill_length_mm" not in outcome.text("values") + outcome.text("listed")
    assert "The first 1 of 2 changed values" in outcome.text("listed")


def test_compare_of_equal_empty_and_large_tables(kernel: Kernel, large: str) -> None:
    equal = kernel.run("skills/compare-tables.ipynb", left="penguins.csv", right="penguins.parquet")
    assert "**The tables are equal.**" in equal.text("summary")
    assert "matched by their **position**" in equal.text("match")
    assert equal.images("summary") == 0

    empty = kernel.run("skills/compare-tables.ipynb", left="empty.csv", right="penguins.csv")
    assert empty.error is None
    assert empty.table("match")["only right (added)"]["rows"] == "344"

    values = {"left": large, "right": "large-later.parquet", "max_rows": 20_000}
    outcome = kernel.run("skills/compare-tables.ipynb", **values)
    compared = re.search(r"Compared were ([\d,]+) of 1,000,000 rows, drawn by key", outcome.text("summary"))
    assert compared is not None
    assert 18_000 < int(compared[1].replace(",", "")) < 22_000
    assert 9 < float(outcome.table("values")["size"]["share"].removesuffix("%")) < 12


def test_baseline_separates_classification_from_regression_and_beats_guessing(kernel: Kernel, place: Path) -> None:
    outcome = kernel.run("skills/train-baseline.ipynb", path="penguins.csv", target="species", folds=3)
    assert outcome.error is None
    assert outcome.warnings == ""
    assert "**Classification of `species`** (3 classes) · 344 rows · 7 columns" in outcome.text("task")
    accuracy = {
        model: float(row["balanced accuracy"].partition(" ")[0]) for model, row in outcome.table("scores").items()
    }
    assert accuracy["guessing"] == 0.333
    assert min(accuracy["logistic regression"], accuracy["gradient boosting"]) > 0.95
    assert outcome.text("importance").splitlines()[1].startswith("bill_length_mm")
    assert outcome.images("plot") == 1

    wine = sklearn.datasets.load_wine(as_frame=True).frame.drop(columns="target")
    wine.assign(label=range(WINE_ROWS)).to_csv(place / "wine.csv", index=False)
    values = {"path": "wine.csv", "target": "alcohol", "ignore": ["label"], "folds": 3}
    outcome = kernel.run("skills/train-baseline.ipynb", **values)
    assert "**Regression of `alcohol`** · 178 rows · 12 columns" in outcome.text("task")
    explained = {model: float(row["R²"].partition(" ")[0]) for model, row in outcome.table("scores").items()}
    assert explained["guessing"] < 0.01
    assert 0.4 < explained["ridge regression"] < 0.8
    assert "label" not in outcome.text("importance")


def test_baseline_reports_what_it_leaves_out(kernel: Kernel, place: Path) -> None:
    chance = np.random.default_rng(seed=5)
    noise = pd.DataFrame({"y": chance.normal(size=200), "x": chance.normal(size=200), "same": 1})
    noise["name"] = [f"row {number}" for number in range(200)]
    noise.loc[:19, "y"] = np.nan
    noise.to_csv(place / "noise.csv", index=False)
    outcome = kernel.run("skills/train-baseline.ipynb", path="noise.csv", target="y", max_rows=100)
    assert "20 rows have no `y`" in outcome.text("task")
    assert "Learned from 100 of 180 rows, drawn at random" in outcome.text("task")
    assert "`name` is left out: free text or an identifier." in outcome.text("task")
    assert "`same` is left out: always the same." in outcome.text("task")
    assert "hardly better than guessing" in outcome.text("scores")


@pytest.mark.parametrize(
    ("skill", "values", "said"),
    [
        ("profile-table", {}, "path: give the file of the table"),
        ("profile-table", {"path": "nope.csv"}, "path: there is no file 'nope.csv'"),
        ("profile-table", {"path": "nothing.csv"}, "path: 'nothing.csv' could not be read as a table"),
        ("profile-table", {"path": "broken.parquet"}, "path: 'broken.parquet' could not be read as a table"),
        ("profile-table", {"path": "semicolons.csv.gz"}, "encoding: 'semicolons.csv.gz' is not utf-8 text"),
        ("profile-table", {"path": "penguins.csv", "columns": ["wings"]}, "columns: there is no 'wings'"),
        ("profile-table", {"path": "penguins.csv", "sample_rows": 0}, "sample_rows: 0 is too small"),
        ("compare-tables", {"left": "penguins.csv"}, "right: give the file of the table"),
        ("compare-tables", {"left": "a.csv", "right": "b.csv"}, "left: there is no file 'a.csv'"),
        (
            "compare-tables",
            {"left": "penguins.csv", "right": "penguins.csv", "key": ["species"]},
            "key: species does not identify the rows of left: species='Adelie' is missing or there twice",
        ),
        ("compare-tables", {"left": "penguins.csv", "right": "penguins.csv", "key": ["id"]}, "key: there is no column"),
        ("train-baseline", {"path": "penguins.csv"}, "target: give the column to predict. There are: species, "),
        ("train-baseline", {"path": "penguins.csv", "target": "wings"}, "target: there is no column 'wings'"),
        ("train-baseline", {"path": "empty.csv", "target": "a"}, "target: 'a' has a value in only 0 rows"),
        ("train-baseline", {"path": "one-column.csv", "target": "only"}, "path: the table has no column besides"),
        (
            "train-baseline",
            {"path": "penguins.csv", "target": "species", "task": "regression"},
            "task: 'species' holds values that are no numbers",
        ),
        ("train-baseline", {"path": "penguins.csv", "target": "species", "folds": 1}, "folds: 1 is too small"),
    ],
)
def test_errors_name_the_parameter(kernel: Kernel, skill: str, values: dict[str, object], said: str) -> None:
    outcome = kernel.run(f"skills/{skill}.ipynb", **values)
    assert (outcome.error or "").startswith(f"ValueError: {said}")
