"""Of each question about an example notebook: what a careful analyst does is judged right, and a near miss is not."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from benchmarks.agent import first_minute, follow_ups
from benchmarks.agent.example_data import PENGUINS, WELCOME
from benchmarks.agent.task import Task, Turn

TASKS: Mapping[str, Task] = {one.id: one for one in (*first_minute.TASKS, *follow_ups.TASKS)}
# Of each: a cell, what is said of it, and a cell that misses the question by a little.
WORK: Mapping[Path, Mapping[str, tuple[str, str, str]]] = {
    WELCOME: {
        "rate_by_contract": (
            'customers.groupby("contract")["churned"].mean()',
            "Here it is.",
            'customers.groupby("contract")["churned"].sum()',
        ),
        "fee_of_leavers": (
            'fee = customers.groupby("churned")["monthly_fee"].mean()\nfee',
            "Those who left paid {fee[True]:.2f} on average, those who stayed {fee[False]:.2f}.",
            'fee = customers.groupby("churned")["monthly_fee"].max()\nfee',
        ),
        "plot_by_calls": (
            'customers.groupby("support_calls")["churned"].mean().plot.bar(ylabel="churn rate")',
            "Here it is.",
            'customers.groupby("support_calls")["churned"].sum().plot.bar(ylabel="churn rate")',
        ),
        "now_by_contract": (
            '(customers.groupby("contract")["churned"].mean() * 100).round(1)',
            "Above, in per cent.",
            'customers["churned"].mean()',
        ),
        "as_a_bar_chart": (
            'customers.groupby("contract")["churned"].mean().plot.barh()',
            "Here it is.",
            'customers.groupby("contract")["tenure_months"].mean().plot.barh()',
        ),
        "and_two_years": (
            'count = (customers["contract"] == "two years").sum()\ncount',
            "There are {count}.",
            'count = (customers["contract"] != "two years").sum()\ncount',
        ),
        "and_who_stayed": (
            'calls = customers.query("not churned")["support_calls"].mean()\ncalls',
            "It is {calls:.2f}.",
            'calls = customers.query("churned")["support_calls"].mean()\ncalls',
        ),
        "sort_the_same_cell": (
            'customers.groupby("contract")["tenure_months"].mean().sort_values(ascending=False)',
            "Sorted.",
            'customers.groupby("contract")["tenure_months"].mean().sort_values()',
        ),
    },
    PENGUINS: {
        "missing_values": ("penguins[penguins.isna().any(axis=1)]", "Above.", "penguins.isna().sum()"),
        "mass_by_sex": (
            'mass = penguins.groupby(["species", "sex"])["body_mass_g"].mean().unstack()\n'
            'mass.plot.bar(ylabel="body mass (g)")',
            "They differ most in Gentoo.",
            'mass = penguins.groupby("species")["body_mass_g"].mean()\nmass.plot.bar(ylabel="body mass (g)")',
        ),
        "split_by_sex": (
            'penguins.groupby(["species", "sex"])["flipper_length_mm"].mean()',
            "Above.",
            'penguins.groupby("species")["flipper_length_mm"].mean()',
        ),
        "colour_by_species": (
            'for species, group in penguins.groupby("species"):\n'
            '    plt.scatter(group["body_mass_g"], group["flipper_length_mm"], label=species)\n'
            'plt.xlabel("body mass (g)")\nplt.ylabel("flipper length (mm)")\nplt.show()',
            "Above.",
            'penguins.plot.scatter("body_mass_g", "flipper_length_mm")',
        ),
    },
}


@pytest.fixture(scope="module", params=[WELCOME, PENGUINS], ids=lambda path: path.stem)
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """An example notebook that has run, with all of the cells at its end, right and wrong, and what is said."""
    notebook = nbformat.read(request.param, as_version=4)
    for identity, (right, said, wrong) in WORK[request.param].items():
        for kind, source in (("right", right), ("wrong", wrong)):
            notebook.cells.append(nbformat.v4.new_code_cell(source, id=f"{identity}-{kind}"))
            notebook.cells.append(nbformat.v4.new_code_cell(f"print(f{said!r})", id=f"{identity}-{kind}-said"))
    folder = tmp_path_factory.mktemp("notebook")
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    return request.param, notebook


def judged(ran: tuple[Path, Any], identity: str, kind: str) -> bool:
    path, notebook = ran
    cells = {cell.id: dict(cell) for cell in notebook.cells}
    own = [dict(cell) for cell in notebook.cells[: len(nbformat.read(path, as_version=4).cells)]]
    name = f"{identity}-{kind}"
    said = cells[f"{name}-said"]["outputs"][0]["text"]
    task = TASKS[identity]
    turn = Turn("", said, cells=[*own, cells[name]], touched=frozenset({name}))
    return task.judge([turn] * len(task.messages)).right


@pytest.mark.timeout(600)
def test_correct_work_passes_and_near_miss_fails(ran: tuple[Path, Any]) -> None:
    work = list(WORK[ran[0]])
    assert [identity for identity in work if not judged(ran, identity, "right")] == []
    assert [identity for identity in work if judged(ran, identity, "wrong")] == []


@pytest.mark.timeout(600)
@pytest.mark.parametrize("ran", [WELCOME], indirect=True, ids=["welcome"])
def test_cell_to_be_sorted_is_not_a_second_cell(ran: tuple[Path, Any]) -> None:
    cells = {cell.id: dict(cell) for cell in ran[1].cells}
    own = [dict(cell) for cell in ran[1].cells[: len(nbformat.read(WELCOME, as_version=4).cells)]]
    name = "sort_the_same_cell-right"
    task = TASKS["sort_the_same_cell"]
    turn = Turn("", "", cells=[*own, cells["sort_the_same_cell-wrong"], cells[name]], touched=frozenset({name}))
    assert "no more than" in task.judge([turn, turn]).missing
