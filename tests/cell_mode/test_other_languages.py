"""Cell mode with a kernel that speaks no Python: its fence, and nothing that only Python has."""

from dataclasses import replace

from onyx_jupyter.cell_mode.notebook_facts import CellFact, Column, Frame, NotebookFacts
from onyx_jupyter.messages import Message
from tests.cell_mode.test_model import INSERTED, Scripted, asked, insert, step

TABLE = Frame("fees.csv", (Column("monthly fee", "float64"),), 1200, "", "fees.csv")
CELLS = (CellFact("c0", 1, "code", "fees <- read.csv('fees.csv')", has_run=True),)
IN_R = NotebookFacts("a.ipynb", "r", CELLS, (TABLE,), files=("fees.csv",))


def test_cell_is_requested_and_accepted_in_kernel_language() -> None:
    model = Scripted("```r\nmean(fees$monthly_fee)\n```")
    _, call, _ = step(model, asked("What is the mean monthly fee?"), IN_R)
    assert call is not None
    assert call.arguments["source"] == "mean(fees$monthly_fee)"  # neither parsed as Python nor mended
    assert model.asked[0].guidance is not None
    assert model.asked[0].guidance.begun == "```r\n"
    assert "python" not in model.prompt.lower()
    assert "```r\nfees <- read.csv('fees.csv')\n```" in model.prompt
    assert "'monthly fee': float64" in model.prompt


def test_block_in_any_language_is_the_cell() -> None:
    for language, fence in (("c++17", "c++"), ("bash", "sh"), ("julia", "julia-1.10"), ("r", "{r}")):
        model = Scripted(f"```{fence}\nx\n```\nThat is all.")
        _, call, _ = step(model, asked("compute x"), replace(IN_R, language=language, frames=()))
        assert call is not None
        assert call.arguments["source"] == "x"


def test_failed_cell_is_repaired_from_kernel_error_without_python_hints() -> None:
    model = Scripted("mean(fees[[1]])")
    failed = f"{INSERTED}stderr:\nError in mean(fee) : object 'fee' not found\nKeyError: 'fee'"
    _, call, _ = step(model, asked("What is the mean fee?", (insert("mean(fee)"), failed, "failed")), IN_R)
    assert call is not None
    assert "A cell for it failed: KeyError: 'fee'\nWrite the whole corrected cell, as one ```r block" in model.prompt
    assert "```r\nmean(fee)\n```" in model.prompt
    assert "column" not in model.prompt.partition("A cell for it failed")[2]


def test_previous_exchanges_use_the_same_language() -> None:
    model = Scripted("median(fees[[1]])")
    before = [*asked("the mean?", (insert("mean(fees[[1]])"), f"{INSERTED}62", "ok")), Message("assistant", "62")]
    step(model, [*before, Message("user", "and the median of the monthly fee")], IN_R)
    assert "Its cell:\n```r\nmean(fees[[1]])\n```" in model.prompt
