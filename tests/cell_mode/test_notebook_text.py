"""What a model is told of a notebook: the table that is meant, and no code that it would only copy."""

from onyx_jupyter.cell_mode.notebook_facts import CellFact, Column, Frame, NotebookFacts
from onyx_jupyter.cell_mode.notebook_text import for_code, for_words
from onyx_jupyter.cell_mode.prompts import before_cell
from onyx_jupyter.cell_mode.turn import AnsweredRequest, Turn

PENGUINS = Frame("penguins", (Column("species", "str"), Column("mass", "float64")), 344)
MAKES_FRAME = CellFact("a", 1, "code", "penguins = load_penguins()", has_run=True)
PLOTS = CellFact("b", 2, "code", "for species, length in penguins:\n    axes.scatter(length)", has_run=True)
DEFINES = CellFact("c", 3, "code", "def fit_line(x):\n    return x", has_run=True)
FACTS = NotebookFacts("a.ipynb", cells=(MAKES_FRAME, PLOTS, DEFINES), frames=(PENGUINS,))


def test_table_output_includes_header_and_first_rows() -> None:
    table = (
        "|  | fee | left |\n| --- | ---: | :--- |\n| 0 | 12.5 | True |\n| 1 | 99.0 | False |\n"
        + "| 2 | 1 | True |\n" * 30
    )
    text = for_words(NotebookFacts("a.ipynb", cells=(CellFact("a", 1, "code", "fees.head()", table),)))
    assert "Output: |  | fee | left |\n| 0 | 12.5 | True |\n| 1 | 99.0 | False |\n" in text
    assert len(text) < 250


def test_code_is_included_if_request_mentions_its_result() -> None:
    assert "def fit_line" in for_code(FACTS, "fit_line for each species")
    assert "scatter" not in for_code(FACTS, "fit_line for each species")


def test_code_is_included_if_request_mentions_code() -> None:
    assert "scatter" in for_code(FACTS, request="make the points of that plot red")
    assert "scatter" in for_code(FACTS, request="why does cell 2 take so long")


def test_other_code_is_left_out_if_table_is_known() -> None:
    text = for_code(FACTS, "plot the length by species")
    assert "scatter" not in text
    assert "load_penguins" not in text
    assert "All of that is in the kernel already: load no file." in text


def test_all_code_is_included_without_known_table_or_in_other_language() -> None:
    assert "load_penguins" in for_code(NotebookFacts("a.ipynb", cells=FACTS.cells), "the mean")
    assert "load_penguins" in for_code(NotebookFacts("a.ipynb", "r", FACTS.cells, (PENGUINS,)), "the mean")


def test_file_to_read_is_described_without_mentioning_kernel() -> None:
    of_file = Frame("df", (Column("fee", "int64"),), 2, "df = pd.read_csv('fees.csv')", "fees.csv")
    assert "in the kernel" not in for_code(NotebookFacts("a.ipynb", frames=(of_file,)), "the mean fee")


def test_table_comes_last_and_index_name_is_not_a_column() -> None:
    grouped = Frame("rates", (Column("rate", "float64"),), 4, index="category named tenure")
    text = for_code(NotebookFacts("a.ipynb", frames=(grouped,), variables=("limit (int): 3",)), "the highest rate")
    assert text.index("limit (int)") < text.index("`rates` is the table")
    assert "- its index, no column: category named tenure" in text


def test_code_mention_counts_in_request_not_in_earlier_cells() -> None:
    cell = CellFact("c1", 1, "code", "print(fees.mean())", has_run=True)
    facts = NotebookFacts("a.ipynb", cells=(cell,), frames=(Frame("fees", (Column("fee", "float64"),)),))
    assert "print(fees.mean())" not in for_code(facts, "# Show the plot", request="by contract")
    assert "print(fees.mean())" in for_code(facts, "", request="change that cell")
    assert "print(fees.mean())" not in for_code(facts, "", request="change that cell", shown=[cell.source])


def test_cell_of_previous_question_appears_once_in_prompt() -> None:
    facts = NotebookFacts("a.ipynb", cells=(PLOTS,), frames=(PENGUINS,))
    turn = Turn("make that plot red", "", (), (AnsweredRequest("plot it", PLOTS.source, "Done."),))
    assert before_cell(facts, turn).count(PLOTS.source) == 1


def test_cell_named_by_number_is_included_alone_and_longer() -> None:
    long = CellFact("d", 4, "code", "\n".join(f"x{n} = {n}" for n in range(90)), has_run=True)
    facts = NotebookFacts("a.ipynb", cells=(*FACTS.cells, long), frames=(PENGUINS,))
    text = for_words(facts, "Explain what cell 4 does.")
    assert "x89 = 89" in text
    assert "scatter" not in text
    assert "`penguins` is a table with 344 rows" in text
    assert "x89 = 89" not in for_words(facts, "Explain what cell 40 does.")
    assert "scatter" in for_words(facts, "Explain what cell 40 does.")


def test_code_is_left_out_for_names_defined_by_tried_cell() -> None:
    assert "def fit_line" not in for_code(FACTS, "the trend\n  fit_line = np.polyfit(x, y, 1)\nprint(fit_line)")
    assert "def fit_line" in for_code(FACTS, "the trend\nfit_line = cached(fit_line)")
    assert "def fit_line" in for_code(FACTS, "the trend\nif fit_line == other: pass")
