"""Texts that a cell prints with the name of a value in the place of the value."""

import pytest

from onyx_jupyter.cell_mode.fixes.imports import parsed
from onyx_jupyter.cell_mode.fixes.printed_names import with_values


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('mean = 2\nprint("Mean: {mean}")', 'mean = 2\nprint(f"Mean: {mean}")'),
        ("mean = 2\nprint('Mean: {mean:.2f}')", "mean = 2\nprint(f'Mean: {mean:.2f}')"),
        ("mean = 2\nprint('@mean[mean]')", "mean = 2\nprint(f'@mean[{mean}]')"),
        ("m = 2\nprint('@mean[m]', '@mean[]')", "m = 2\nprint(f'@mean[{m}]', '@mean[]')"),
        ("mean = 2\nprint('@mean[value]')", "mean = 2\nprint(f'@mean[{mean}]')"),
        ("mean = 2\nprint('@mean[]')\nprint('{mean}')", "mean = 2\nprint(f'@mean[{mean}]')\nprint(f'{mean}')"),
        ("mean = 2\nprint(f'@mean[mean_value]')", "mean = 2\nprint(f'@mean[{mean}]')"),
        ("mean_fee = 2\nprint(f'@mean[x]@sd[sd]')", "mean_fee = 2\nprint(f'@mean[{mean_fee}]@sd[sd]')"),
        ("print('{fees.mean()}')", "print(f'{fees.mean()}')"),
    ],
)
def test_value_is_printed_instead_of_its_name(written: str, meant: str) -> None:
    assert with_values(written, {"fees"}) == meant
    assert parsed(meant).body


@pytest.mark.parametrize(
    "source",
    [
        "mean = 2\nprint(f'{mean}')",
        "mean = 2\nprint('{mean}'.format(mean=mean))",
        "mean = 2\nprint('{} {mean}')",
        "mean = 2\nprint('{other}')",
        "mean = 2\nprint('{mean} {other}')",
        "mean = 2\nprint('{\"mean\": 1}')",
        "mean = 2\nprint(r'{mean}', b'{mean}')",
        "mean = 2\nprint('{{mean}}')",
        "mean = 2\nprint('@mean[2]')",
        "print('@mean[value]')",
        "print(f'@mean[value]')",
        "mean_a = mean_b = 2\nprint('@mean[value]')",
        "mean = 2\nprint(f'@mean[{mean}], @sd[mean]')",
        "mean = 2\nlabel('{mean}')",
        "print('{mean'",
        "",
    ],
)
def test_other_prints_are_unchanged(source: str) -> None:
    assert with_values(source, {"fees"}) == source
