"""Inspecting any kernel value terminates, stays short, and runs nothing."""

import json
import os
from types import SimpleNamespace
from typing import Any

import pandas as pd
from hypothesis import example, given
from hypothesis import strategies as st

from onyx_jupyter.notebook.kernel_probe.access import Look
from onyx_jupyter.notebook.kernel_probe.answer import answer
from onyx_jupyter.notebook.kernel_probe.paths import UnresolvablePath, follow
from onyx_jupyter.notebook.kernel_probe.values import short

PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.complex_numbers()
VALUES = st.recursive(
    PLAIN | st.dates() | st.datetimes() | st.timedeltas() | st.decimals() | st.fractions() | st.uuids(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(PLAIN.filter(lambda key: key == key), inner) | st.tuples(inner, inner)
    ),
    max_leaves=20,
)


class Touched(BaseException):
    """Code of the user's was run."""


def hostile() -> Any:
    """An object whose every answer is code of its own."""

    def touched(*_: Any, **__: Any) -> Any:
        raise Touched

    special = "repr str len iter bool eq getattr getattribute dir format sizeof contains getitem call index int float"
    body: dict[str, Any] = {f"__{name}__": touched for name in special.split()} | {"__hash__": object.__hash__}
    return type("Hostile", (), body | {"shape": property(touched), "__class__": property(touched)})()


def shell_with(**names: Any) -> Any:
    events = SimpleNamespace(trigger=lambda *_: None)
    return SimpleNamespace(user_ns=names, user_ns_hidden={}, events=events)


def asked(shell: Any, **question: Any) -> dict[str, Any]:
    text = json.dumps({"seconds": 20, "secretNames": ["password"], **question})
    return json.loads(answer(shell, text)._repr_mimebundle_()["text/plain"])  # type: ignore[no-any-return]


@given(VALUES, st.integers(5, 200))
@example(10**5000, 20)
@example([[[[[[1]]]]]], 20)
@example("\ud800", 20)
def test_value_is_summarized_within_limit(value: Any, most: int) -> None:
    assert 0 < len(short(value, Look(20), most)) <= most


@given(VALUES)
def test_any_value_can_be_listed_and_inspected(value: Any) -> None:
    held = [value, hostile(), {"x": hostile()}]
    shell = shell_with(value=value, held=held, hostile=held[1])
    (listed,) = asked(shell, about="variables", pattern="val", functions=True, most=9)["variables"]
    assert (listed["name"], len(listed["summary"]) < 300) == ("value", True)
    for name in ("value", "held", "hostile", "held[0]", "held[1]", "held[2]['x']"):
        assert "problem" not in asked(shell, about="inspect", name=name)


@given(st.recursive(st.sampled_from(["f", "held", "hostile", "1", "'k'"]), lambda inner: st.one_of(
    st.tuples(inner, st.sampled_from([".real", ".append", "()", "[0]", "['k']", ".__class__", ".shape"])).map("".join),
    st.tuples(inner, st.sampled_from([" + ", " if f() else ", "[f()]", " or ", "@"]), inner).map("".join),
), max_leaves=5))  # fmt: skip
def test_following_a_path_calls_nothing(path: str) -> None:
    calls: list[int] = []
    names = {"f": lambda: calls.append(1), "held": [{"k": hostile()}], "hostile": hostile()}
    try:
        follow(path, names)
    except UnresolvablePath:
        assert path not in names
    assert calls == []


@given(st.text(max_size=30))
def test_any_text_is_a_path_or_rejected(text: str) -> None:
    try:
        value, way = follow(text, {"x": 1})
    except UnresolvablePath:
        return
    assert way[-1][1] is value
    assert (value, way[-1][0]) in [(1, "x"), (1, "real"), (1, "numerator"), (0, "imag"), (1, "denominator")]


def test_secret_stays_hidden_on_every_path(monkeypatch: Any) -> None:
    monkeypatch.setenv("DB_PASSWORD", "hunter2")
    monkeypatch.setenv("PLAIN_ADDRESS", "postgres://ada:hunter2@db")
    users = pd.DataFrame({"password": ["hunter2"], "name": ["ada"]})
    shell = shell_with(
        os=os,
        users=users,
        config={b"password": b"hunter2", "passwords": {"ada": ["hunter2"]}, "plain": "ada"},
        kept=[os.environ._data],  # type: ignore[attr-defined]
    )
    names = ["os.environ", "os.environ._data", 'os.environ._data[b"DB_PASSWORD"]', 'os.environ._data[b"PLAIN_ADDRESS"]']
    names += ["kept", "kept[0]", 'kept[0][b"PLAIN_ADDRESS"]', 'users["password"].values', "users.password.array"]
    names += ["config", 'config[b"password"]', 'config["passwords"]["ada"]', 'config["passwords"]["ada"][0]']
    seen = {name: asked(shell, about="inspect", name=name) for name in names}
    assert not [name for name, found in seen.items() if "problem" in found]
    assert [name for name, found in seen.items() if "hunter2" in json.dumps(found)] == []
    assert "PLAIN_ADDRESS" in json.dumps(seen["os.environ"])
    assert "'ada'" in asked(shell, about="inspect", name='config["plain"]')["summary"]
    everything = asked(shell, about="variables", pattern="", functions=True, most=50)
    assert "hunter2" not in json.dumps(everything)
