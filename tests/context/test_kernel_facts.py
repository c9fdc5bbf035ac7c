"""The kernel facts for cell mode: the relevant table first, nothing misleading."""

import asyncio
from collections.abc import Sequence
from typing import Any

from onyx_jupyter.context import kernel_facts as module
from onyx_jupyter.context.kernel_facts import kernel_facts, missing_common_packages
from onyx_jupyter.errors import NotebookError
from onyx_jupyter.protocols import Inspection, InspectionTable, KernelVariables, Variable

CUSTOMERS = Variable("customers", "frame", "pandas.DataFrame", "1,200 × 3: contract str, churned bool, calls int64")
RATES = Variable("churn_by_tenure", "frame", "pandas.DataFrame", "4 × 1: churn_rate float64")
GROUPS = Variable("tenure_group", "frame", "pandas.Series", "1,200 of category")
AXES = Variable("axes", "object", "matplotlib.Axes", "fields _stale, stale_callback")
LIMIT = Variable("limit", "value", "int", "12")
MODEL = Variable("model", "object", "sklearn.LogisticRegression", "fields C, penalty")
ROWS = (
    ("contract", "str", "none", "3 distinct, most monthly (666), one year (292), two years (242)"),
    ("churned", "bool", "none", "true 274 times"),
    ("calls", "int64", "2 (0.2 %)", "min 0, quartiles 1 | 1 | 2, max 6, mean 1.3, std 1.1"),
)


class Kernels:
    """A kernel that holds these variables."""

    def __init__(self, *variables: Variable, index: str = "0 to 1199") -> None:
        self._variables = variables
        self._index = index
        self.inspected: list[str] = []

    async def variables(self, path: str, **_: Any) -> KernelVariables:
        return KernelVariables(self._variables, {}, 0, 0, 0)

    async def inspect(self, path: str, name: str) -> Inspection:
        self.inspected.append(name)
        table = InspectionTable("columns", ("column", "dtype", "nulls", "statistics"), ROWS)
        return Inspection("pandas.DataFrame", "frame", "", (("index", self._index),), (table,))


def facts(kernels: Any, request: str):
    return asyncio.run(kernel_facts(kernels, "a.ipynb", request))


def test_only_table_with_mentioned_columns_is_described() -> None:
    kernels = Kernels(RATES, GROUPS, CUSTOMERS, AXES, LIMIT, MODEL)
    frames, others = facts(kernels, "Add a cell with the churn by contract type.")
    assert [frame.name for frame in frames] == kernels.inspected == ["customers"]
    assert others == ("limit (int): 12", "model (sklearn.LogisticRegression)")


def test_named_tables_are_described_too() -> None:
    frames, others = facts(Kernels(RATES, GROUPS, CUSTOMERS), "join customers with churn_by_tenure by tenure_group")
    assert {frame.name for frame in frames} == {"customers", "churn_by_tenure"}
    assert others == ("tenure_group (pandas.Series): 1,200 of category",)


def test_longest_of_equally_matching_tables_is_chosen() -> None:
    part = Variable("part", "frame", "pandas.DataFrame", CUSTOMERS.summary.replace("1,200", "124"))
    assert [frame.name for frame in facts(Kernels(part, CUSTOMERS), "the mean of calls")[0]] == ["customers"]


def test_columns_are_described_with_what_code_needs() -> None:
    ((frame,), _) = facts(Kernels(CUSTOMERS, index="category named tenure, 1 to 4"), "calls")
    assert [column.about for column in frame.columns] == [
        "3 values 'monthly' (666), 'one year' (292), 'two years' (242)",
        "true 274 times, its mean() is their share",
        "0 to 6, 2 (0.2 %) missing",
    ]
    assert (frame.rows, frame.index) == (1200, "category named tenure, 1 to 4")


def test_default_index_is_not_described() -> None:
    for index in ("0 to 343", "0, 2 apart", "5 to 9"):
        assert facts(Kernels(CUSTOMERS, index=index), "calls")[0][0].index == ""


def test_slow_table_does_not_affect_others(monkeypatch) -> None:
    monkeypatch.setattr(module, "TIMEOUT_S", 0.05)

    class Slow(Kernels):
        async def inspect(self, path: str, name: str) -> Inspection:
            if name == "customers":
                await asyncio.sleep(9)
            return await super().inspect(path, name)

    frames, others = facts(Slow(RATES, CUSTOMERS, LIMIT), "churn_by_tenure beside customers")
    assert [frame.name for frame in frames] == []
    assert others[0].startswith("churn_by_tenure") or others[0].startswith("customers")
    assert "limit (int): 12" in others


def test_unavailable_kernel_yields_no_facts() -> None:
    class Dead(Kernels):
        async def variables(self, path: str, **_: Any) -> KernelVariables:
            raise NotebookError("kernel_dead", "It died.")

    assert facts(Dead(), "calls") == ((), ())


def test_packages_are_checked_in_kernel_and_assumed_present_if_unknown() -> None:
    class Python:
        async def lacking(self, path: str, packages: Sequence[str]) -> frozenset[str]:
            return frozenset(packages) & {"seaborn", "polars"}

    class Busy:
        async def lacking(self, path: str, packages: Sequence[str]) -> frozenset[str]:
            raise NotebookError("kernel_busy", "it is busy")

    assert asyncio.run(missing_common_packages(Python(), "a.ipynb")) == {"seaborn", "polars"}  # type: ignore[arg-type]
    assert asyncio.run(missing_common_packages(Busy(), "a.ipynb")) == frozenset()  # type: ignore[arg-type]
