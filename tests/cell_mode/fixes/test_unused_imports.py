"""What a cell imports and does not use is left out where it is not there, and nothing else is."""

import pytest

from onyx_jupyter.cell_mode.facts import NotebookFacts
from onyx_jupyter.cell_mode.fixes.automatic_fixes import fix_cell
from onyx_jupyter.cell_mode.fixes.unused_imports import without_unused_imports

DRAWN = "df['fee'].plot.hist()"


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
