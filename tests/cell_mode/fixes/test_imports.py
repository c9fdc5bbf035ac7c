"""What a cell uses and has forgotten to import is added, and nothing of the person's is covered by it."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.cell_mode.fixes.imports import bound_names, missing_imports, uses_module


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
