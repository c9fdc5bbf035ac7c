"""A conversation as cell mode reads it."""

import pytest

from onyx_jupyter.cell_mode.turn import turn_of
from onyx_jupyter.messages import Message


@pytest.mark.parametrize(
    ("along", "told"),
    [
        ("the notebook in front is a.ipynb", ""),
        ("notebook a.ipynb cell c-1; the notebook in front is a.ipynb; also open: b.ipynb, c.ipynb", ""),
        ("notebook b.ipynb; file x.csv; the notebook in front is a.ipynb", "notebook b.ipynb; file x.csv"),
        (
            "the notebook in front is a.ipynb\n\nfile x.txt:\nthe notebook in front is",
            "file x.txt:\nthe notebook in front is",
        ),
        ("file x.csv\n\nfile y.txt:\nhello", "file x.csv\n\nfile y.txt:\nhello"),
        ("", ""),
    ],
)
def test_current_notebook_appears_only_in_facts(along: str, told: str) -> None:
    assert turn_of([Message("user", "Look", context=along)]).context == told
