"""A question that ends in `?` is a question; every other line is read as IPython reads it."""

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from onyx_jupyter.magics.extension import Question


def transformed(cell: str) -> str:
    manager = TransformerManager()
    manager.token_transformers.append(Question)
    return manager.transform_cell(cell)


@pytest.mark.parametrize(
    "question",
    [
        "what is a list?",
        "why??",
        "is x (or y?",
        "what's up?",
        "is it a[0]?",
        'say "hm?',
        "how many are {len(x)}?",
        "3?",
    ],
)
def test_line_ending_in_question_mark_reaches_the_magic(question: str) -> None:
    assert transformed(f"%onyx {question}") == f"get_ipython().run_line_magic('onyx', {question!r})\n"
    assert transformed(f"x = 1\nif x:\n    %onyx {question}\ny = 2\n").splitlines() == [
        "x = 1",
        "if x:",
        f"    get_ipython().run_line_magic('onyx', {question!r})",
        "y = 2",
    ]


def test_cell_magic_keeps_question_marks() -> None:
    assert transformed("%%onyx --mode ask\nis this so?\n") == (
        "get_ipython().run_cell_magic('onyx', '--mode ask', 'is this so?\\n')\n"
    )


@pytest.mark.parametrize(
    "cell",
    ["%onyx?\n", "%onyxes what?\n", "%timeit x?\n", "x.y?\n", 's = """\n%onyx why?\n"""\n', "a % onyx\n", "onyx?\n"],
)
def test_other_lines_are_unchanged(cell: str) -> None:
    assert transformed(cell) == TransformerManager().transform_cell(cell)
