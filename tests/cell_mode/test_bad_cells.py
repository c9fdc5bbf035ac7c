"""What a model writes that is no cell, or only a part of one: never proposed, and said plainly in the end."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from onyx_jupyter.cell_mode.answers.output_text import quoted
from onyx_jupyter.cell_mode.cell_source import problem_in
from onyx_jupyter.cell_mode.notebook_facts import Column, Frame, NotebookFacts
from onyx_jupyter.cell_mode.plots import PLOT_IMPORT
from onyx_jupyter.messages import Message
from onyx_jupyter.protocols import ModelDone, ModelEvent, ModelRequest, TextDelta
from tests.cell_mode.test_model import FACTS, INSERTED, READ, TABLE, Scripted, asked, insert, step

MEAN = "print(df['fee'].mean())"


class CutOff(Scripted):
    """The first `times` answers end at the limit of tokens."""

    def __init__(self, *answers: str, times: int = 1) -> None:
        super().__init__(*answers)
        self._times = times

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.asked.append(request)
        yield TextDelta(self.answers.pop(0))
        yield ModelDone(finish_reason="length" if len(self.asked) <= self._times else "stop")


def test_cell_cut_off_by_token_limit_is_requested_again_even_if_its_start_could_run() -> None:
    model = CutOff("fees = df['fee']\nmean = fees.m", MEAN)
    said, call, _ = step(model, asked("What is the mean fee?"))
    assert (said, call) == ("", insert(f"{READ}\n{MEAN}"))
    assert len(model.asked) == 2


def test_if_every_try_is_cut_off_nothing_is_proposed_and_answer_says_why() -> None:
    model = CutOff(*["x = 1\nx = x"] * 3, times=3)
    said, call, _ = step(model, asked("What is the mean fee?"))
    assert call is None
    assert "too long" in said
    assert "x = 1" not in said


@pytest.mark.parametrize("fence", ["```python\n", "Here it is:\n```\n"])
def test_cut_off_text_after_complete_block_is_ignored(fence: str) -> None:
    model = CutOff(f"{fence}{MEAN}\n```\nThis cell computes the mean of")
    assert step(model, asked("What is the mean fee?"))[1] == insert(f"{READ}\n{MEAN}")


def test_first_of_two_blocks_is_the_cell() -> None:
    model = Scripted(f"```python\n{MEAN}\n```\nTo save it as well:\n```python\ndf.to_csv('x.csv')\n```")
    said, call, _ = step(model, asked("What is the mean fee?"))
    assert (said, call) == ("", insert(f"{READ}\n{MEAN}"))


def test_shell_script_after_loading_lines_is_not_a_runnable_cell() -> None:
    assert "SyntaxError" in (problem_in(f"{READ}\n%%bash\nls") or "")
    assert problem_in("text = '''\n%%bash\n'''") is None
    model = Scripted("%%bash\nls", MEAN)
    assert step(model, asked("What is the mean fee?"))[1] == insert(f"{READ}\n{MEAN}")


def test_very_long_line_appears_below_its_cell_and_not_in_chat() -> None:
    output = "x" * 12_000
    assert quoted(output) == ""
    said, _, _ = step(Scripted("Many letters."), asked("print it", (insert("x"), f"{INSERTED}{output}", "ok")))
    assert said == "Many letters."
    said, _, _ = step(Scripted("9", "8"), asked("print it", (insert("x"), f"{INSERTED}{output}", "ok")))
    assert said == "Done: what came out stands below the cell."


def test_plot_missing_from_first_cell_is_requested_once_more() -> None:
    drawn = "df['fee'].plot.hist()"
    model = Scripted(MEAN, drawn)
    _, call, _ = step(model, asked("Plot the fees"))
    assert call == insert(f"{READ}\n{PLOT_IMPORT}\n{drawn}")
    assert "draws the plot" in model.asked[0].messages[0].content
    model = Scripted(MEAN, MEAN)
    assert step(model, asked("Plot the fees"))[1] == insert(f"{READ}\n{PLOT_IMPORT}\n{MEAN}")


def test_package_missing_from_kernel_is_not_proposed() -> None:
    drawn = "df['fee'].plot.hist()"
    model = Scripted("import seaborn as sns\nsns.histplot(df['fee'])", drawn)
    lacking = replace(FACTS, lacking=frozenset(["seaborn"]))
    assert step(model, asked("Plot the fees"), lacking)[1] == insert(f"{READ}\n{PLOT_IMPORT}\n{drawn}")


@pytest.mark.parametrize("request_text", ["Plot the fees with seaborn", "Plot the fees"])
def test_missing_package_is_proposed_if_requested_or_repeated_three_times(request_text: str) -> None:
    liked = "import seaborn as sns\nsns.histplot(df['fee'])"
    model = Scripted(*[liked] * (1 if "seaborn" in request_text else 3))
    lacking = replace(FACTS, lacking=frozenset(["seaborn"]))
    assert step(model, asked(request_text), lacking)[1] == insert(f"{READ}\n{PLOT_IMPORT}\n{liked}")


def test_made_up_data_is_never_proposed_for_existing_data() -> None:
    made_up = "import numpy as np\nprint('mean fee', np.random.uniform(15, 119, 1200).mean())"
    kernel = replace(FACTS, frames=(replace(TABLE, read=""),))
    said, call, _ = step(Scripted(made_up, made_up, made_up), asked("What is the mean fee?"), kernel)
    assert (call, "could not write" in said) == (None, True)
    _, call, _ = step(Scripted(made_up, made_up, "print(df['fee'].mean())"), asked("What is the mean fee?"), kernel)
    assert call == insert("print(df['fee'].mean())")
    bell = "import numpy as np\nprint(np.random.normal(size=9))"
    _, call, _ = step(Scripted(bell, bell, bell), asked("Which values does a standard normal give?"), kernel)
    assert call == insert(bell)


def test_text_cut_off_by_token_limit_says_so() -> None:
    said, _, _ = step(CutOff("It reads a table and"), asked("What does this notebook do?"))
    assert said.startswith("It reads a table and …")
    assert "ask for the rest" in said
    said, _, _ = step(Scripted("It reads a table."), asked("What does this notebook do?"))
    assert said == "It reads a table."


def test_answer_from_truncated_output_ends_with_marker() -> None:
    output = "\n".join(f"{name} 1" for name in "abc")
    said, _, _ = step(CutOff("There are a, b and"), asked("What is there?", (insert("x"), f"{INSERTED}{output}", "ok")))
    assert said.startswith("There are a, b and …\n\n")


def test_cell_of_previous_question_does_not_answer_the_next() -> None:
    before = [
        *asked("What is the mean fee?", (insert(f"{READ}\n{MEAN}"), f"{INSERTED}62.76", "ok")),
        Message("assistant", "It is 62.76."),
    ]
    by_contract = "print(df.groupby('contract').fee.mean())"
    model = Scripted(MEAN, by_contract)
    assert step(model, [*before, Message("user", "now by contract")])[1] == insert(f"{READ}\n{by_contract}")
    first, second = (request.messages[0].content for request in model.asked)
    assert "The cell to change:" not in first
    assert f"The cell to change:\n```python\n{READ}\n{MEAN}" in second
    model = Scripted(MEAN)
    assert step(model, [*before, Message("user", "What is the mean fee?")])[1] == insert(f"{READ}\n{MEAN}")


def test_answer_hard_coded_in_cell_is_requested_again() -> None:
    model = Scripted('print("@mean[62.76]")', MEAN)
    assert step(model, asked("What is the mean fee?"))[1] == insert(f"{READ}\n{MEAN}")
    assert len(model.asked) == 2


def test_cell_replacing_table_with_made_up_data_is_requested_again() -> None:
    made_up = "fees = pd.DataFrame({'fee': [1, 2]})\nprint(fees['fee'].mean())"
    mean = "print(fees['fee'].mean())"
    facts = NotebookFacts("a.ipynb", frames=(Frame("fees", (Column("fee", "float64"),), 7),))
    model = Scripted(made_up, mean)
    assert step(model, asked("What is the mean fee?"), facts)[1] == insert(mean)
    assert len(model.asked) == 2


def test_repair_identical_to_failed_cell_is_requested_at_higher_temperature() -> None:
    failed = (insert(f"{READ}\nboom"), f"{INSERTED}ValueError: no", "failed")
    model = Scripted("boom", "boom", MEAN)
    assert step(model, asked("What is the mean fee?", failed))[1] is not None
    first, second, _ = (request.temperature or 0 for request in model.asked)
    assert second > first > 0.5


@pytest.mark.parametrize(
    ("request_text", "written", "proposed"),
    [
        ("How many fees are above 9?", "df['fee'] > 9", "(df['fee'] > 9).sum()"),
        ("What is the mean fee?", "@mean[x] = df['fee'].mean()\nprint(@mean)", "mean = df['fee'].mean()\nprint(mean)"),
        ("What is the mean fee?", "m = df['fee'].mean()\nprint('{m}')", "m = df['fee'].mean()\nprint(f'{m}')"),
        (
            "Plot the mean fee by contract",
            "plt.bar(df['contract'], df['fee'].mean())",
            f"{PLOT_IMPORT}\nby_group = df.groupby('contract')['fee'].mean()\nplt.bar(by_group.index, by_group)",
        ),
    ],
)
def test_automatic_fixes_apply_before_cell_is_shown(request_text: str, written: str, proposed: str) -> None:
    assert step(Scripted(written), asked(request_text))[1] == insert(f"{READ}\n{proposed}")
