"""Bars of one height for every row, and points that a column of texts colours."""

import pytest

from onyx_jupyter.cell_mode.fixes.plots_of_groups import by_groups, of_each_group

REFUSED = "ValueError: 'c' argument must be a color, a sequence of colors, or a sequence of numbers, not 0  Adelie"


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


def test_groups_are_drawn_one_by_one_with_legend() -> None:
    source = "plt.scatter(t['x'], t['Größe'], c=t['species'], alpha=0.5, cmap='viridis')\nplt.title('a')\nplt.show()"
    assert by_groups(source, REFUSED) == (
        "for name, rows in t.groupby('species'):\n"
        "    plt.scatter(rows['x'], rows['Größe'], alpha=0.5, label=name)\n"
        "plt.title('a')\nplt.legend()\nplt.show()"
    )


def test_existing_legend_is_not_duplicated() -> None:
    source = "ax.scatter(t['x'], t['y'], c=t['g'])\nax.legend()"
    assert by_groups(source, REFUSED) == (
        "for name, rows in t.groupby('g'):\n    ax.scatter(rows['x'], rows['y'], label=name)\nax.legend()"
    )
    assert by_groups("ax.scatter(t['x'], t['y'], c=t['g'])", REFUSED).endswith("label=name)\nax.legend()")


@pytest.mark.parametrize(
    "source",
    [
        "plt.scatter(x, y, c=t['g'])",
        "plt.scatter(t['x'], u['y'], c=t['g'])",
        "plt.scatter(t['x'], t['y'], c=colours)",
        "plt.scatter(t['x'], t['y'])",
        "points = plt.scatter(t['x'], t['y'], c=t['g'])",
        "x =",
    ],
)
def test_ambiguous_code_is_unchanged(source: str) -> None:
    assert by_groups(source, REFUSED) == source


def test_other_errors_change_nothing() -> None:
    source = "plt.scatter(t['x'], t['y'], c=t['g'])"
    assert by_groups(source, "ValueError: x and y must be the same size") == source
