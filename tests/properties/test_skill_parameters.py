"""A parameters cell, its form, the validation and the kernel agree."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from papermill.translators import PythonTranslator

from onyx_jupyter.errors import InvalidArguments
from onyx_jupyter.features.skills.arguments import checked_parameters, parameters_schema
from onyx_jupyter.skills.discovery import Place, SkillFinder
from onyx_jupyter.skills.injection import path_lines
from onyx_jupyter.skills.parameters import Parameters, ParametersProblem, parse_parameters
from onyx_jupyter.skills.proposal import SourceCell, propose
from onyx_jupyter.skills.skill import Skill
from onyx_jupyter.skills.trust import TrustStore
from onyx_jupyter.testing.fake_clock import FakeClock

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True).filter(lambda name: name.isidentifier())
KEYWORDS = {"if", "in", "is", "or", "as", "def", "del", "for", "not", "and", "try", "from", "pass", "with", "else"}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@dataclass(frozen=True)
class Typed:
    """A type as one writes it, and two values of it: the default, and another one that is given."""

    annotation: str
    default: Any
    other: Any


def typed(annotation: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Typed]:
    return st.builds(Typed, st.just(annotation), values, values)


SIMPLE = st.one_of(
    typed("int", st.integers()),
    typed("float", st.floats(allow_nan=False, allow_infinity=False)),
    typed("str", TEXTS),
    typed("bool", st.booleans()),
    typed("Path", TEXTS.map(Path)),
    typed("Literal['low', 'high', 3]", st.sampled_from(["low", "high", 3])),
)


def containers(inner: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    return st.one_of(
        st.lists(inner, max_size=3).flatmap(_list_of),
        inner.map(lambda item: Typed(f"dict[str, {item.annotation}]", {"a": item.default}, {'b"': item.other})),
        inner.filter(lambda item: "None" not in item.annotation).map(
            lambda item: Typed(f"{item.annotation} | None", item.default, None)
        ),
    )


def _list_of(items: list[Typed]) -> st.SearchStrategy[Typed]:
    if not items:
        return st.just(Typed("list[int]", [], [1]))
    first = items[0]
    return st.just(Typed(f"list[{first.annotation}]", [first.default], [first.other, first.default]))


TYPED = st.recursive(SIMPLE, containers, max_leaves=4)


def as_json(value: Any) -> Any:
    """Paths as texts."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return {key: as_json(item) for key, item in value.items()} if isinstance(value, dict) else value


def written(value: Any) -> str:
    """As one writes it in a cell; paths within containers have no literal, so they are written as texts."""
    return f"Path({str(value)!r})" if isinstance(value, Path) else repr(as_json(value))


def skill(source: str) -> Skill:
    return Skill("x", "notebook", "d", "home", Path("x.ipynb"), parameters=parse_parameters(source))


def in_kernel(source: str, parameters: Parameters, values: dict[str, Any]) -> dict[str, Any]:
    """The namespace behind the parameters cell and the cell that is put in after it."""
    namespace: dict[str, Any] = {}
    cells = ["from typing import *\nfrom pathlib import Path", source]
    cells.append("\n".join([PythonTranslator.codify(values), *path_lines(parameters, values)]))
    for cell in cells:
        exec(cell, namespace)  # noqa: S102 - as a kernel does
    return namespace


@given(NAMES, TYPED, TEXTS)
@example("rows", Typed("str", 'a"\\\n\r\0é\u2028', "'''"), "what it is")
@example("copy", Typed("list[Path] | None", [Path("a")], [Path("b")]), "json")
def test_default_is_offered_validated_and_inserted_as_written(name: str, made: Typed, comment: str) -> None:
    assume(name not in KEYWORDS)
    comment = "".join(filter(str.isprintable, comment)).strip("# ")
    source = f"{name}: {made.annotation} = {written(made.default)}  # {comment}"
    read = skill(source)
    assert read.parameters is not None
    (item,) = read.parameters.items
    assert (item.name, item.default, item.has_default) == (name, as_json(made.default), True)
    schema = parameters_schema(read)
    for value in (made.default, made.other):
        given_value = {name: as_json(value)}
        jsonschema.validate(given_value, schema)
        checked = checked_parameters(read, json.loads(json.dumps(given_value))).given()
        assert checked == given_value
        got = in_kernel(source, read.parameters, checked)[name]
        assert got == value
        assert type(got) is type(value) or isinstance(value, float)
    assert checked_parameters(read, {}).given() == {}


WRONG: dict[str, Any] = {
    "int": "1",
    "float": "1.5",
    "str": 1,
    "bool": 1,
    "list[int]": ["a"],
    "dict[str, int]": {"a": []},
}


@given(NAMES, NAMES, st.sampled_from(sorted(WRONG)), st.booleans())
def test_invalid_value_is_rejected_by_name(name: str, other: str, annotation: str, unknown: bool) -> None:
    assume(name != other and not {name, other} & KEYWORDS)
    read = skill(f"{name}: {annotation}")
    wrong = {name: WRONG[annotation]} | ({other: 1} if unknown else {})
    with pytest.raises(InvalidArguments) as refused:
        checked_parameters(read, wrong)
    assert f"`{name}" in str(refused.value)
    assert (f"`{other}` is not known" in str(refused.value)) == unknown


@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(list("xy=:[]()'\"#\n1.,{}| "))).map("".join)))
@example("x: list[" * 200)
@example("x = " + "-" * 3000 + "1")
@example("x: int = 1 if True else\n")
def test_any_text_is_parsed_or_rejected(source: str) -> None:
    try:
        parameters = parse_parameters(source)
    except ParametersProblem:
        return
    for item in parameters.items:
        assert item.name.isidentifier()
        json.dumps(item.default, allow_nan=False)


@given(st.lists(st.text(max_size=60), max_size=3), st.text(max_size=20))
def test_proposal_can_always_be_saved(sources: list[str], stem: str) -> None:
    proposal = propose([SourceCell("code", source) for source in sources], stem)
    parse_parameters(proposal.parameters)
    assert 1 <= len(proposal.name) <= 64


@given(NAMES, st.one_of(st.integers(), st.text(max_size=20), st.booleans(), st.floats(allow_nan=False)))
def test_notebook_value_is_proposed_unchanged(name: str, value: Any) -> None:
    assume(name not in KEYWORDS and not (isinstance(value, float) and math.isinf(value)))
    proposal = propose([SourceCell("code", f"{name} = {value!r}\nuse({name})")], "x")
    (item,) = parse_parameters(proposal.parameters).items
    assert (item.name, item.default, type(item.default)) == (name, value, type(value))


@given(
    st.one_of(
        st.binary(max_size=100),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=8),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["nbformat", "cells", "metadata", "onyx", "skill", "name"]), inner)
            ),
        ).map(lambda data: json.dumps(data).encode()),
    )
)
def test_no_file_prevents_listing_of_others(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("skills")
    (folder / "odd.ipynb").write_bytes(content)
    (folder / "words").mkdir()
    (folder / "words" / "SKILL.md").write_bytes(b"---\nname: words\ndescription: d\n---\n" + content)
    (folder / "odd-words").mkdir()
    (folder / "odd-words" / "SKILL.md").write_bytes(content)
    finder = SkillFinder(TrustStore(folder / "trust.json", FakeClock()), {}, dict)
    found = {item.skill.name: item.state for item in finder.find([Place("home", folder)])}
    assert found["odd"] == "broken"
    assert found["odd-words"] == "broken"
    assert "words" in found
