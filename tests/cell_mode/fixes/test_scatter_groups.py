"""Points that a column of texts colours."""

import pytest

from onyx_jupyter.cell_mode.fixes.scatter_groups import by_groups

REFUSED = "ValueError: 'c' argument must be a color, a sequence of colors, or a sequence of numbers, not 0  Adelie"


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
