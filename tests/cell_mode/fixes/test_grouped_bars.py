"""Bars of one height for every row."""

import pytest

from onyx_jupyter.cell_mode.fixes.grouped_bars import of_each_group


def test_overall_mean_becomes_mean_per_group() -> None:
    source = "plt.figure()\nplt.bar(t['größe'], t['churned'].mean(), color='skyblue')\nplt.show()"
    assert of_each_group(source, ()) == (
        "plt.figure()\nby_group = t.groupby('größe')['churned'].mean()\n"
        "plt.bar(by_group.index, by_group, color='skyblue')\nplt.show()"
    )


@pytest.mark.parametrize(
    "source",
    [
        "plt.bar(t['g'], t['x'])",
        "plt.bar(names, t['x'].mean())",
        "plt.bar(t['g'].unique(), t['x'].mean())",
        "plt.bar(t['g'], u['x'].mean())",
        "plt.bar(t['g'], t['x'].quantile(0.5))",
        "by_group = 1\nplt.bar(t['g'], t['x'].mean())",
        "plt.bar(t['g'])",
        "x =",
    ],
)
def test_other_bars_are_unchanged(source: str) -> None:
    assert of_each_group(source, ()) == source


def test_kernel_variable_is_not_overwritten() -> None:
    source = "plt.bar(t['g'], t['x'].mean())"
    assert of_each_group(source, ["by_group"]) == source
    assert of_each_group(source, ["other"]) != source
