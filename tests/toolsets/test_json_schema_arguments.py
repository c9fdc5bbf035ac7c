"""Arguments with a plain JSON schema are validated as strictly as those with a model."""

import pytest

from onyx_jupyter.errors import InvalidArguments
from onyx_jupyter.toolsets.arguments import ByJsonSchema

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 5},
        "count": {"type": "integer", "default": 1},
        "flag": {"type": "boolean", "default": False},
        "where": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]},
    },
    "required": ["name"],
}


@pytest.mark.parametrize(
    ("given", "said", "wrong"),
    [
        ({}, "`name` is missing.", set()),
        ({"name": 5}, "`name`: 5 is not of type 'string'.", {"name"}),
        ({"name": "a", "nam": 1}, "`nam` is not known.", {"nam"}),
        ({"name": "a", "count": "1"}, "`count`: '1' is not of type 'integer'.", {"count"}),
        ({"name": "a", "where": {}}, "`where.x` is missing.", {"where"}),
        ({"name": "a", "where": {"x": "y"}}, "`where.x`: 'y' is not of type 'number'.", {"where"}),
    ],
)
def test_each_invalid_argument_is_named(given, said, wrong):
    with pytest.raises(InvalidArguments) as caught:
        ByJsonSchema(SCHEMA).check(given)
    assert said in str(caught.value)
    assert caught.value.wrong == wrong
    assert not caught.value.has_safe_message, "the words are those of whoever wrote the schema"


def test_explicit_default_equals_omission():
    check = ByJsonSchema(SCHEMA).check
    said = check({"name": "a", "count": 1, "flag": False})
    assert said.canonical() == check({"name": "a"}).canonical() == {"name": "a"}
    assert said.shown() == {"name": "a", "count": 1, "flag": False}
    assert check({"name": "a", "count": 1.0}).canonical() == {"name": "a", "count": 1.0}


def test_schema_with_additional_properties_decides_itself():
    assert ByJsonSchema({"type": "object", "additionalProperties": True}).check({"x": 1}) == {"x": 1}
    with pytest.raises(InvalidArguments):
        ByJsonSchema({"type": "object", "additionalProperties": False}).check({"x": 1})
    one_of = {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert ByJsonSchema(one_of).check({"a": 1}) == {"a": 1}
    with pytest.raises(InvalidArguments):
        ByJsonSchema(one_of).check({})


def test_nothing_is_fetched_for_a_schema(monkeypatch):
    def nobody(*args, **more):
        raise AssertionError("the network was asked")

    monkeypatch.setattr("socket.getaddrinfo", nobody)
    away = ByJsonSchema({"type": "object", "properties": {"x": {"$ref": "https://example.org/schema.json"}}})
    with pytest.raises(InvalidArguments, match="which is not in it"):
        away.check({"x": 1})


def test_internal_references_are_resolved():
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/small"}}, "$defs": {"small": {"maximum": 3}}}
    assert ByJsonSchema(schema).check({"x": 3}) == {"x": 3}
    with pytest.raises(InvalidArguments, match="`x`"):
        ByJsonSchema(schema).check({"x": 4})


@pytest.mark.parametrize("schema", [{}, {"type": "string"}, {"type": "object", "properties": {"x": {"type": "strin"}}}])
def test_invalid_schema_is_rejected_immediately(schema):
    with pytest.raises(ValueError, match="JSON schema"):
        ByJsonSchema(schema)
