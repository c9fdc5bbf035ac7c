"""One-line reminders of what small models get wrong about the libraries, shown if the request is about it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from onyx_jupyter.cell_mode.named_columns import AskedGroups, asked_groups
from onyx_jupyter.cell_mode.notebook_facts import Frame, NotebookFacts
from onyx_jupyter.cell_mode.plots import wants_plot

_GROUPED = re.compile(
    r"\b(?:rates?|shares?|means?|averages?|medians?|totals?|sums?|counts?|numbers?|plot|chart|draw)\b"
    r"[^.?!\n]{0,60}\b(?:by|per(?! (?:capita|cent|se)\b)|for each|of each|across)\b"
    r"|\b(?:now|and|split|broken down|grouped?) (?:it |that |them )?(?:by|per|for each)\b",
    re.IGNORECASE,
)
_RECIPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"(?i)\bwhy\b|(?:most|least) (?:often|likely)|\bdepends? on|\bdrivers?\b|\bpredict(?:s|ors?)\b"),
        "Do it like this, for every column, so that what {y} goes along with is seen:\n```python\n"
        "for c in {df}.columns.drop({y}):\n"
        "    groups = {df}[c] if {df}[c].nunique() < 10 else pd.cut({df}[c], 4)\n"
        "    print({df}.groupby(groups)[{y}].mean().sort_values(ascending=False))\n```",
    ),
    (
        re.compile(
            r"(?i)\bwhich\b.*\b(?:longest|shortest|highest|lowest|largest|smallest|heaviest|lightest|oldest|youngest"
            r"|most|least|best|worst)\b.*\baverage",
            re.S,
        ),
        "For the group with the highest mean: `means = {df}.groupby({g})[{x}].mean()`, then print `means.idxmax()` "
        "and `means.max()`.",
    ),
    (
        re.compile(r"(?i)\bagainst\b|\bscatter\b|\bcolou?r\b.*\bby\b"),
        "For points: `plt.scatter({df}[x], {df}[y])`; coloured by a column g: "
        "`for name, rows in {df}.groupby(g): plt.scatter(rows[x], rows[y], label=name)`. Name both axes.",
    ),
    (
        re.compile(r"(?i)\bhow many\b"),
        "To count rows: `({df}[c] == value).sum()`, or `{df}[c].value_counts()`.",
    ),
    (
        re.compile(r"(?i)\b(?:which|list|show|rows?)\b[^.?!\n]*\bmissing\b"),
        "Rows with missing values: `{df}[{df}.isna().any(axis=1)]`; how many in each column: `{df}.isna().sum()`.",
    ),
    (
        re.compile(r"(?i)\bdiffers? (?:the )?(?:most|least)\b|\b(?:largest|biggest|greatest|smallest) difference\b"),
        "For where two groups differ most: `t = {df}.groupby([{g}, {h}])[{x}].mean().unstack()`, then print "
        "`(t.max(axis=1) - t.min(axis=1)).idxmax()`.",
    ),
    (
        re.compile(r"(?i)(?=.*correlat)(?=.*(?:p[- ]?value|significan|two-tailed|scipy|pearsonr))", re.S),
        "For a p-value: `from scipy.stats import pearsonr`, then `r, p = pearsonr(x, y)` on rows with both values.",
    ),
    (
        re.compile(r"(?i)iqr\b|interquartile", re.S),
        "By the IQR rule: `q1, q3 = x.quantile(0.25), x.quantile(0.75)`, then keep "
        "`x.between(q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1))`.",
    ),
)


def recipes_for(request: str, facts: NotebookFacts) -> str:
    """The lines that the request needs, with the names of its table and columns; most requests need none.

    An uncertain column is shown as a letter: the smallest models copy those, so they are few.
    """
    frame = facts.frames[0] if facts.frames else Frame("df", ())
    yes_no = [column.name for column in frame.columns if column.dtype == "bool"]
    asked = asked_groups(request, frame)
    g, h, *_ = [*map(repr, asked.groups), *"gh"[len(asked.groups) :], "h"]
    names = {
        "{df}": frame.name,
        "{y}": repr(yes_no[0]) if len(yes_no) == 1 else "y",
        "{g}": g,
        "{h}": h,
        "{x}": repr(asked.value) if asked.value else "x",
    }
    lines = [_with(names, line) for pattern, line in _RECIPES if pattern.search(request)]
    if _GROUPED.search(request):
        lines.append(_by_groups(frame.name, asked, plotted=wants_plot(request)))
    if wants_plot(request):
        lines.append("Draw with pandas or matplotlib alone.")
    return "\n".join(lines)


def _with(names: Mapping[str, str], line: str) -> str:
    for placeholder, name in names.items():
        line = line.replace(placeholder, name)
    return line


def _by_groups(table: str, asked: AskedGroups, *, plotted: bool) -> str:
    """How values are computed and drawn by groups: with the columns' names, if they are certain."""
    drawn = ".plot.bar(ylabel=...)" if plotted else ""
    begins = "To plot by groups" if plotted else "By groups"
    if asked.groups and asked.value:
        by = repr(asked.groups[0]) if len(asked.groups) == 1 else repr([*asked.groups])
        side_by_side = ".unstack()" if plotted and len(asked.groups) > 1 else ""
        return f"{begins}: `{table}.groupby({by})[{asked.value!r}].mean(){side_by_side}{drawn}`"
    side_by_side = ".unstack()" if plotted else ""
    return (
        f"{begins}: `{table}.groupby(g)[x].mean(){drawn}`, by two columns "
        f"`{table}.groupby([g, h])[x].mean(){side_by_side}{drawn}`; a rate is the mean of a yes/no column."
    )
