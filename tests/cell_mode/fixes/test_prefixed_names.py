"""Names that a cell writes with a sign, as a request's form or another language does."""

import pytest

from onyx_jupyter.cell_mode.cell_source import problem_in
from onyx_jupyter.cell_mode.fixes.prefixed_names import without_signs


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("@mean_2007[float] = round(m, 2)\nprint(@mean_2007)", "mean_2007 = round(m, 2)\nprint(mean_2007)"),
        ("@mean[] = 2\nprint(f'@mean[{@mean:.2f}]')", "mean = 2\nprint(f'@mean[{mean:.2f}]')"),
        ("@a[float], @b[x] = m, s\nprint(f'@a[{@a:.2f}], @b[{@b}]')", "a, b = m, s\nprint(f'@a[{a:.2f}], @b[{b}]')"),
        ("$total = 3\nprint(f'{$total}')", "total = 3\nprint(f'{total}')"),
        ("if ok:\n    @mean = 2\nprint(@mean, mean @ b)", "if ok:\n    mean = 2\nprint(mean, mean @ b)"),
    ],
)
def test_prefix_is_removed_from_name(written: str, meant: str) -> None:
    assert problem_in(written) is not None
    assert without_signs(written) == meant
    assert problem_in(meant) is None


@pytest.mark.parametrize(
    "source",
    [
        "@cache\ndef f(x): return x",
        "a @ b\nprint('@mean[2]')",
        "print('@mean = 2'",
        "x = (\n@mean = ",
        "%timeit f()\nx = 1",
        "",
    ],
)
def test_other_code_is_unchanged(source: str) -> None:
    assert without_signs(source) == source
