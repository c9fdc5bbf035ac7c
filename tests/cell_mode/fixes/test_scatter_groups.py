"""Points that a column of texts colours."""

import pytest

from onyx_jupyter.cell_mode.fixes.scatter_groups import by_groups

REFUSED = "ValueError: 'c' argument must be a color, a sequence of colors, or a sequence of numbers, not 0  Adelie"


def test_they_are_drawn_group_by_group_with_a_legend_of_their_names() -> None:
    source = "plt.scatter(t['x'], t['Größe'], c=t['species'], alpha=0.5, cmap='viridis')\nplt.title('a')\nplt.show()"
    assert by_groups(source, REFUSED) == (
        "for name, rows in t.groupby('species'):\n"
        "    plt.scatter(rows['x'], rows['Größe'], alpha=0.5, label=name)\n"
        "plt.title('a')\nplt.legend()\nplt.show()"
    )


def test_a_legend_that_is_there_stays_the_only_one() -> None:
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
def test_in_doubt_it_stays(source: str) -> None:
    assert by_groups(source, REFUSED) == source


def test_another_error_changes_nothing() -> None:
    source = "plt.scatter(t['x'], t['y'], c=t['g'])"
    assert by_groups(source, "ValueError: x and y must be the same size") == source
