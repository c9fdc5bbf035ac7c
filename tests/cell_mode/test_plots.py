"""A plot that is wanted, and the figure on which it is drawn."""

import pytest

from onyx_jupyter.cell_mode.cell_source import opening_lines
from onyx_jupyter.cell_mode.notebook_facts import NotebookFacts
from onyx_jupyter.cell_mode.plots import PLOT_IMPORT, draw_on_current_figure, draws
from onyx_jupyter.cell_mode.prompts import write_cell
from onyx_jupyter.cell_mode.turn import Turn

FIGURE = "plt.figure(figsize=(10, 6))\n"


@pytest.mark.parametrize(
    "request_text",
    ["Plot the fees", "now as a bar chart", "a histogram of mass", "visualise it", "colour the points by sex"],
)
def test_plot_cell_starts_with_plot_imports(request_text: str) -> None:
    assert opening_lines(NotebookFacts(), request_text) == PLOT_IMPORT
    assert opening_lines(NotebookFacts(language="r"), request_text) == ""


def test_other_cells_do_not_start_with_plot_imports() -> None:
    assert opening_lines(NotebookFacts(), "the mean of the fees, plotting nothing") == ""


@pytest.mark.parametrize(
    ("drawn", "meant"),
    [
        ("df.plot()", "df.plot(ax=plt.gca())"),
        ("df['a'].plot(kind='bar')", "df['a'].plot(kind='bar', ax=plt.gca())"),
        (
            "t.groupby(['ä'])['b'].mean().unstack().plot.bar(ylabel='x')",
            "t.groupby(['ä'])['b'].mean().unstack().plot.bar(ylabel='x', ax=plt.gca())",
        ),
        ("df.plot(ax=other)", "df.plot(ax=other)"),
        ("plt.plot(x, y)", "plt.plot(x, y)"),
        ("axes[0].plot(x, y)", "axes[0].plot(x, y)"),
    ],
)
def test_table_is_drawn_on_existing_figure(drawn: str, meant: str) -> None:
    assert draw_on_current_figure(FIGURE + drawn) == FIGURE + meant


def test_without_existing_figure_table_creates_its_own() -> None:
    assert draw_on_current_figure("df.plot()") == "df.plot()"
    assert draw_on_current_figure("df.plot()\n" + FIGURE) == "df.plot()\n" + FIGURE


@pytest.mark.parametrize(
    "source",
    [
        "fees.plot()",
        "fees['fee'].hist()",
        "plt.bar(x, y)",
        "ax.set_title('a')",
        "sns.heatmap(t)",
        "fees.plot.bar(ylabel='fee')",
        "my_chart(fees)",
    ],
)
def test_code_that_may_draw(source: str) -> None:
    assert draws(source)


@pytest.mark.parametrize(
    "source", ["", "x =", "import matplotlib.pyplot as plt\nprint(fees.mean())", "print(len(fees))"]
)
def test_code_that_does_not_draw(source: str) -> None:
    assert not draws(source)


@pytest.mark.parametrize(
    ("request_text", "told"),
    [
        ("Plot the fees by contract", ("draws the plot, as", "print nothing beside it")),
        (
            "Plot body mass by sex, and tell me where they differ most.",
            ("draws the plot, and computes", "with its name"),
        ),
        ("Draw a scatter plot. Calculate the correlation.", ("draws the plot, and computes", "with its name")),
        ("What is the mean fee?", ("computes and prints what is needed", "with its name")),
    ],
)
def test_plot_and_other_parts_of_request_are_separated(request_text: str, told: tuple[str, ...]) -> None:
    prompt = write_cell(NotebookFacts("a.ipynb"), Turn(request_text, "", (), ()))
    assert [words for words in told if words not in prompt] == []
