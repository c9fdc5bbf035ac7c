from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.errors import InvalidArguments, ToolError
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.toolsets.registry import ToolRegistry, failed

REGISTRY = ToolRegistry(all_tools())
SCHEMAS = {name: REGISTRY.get(name).schema() for name in REGISTRY.names}
NAMES = sorted({name for schema in SCHEMAS.values() for name in schema["properties"]})
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 2_000_000),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer()),
    st.text(max_size=8),
    st.sampled_from(["code", "markdown", "ls", "a.ipynb"]),
)
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(st.text(max_size=3), SCALARS, max_size=2))
KEYS = st.one_of(st.sampled_from([*NAMES, "timeout_ms", "cell_id"]), st.text(max_size=6))
ARGUMENTS = st.dictionaries(KEYS, VALUES, max_size=6)


def accepts(tool: str, arguments: dict[str, Any]) -> bool:
    """The schema's own judgement, by an independent validator. A null for an optional argument counts as left out."""
    schema = SCHEMAS[tool]
    optional = set(schema["properties"]) - set(schema.get("required", ()))
    given_ones = {key: value for key, value in arguments.items() if value is not None or key not in optional}
    return bool(jsonschema.Draft202012Validator(schema).is_valid(given_ones))


def refused(call: ToolCall) -> ToolError | None:
    try:
        REGISTRY.validate(call)
    except ToolError as error:
        return error
    return None


@given(tool=st.sampled_from(sorted(SCHEMAS)), arguments=ARGUMENTS)
def test_call_is_accepted_iff_its_schema_accepts_it(tool: str, arguments: dict[str, Any]) -> None:
    """Property 15: Tool parameter validation."""
    taken = refused(ToolCall("1", tool, arguments)) is None
    assert taken == accepts(tool, arguments)


def sample(part: dict[str, Any]) -> Any:
    """A value that this part of a schema takes."""
    integer = max(part.get("minimum", 600), min(600, part.get("maximum", 600)))
    items = {name: sample(item) for name, item in part.get("properties", {}).items()}
    array = [sample(part["items"])] if "items" in part else []
    simple = {
        "string": "MEMORY.md",
        "number": 0.5,
        "integer": integer,
        "array": array,
        "boolean": True,
        "object": items,
    }
    return part.get("enum", [simple[part["type"]]])[0]


@given(tool=st.sampled_from(sorted(SCHEMAS)), data=st.data())
def test_valid_arguments_are_accepted_and_an_invalid_one_is_named(tool: str, data: st.DataObject) -> None:
    """Property 15: Tool parameter validation."""
    schema = SCHEMAS[tool]["properties"]
    arguments = {name: sample(part) for name, part in schema.items()}
    REGISTRY.validate(ToolCall("1", tool, arguments))
    name = data.draw(st.sampled_from(sorted(schema)))
    taken = {"boolean": bool, "object": dict}.get(schema[name].get("type", ""))
    wrong = data.draw(st.sampled_from([value for value in ({"an": "object"}, 1.5, True) if type(value) is not taken]))
    with pytest.raises(InvalidArguments) as caught:
        REGISTRY.validate(ToolCall("1", tool, arguments | {name: wrong}))
    assert f"`{name}`" in str(caught.value)


@given(
    tool=st.sampled_from([*sorted(SCHEMAS), "exek", "", "x" * 50]),
    arguments=ARGUMENTS,
    malformed=st.none() | st.text(max_size=50),
)
def test_every_rejection_names_tool_type_and_message(
    tool: str, arguments: dict[str, Any], malformed: str | None
) -> None:
    """Property 17: Tool error structure."""
    refusal = refused(ToolCall("1", tool, arguments, malformed))
    if refusal is None:
        return
    result = failed(tool, refusal)
    assert not result.ok
    assert result.output.startswith(f"{tool} failed ({refusal.code}): ")
    assert str(refusal)
    assert str(refusal) in result.output
