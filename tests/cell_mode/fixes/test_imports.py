"""A cell gets the imports that it lacks, over nothing of the person's, and loses unused ones of missing packages."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.cell_mode.fixes.automatic_fixes import fix_cell
from onyx_jupyter.cell_mode.fixes.imports import bound_names, missing_imports, uses_module, without_unused_imports
from onyx_jupyter.cell_mode.notebook_facts import NotebookFacts

DRAWN = "df['fee'].plot.hist()"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("r, p = pearsonr(x, y)", ["from scipy.stats import pearsonr"]),
        ("np.mean(x) + np.std(x)", ["import numpy as np"]),
        (
            "model = LinearRegression()\nplt.plot(x)",
            ["from sklearn.linear_model import LinearRegression", "import matplotlib.pyplot as plt"],
        ),
        ("import numpy as np\nnp.mean(x)", []),
        ("from scipy.stats import *\npearsonr(x, y)", []),
        ("def skew(x): return 0\nskew(x)", []),
        ("[re for re in x]", []),
        ("lambda stats: stats.mean()", []),
        ("unknown(x)", []),
        ("print(json", []),
        ("%matplotlib inline\nnp.mean(x)", []),
    ],
)
def test_only_unambiguous_names_are_imported(source: str, lines: list[str]) -> None:
    assert list(missing_imports(source, [])) == lines


def test_kernel_variable_is_not_shadowed() -> None:
    assert missing_imports("stats.loc['mean']", ["stats"]) == ()


def test_names_used_in_source_are_found() -> None:
    source = "import os.path as p, json\nx, *y = 1, 2\ndef f(a): pass\nfor i in x: pass\ntry: pass\nexcept E as e: pass"
    assert bound_names(source) == {"p", "json", "x", "y", "f", "a", "i", "e"}


@given(st.text(max_size=200))
def test_any_text_is_accepted(source: str) -> None:
    for line in missing_imports(source, []):
        ast.parse(line)


@pytest.mark.parametrize(
    ("source", "uses"),
    [
        ("import seaborn as sns", True),
        ("from seaborn.objects import Plot", True),
        ("sns.barplot(x)", True),
        ("plt.bar(x)", False),
        ("import seaborn as", False),
    ],
)
def test_module_is_used_by_import_or_conventional_alias(source: str, uses: bool) -> None:
    assert uses_module(source, ("seaborn",)) == uses


@pytest.mark.parametrize(
    "line",
    [
        "import seaborn as sns",
        "import seaborn",
        "from seaborn import (\n    histplot,\n    kdeplot,\n)",
        "import seaborn as sns  # for the colours",
    ],
)
def test_unused_import_is_removed(line: str) -> None:
    source = f"import matplotlib.pyplot as plt\n{line}\n{DRAWN}"
    assert without_unused_imports(source, ["seaborn"]) == f"import matplotlib.pyplot as plt\n{DRAWN}"


@pytest.mark.parametrize(
    "source",
    [
        "import seaborn as sns\nsns.set_theme()",
        "from seaborn import histplot\nhistplot(df)",
        "from seaborn import *\nhistplot(df)",
        f"import seaborn as sns, numpy as np\n{DRAWN}",
        f"import seaborn as sns; {DRAWN}",
        f"import plotly.express as px\n{DRAWN}",
        f"try:\n    import seaborn\nexcept ImportError:\n    pass\n{DRAWN}",
        "import seaborn as sns\nthis is no Python",
    ],
)
def test_used_or_possibly_used_import_stays(source: str) -> None:
    assert without_unused_imports(source, ["seaborn"]) == source


def test_cell_that_failed_on_unused_import_is_fixed() -> None:
    source, error = f"import wordcloud\n{DRAWN}", "ModuleNotFoundError: No module named 'wordcloud'"
    assert fix_cell(source, error, NotebookFacts()) == DRAWN
    assert fix_cell("import wordcloud\nwordcloud.WordCloud()", error, NotebookFacts()) is None
