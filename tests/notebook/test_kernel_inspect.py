"""What is told of one variable, and that nothing of the user's is run to tell it."""

import pytest

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.protocols import Inspection
from tests.notebook.kernels import KernelPlace

FRAMES = """
import numpy as np, pandas as pd
frame = pd.DataFrame({
    "id": range(10),
    "price": [1.0, 2.0, None, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0],
    "city": ["Rome", "Oslo"] * 5,
    "when": pd.date_range("2024-01-01", periods=10),
    "sold": [True, False] * 5,
    "kind": pd.Categorical(["a", "b"] * 5),
    "left": pd.array([1, None] * 5, dtype="Int64"),
})
frame["mixed"] = [object(), [1], {"a": 1}, "x", None, 1, 2.5, (1,), b"b", range(3)]
"""


def rows(found: Inspection, title: str) -> dict[str, tuple[str, ...]]:
    (table,) = [table for table in found.tables if table.title == title]
    return {row[0]: row[1:] for row in table.rows}


def facts(found: Inspection) -> dict[str, str]:
    return dict(found.facts)


async def inspect(kernels: KernelPlace, code: str, name: str) -> Inspection:
    run = await kernels.run(code)
    assert run.status == "ok", run.outputs
    return await kernels.service.inspect("work.ipynb", name)


async def refused(kernels: KernelPlace, name: str) -> str:
    with pytest.raises(NotebookError) as caught:
        await kernels.service.inspect("work.ipynb", name)
    assert caught.value.code == "no_variable"
    return str(caught.value)


async def test_frame_has_schema_nulls_statistics_and_first_rows(kernels: KernelPlace) -> None:
    found = await inspect(kernels, FRAMES, "frame")
    assert facts(found)["shape"] == "10 rows × 8 columns"
    assert facts(found)["index"] == "0 to 9"
    schema = rows(found, "columns")
    assert schema["id"] == ("int64", "0", "min 0, quartiles 2.25 | 4.5 | 6.75, max 9, mean 4.5, std 3.02765")
    assert schema["price"][:2] == ("float64", "1 (10.0 %)")
    assert schema["price"][2].startswith("min 1, quartiles ")
    assert schema["city"][2] == "2 distinct, most Rome (5), Oslo (5)"
    assert schema["when"][2] == "from 2024-01-01 00:00:00 to 2024-01-10 00:00:00"
    assert schema["sold"][2] == "true 5 times"
    assert schema["kind"] == ("category", "0", "2 categories: a, b")
    assert schema["left"] == ("Int64", "5 (50.0 %)", "min 1, quartiles 1 | 1 | 1, max 1, mean 1, std 0")
    head = rows(found, "first 5 rows")
    assert list(head) == ["0", "1", "2", "3", "4"]
    assert head["2"][:3] == ("2", "nan", "Rome")
    assert head["0"][-1] == "<object>"


THINGS = (
    FRAMES
    + """
array = np.arange(6).reshape(2, 3)
data = {"list": [10, 20, 30]}
text = "one\\ntwo"
class Model:
    "Fits nothing."
    factor = 2
    def __init__(self): self.coef_ = np.zeros(3)
    def fit(self, data: list, *, steps: int = 3) -> "Model": "Fits."
    @property
    def score(self): raise SystemExit
class Slots:
    __slots__ = ("here", "gone")
def helper(a, /, b, c=[1, 2], *rest, **more): "Helps."
model, slots = Model(), Slots()
slots.here = 7
"""
)


# Path, then one fact of what it leads to.
LEADS = {
    "frame.price": ("length", "10"),
    'frame["price"]': ("length", "10"),
    "frame.shape": ("entries", "2"),
    "frame.index": ("index", "0 to 9"),
    "np.pi": ("value", "3.141592653589793"),
    "array": ("statistics", "min 0, max 5, mean 2.5, std 1.87083"),
    "array[1, 2]": ("value", "5"),
    "data['list'][1]": ("value", "20"),
    "data['list'][-1]": ("value", "30"),
    "model.coef_": ("shape", "3"),
    "Model.factor": ("value", "2"),
    "model.fit": ("signature", "fit(data: list, *, steps: int = 3) -> Model"),
    "helper": ("signature", "helper(a, /, b, c=[1, 2], *rest, **more)"),
    "slots.here": ("value", "7"),
    "text": ("lines", "2"),
}
RUNS_CODE = (
    "model.score",
    "helper()",
    "frame.head()",
    "data['list'][n]",
    "a + b",
    "x := 1",
    "model.__class__.__subclasses__()",
    "data['list'].__len__()",
    "(lambda: 1)",
    "f'{1}'",
)
LEADS_NOWHERE = (
    "",
    "data[",
    "nothing",
    "data['no']",
    "array[9, 9]",
    "model.nothing",
    "slots.gone",
    "a" + ".b" * 30,
    "(" * 500,
)


async def test_path_is_followed_without_running_code(kernels: KernelPlace) -> None:
    await kernels.run(THINGS)
    found = {name: facts(await kernels.service.inspect("work.ipynb", name)) for name in LEADS}
    assert {name: found[name].get(fact) for name, (fact, _) in LEADS.items()} == {n: v for n, (_, v) in LEADS.items()}
    for name in (*RUNS_CODE, *LEADS_NOWHERE):
        assert await refused(kernels, name)


async def test_classes_functions_and_modules_are_described_by_members(kernels: KernelPlace) -> None:
    await kernels.run(THINGS)
    service = kernels.service
    function = await service.inspect("work.ipynb", "helper")
    assert function.text == "Helps."
    cls = await service.inspect("work.ipynb", "Model")
    assert (facts(cls)["made by"], facts(cls)["methods"], cls.text) == ("Model()", "fit", "Fits nothing.")
    module = await service.inspect("work.ipynb", "pd")
    assert facts(module)["version"].count(".") == 2
    thing = await service.inspect("work.ipynb", "model")
    assert rows(thing, "fields")["coef_"] == ("numpy.ndarray", "3 float64")
    assert thing.notes == ("properties are not read, since that runs their code: score",)


HOSTILE = """
import pandas as pd, numpy as np, enum, collections
ran = []
def caught(name):
    def method(self, *args, **kwargs):
        ran.append(name)
        raise RuntimeError(name)
    return method
NAMES = (
    "__repr__ __str__ __len__ __iter__ __bool__ __eq__ __hash__ __getattr__ __getattribute__ __dir__ __format__"
    " __next__ __sizeof__ __contains__ __getitem__ __call__ __index__ __int__ __float__ __array__ __instancecheck__"
    " keys items values __reduce__ __get__ __copy__ __missing__"
).split()
body = {name: caught(name) for name in NAMES}
for name in ("shape", "dtype", "columns", "index", "__class__", "__doc__", "__module__", "__dict__"):
    body[name] = property(caught(name))
class Meta(type):
    __getattribute__ = caught("meta getattribute")
    __instancecheck__ = caught("meta instancecheck")
    __repr__ = caught("meta repr")
    __eq__ = caught("meta eq")
    __hash__ = type.__hash__
    __mro__ = property(caught("meta mro"))
Plain = type("Plain", (), dict(body))
Weird = Meta("Weird", (), {"a": 1})
plain, weird = Plain(), Weird()
odd_list = type("OddList", (list,), dict(body))([1, 2, 3])
odd_dict = type("OddDict", (dict,), dict(body))(); dict.__setitem__(odd_dict, "k", plain)
odd_str = type("OddStr", (str,), dict(body))("text")
odd_int = type("OddInt", (int,), dict(body))(5)
held = {"plain": plain, "list": [plain, weird], "class": Weird}
frame = pd.DataFrame({"things": [None] * 4}, dtype=object)
things = frame._mgr.blocks[0].values
things.flags.writeable = True
things[0, 0], things[0, 1] = plain, weird
sub = type("Sub", (pd.DataFrame,), {"columns": property(caught("columns")), "__len__": caught("len")})({"a": [1, 2]})
closed = type("Closed", (pd.DataFrame,), {"__getattribute__": caught("frame getattribute")})
closed = closed.__new__(closed)
array = things[0, :2]
def default(a=plain): pass
ran.clear()
"""


async def test_no_user_code_runs(kernels: KernelPlace) -> None:
    run = await kernels.run(HOSTILE)
    assert run.status == "ok", run.outputs
    found = await kernels.service.variables("work.ipynb", functions=True)
    told = {variable.name: variable.summary for variable in found.variables}
    assert told["odd_list"] == "3 entries: [1, 2, 3]"
    assert told["odd_int"] == "5"
    assert told["odd_str"] == "'text' (4 characters)"
    assert told["default"] == "default(a=<Plain>)"
    for name in told:
        assert (await kernels.service.inspect("work.ipynb", name)).type
    for name in ("held['plain']", "odd_list[0]", "odd_dict['k']", "frame.things", "Weird.a"):
        assert (await kernels.service.inspect("work.ipynb", name)).type
    for name in ("plain.a", "plain.shape", "weird.b", "odd_str.shape"):
        assert await refused(kernels, name)
    assert await kernels.value("ran") == "[]"


async def test_slow_inspection_ends_and_kernel_continues(kernels: KernelPlace) -> None:
    code = """
import pandas as pd
kept = pd.DataFrame.memory_usage
def forever(*args, **kwargs):
    while True:
        try:
            pass
        except Exception:
            pass
pd.DataFrame.memory_usage = forever
frame = pd.DataFrame({"a": [1]})
"""
    await kernels.run(code)
    with pytest.raises(NotebookError) as caught:
        await kernels.service.inspect("work.ipynb", "frame")
    assert caught.value.code == "too_slow"
    await kernels.run("pd.DataFrame.memory_usage = kept")
    assert (await kernels.service.inspect("work.ipynb", "frame")).summary == "1 × 1: a int64"


async def test_statistics_of_big_data_cover_all_of_it(kernels: KernelPlace) -> None:
    code = """
import numpy as np, pandas as pd
big = pd.DataFrame({"n": np.arange(1_500_000), "f": np.arange(1_500_000) / 2})
big.loc[1_499_999, "f"] = np.nan
values = np.arange(1_500_000, dtype="float32").reshape(3, -1).T
"""
    found = await inspect(kernels, code, "big")
    schema = rows(found, "columns")
    assert schema["n"][2].endswith("max 1,499,999, mean 750000, std 433013")
    assert schema["f"][1] == "1 (0.0 %)"
    assert any("quartiles are of 50,000 rows" in note for note in found.notes)
    array = await kernels.service.inspect("work.ipynb", "values")
    assert facts(array)["statistics"].startswith("min 0, max 1,499,999, mean 750000, std 433013")


async def test_arrow_tables_are_described_like_frames(kernels: KernelPlace) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not among the dependencies")
    code = "import pyarrow as pa, pyarrow.compute\ntable = pa.table({'a': [1, 2, None], 'b': ['x', 'y', 'x']})"
    found = await inspect(kernels, code, "table")
    assert facts(found)["shape"] == "3 rows × 2 columns"
    assert rows(found, "columns")["a"] == ("int64", "1 (33.3 %)", "min 1, max 2, mean 1.5")
    assert rows(found, "columns")["b"] == ("string", "0", "2 distinct, most x (2), y (1)")
    assert rows(found, "first 3 rows")["1"] == ("x",)
    assert (await kernels.service.inspect("work.ipynb", "table['b']")).summary == "3 of string"
