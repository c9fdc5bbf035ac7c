"""A value is changed in the file's text, and nothing else."""

import json
from typing import Any

import json5
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.agents.default_config import FIRST_FILE
from onyx_jupyter.config.edit import REMOVED, apply_edits

FILE = """\
// mine
{
  // who answers
  agents: {
    defaults: { model: 'openai/gpt-5.2', }, // the big one
    "list": [{ id: "main" }, { id: "reader" }],
  },
  providers: { /* none
    yet */ },
  runtime: {
    maxTurns: +7, // seven
    retry: { attempts: 3 } // often enough
  }
}
"""


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        (("runtime", "maxTurns"), 9, "maxTurns: +7,", "maxTurns: 9,"),
        (("agents", "defaults", "model"), "local/a", "'openai/gpt-5.2'", '"local/a"'),
        (("agents", "list", 1, "id"), "writer", '"reader"', '"writer"'),
        (("agents", "list", 2), {"id": "x"}, '{ id: "reader" }]', '{ id: "reader" }, { id: "x" }]'),
        (
            ("agents", "list", 0, "tools", "deny"),
            ["exec"],
            '{ id: "main" }',
            '{ id: "main", tools: { deny: ["exec"] } }',
        ),
        (
            ("runtime", "retry", "timeoutMs"),
            100,
            "{ attempts: 3 }",
            "{ attempts: 3, timeoutMs: 100 }",
        ),
        (
            ("runtime", "whenBusy"),
            "followup",
            "{ attempts: 3 } // often enough\n",
            '{ attempts: 3 }, // often enough\n    whenBusy: "followup",\n',
        ),
        (("security", "auto"), [], "often enough\n  }\n", "often enough\n  },\n  security: { auto: [] },\n"),
        (
            ("agents", "defaults", "more"),
            None,
            "'openai/gpt-5.2', }",
            "'openai/gpt-5.2', more: null }",
        ),
        (
            ("providers", "my-server", "baseUrl"),
            "http://a/v1",
            "yet */ },",
            'yet */\n    "my-server": { baseUrl: "http://a/v1" },\n  },',
        ),
        (("runtime", "maxTurns"), REMOVED, "    maxTurns: +7, // seven\n", "     // seven\n"),
        (("runtime", "retry"), REMOVED, "    retry: { attempts: 3 } // often", "     // often"),
        (("agents", "defaults"), REMOVED, "    defaults: { model: 'openai/gpt-5.2', }, //", "     //"),
        (("agents", "list", 0), REMOVED, '{ id: "main" }, ', ""),
        (("agents", "list"), REMOVED, '    "list": [{ id: "main" }, { id: "reader" }],\n', ""),
        (("runtime", "no"), REMOVED, "", ""),
    ],
)
def test_only_what_is_edited_changes(path: Any, value: Any, old: str, new: str) -> None:
    edited = apply_edits(FILE, {path: value})
    expected = FILE.replace(old, new) if old else FILE
    assert edited.replace(" ", "") == expected.replace(" ", "")
    json5.loads(edited)


def test_two_edits_are_made_one_after_the_other() -> None:
    edited = apply_edits(FILE, {("runtime", "whenBusy"): "steer", ("local", "threads"): 2})
    assert '    whenBusy: "steer",\n  },\n  local: { threads: 2 },\n}\n' in edited


@pytest.mark.parametrize("text", ["", "\n", "// nothing yet\n", "{}", "{\n}\n", FIRST_FILE])
def test_a_file_without_anything_gets_its_first_key_and_keeps_its_comments(text: str) -> None:
    edited = apply_edits(text, {("providers", "openai", "apiKey"): "${KEY}"})
    assert json5.loads(edited) == {"providers": {"openai": {"apiKey": "${KEY}"}}}
    assert all(line in edited for line in text.splitlines() if line.strip().startswith("//"))


def test_the_line_ends_of_the_file_are_used() -> None:
    edited = apply_edits("{\r\n  a: 1,\r\n}\r\n", {("b", "c"): "x" * 70})
    assert edited == '{\r\n  a: 1,\r\n  b: {\r\n    c: "' + "x" * 70 + '",\r\n  },\r\n}\r\n'


def test_what_is_long_gets_lines_of_its_own() -> None:
    edited = apply_edits("{\n}\n", {("providers", "a"): {"models": ["m" * 30, "n" * 30, "o"]}})
    assert edited.count("\n") > 5
    assert json5.loads(edited)["providers"]["a"]["models"][2] == "o"


def test_a_value_that_is_no_object_gives_way_to_one() -> None:
    assert json5.loads(apply_edits("{ a: null }", {("a", "b"): 1})) == {"a": {"b": 1}}


def test_a_position_beyond_the_end_is_refused() -> None:
    with pytest.raises(ValueError, match="only 2 items"):
        apply_edits(FILE, {("agents", "list", 5, "id"): "x"})
    with pytest.raises(ValueError, match="only 0 items"):
        apply_edits("{}", {("agents", "list", 1, "id"): "x"})


KEYS = st.sampled_from(["a", "b", "my-key", "ä", "c.d"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("aä\"'\\\n/{}[],:", max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
COMMENTS = st.sampled_from(["", " ", "\n", "/* } , */", " // : { \n", "\n  "])


@st.composite
def texts(draw: st.DrawFn, value: Any) -> str:
    """A value as JSON5, with white space and comments wherever they can be."""

    def gap() -> str:
        return draw(COMMENTS)

    if isinstance(value, dict | list) and value:
        is_object = isinstance(value, dict)
        names = [f"{json.dumps(key)}{gap()}:{gap()}" if is_object else "" for key in value]
        parts = value.values() if is_object else value
        members = [f"{gap()}{name}{draw(texts(part))}{gap()}" for name, part in zip(names, parts, strict=True)]
        last = draw(st.sampled_from(["", ","])) + gap()
        opens, closes = "{}" if is_object else "[]"
        return opens + ",".join(members) + last + closes
    return json.dumps(value)


def expected(value: Any, path: tuple[str, ...], new: Any) -> Any:
    before = value if isinstance(value, dict) else {}
    if len(path) == 1:
        rest = {key: part for key, part in before.items() if key != path[0]}
        if new is REMOVED:
            return rest if isinstance(value, dict) else value
        return {**before, path[0]: new}
    if new is REMOVED and not isinstance(before.get(path[0]), dict):
        return value
    return {**before, path[0]: expected(before.get(path[0]), path[1:], new)}


@given(data=st.data(), value=st.dictionaries(KEYS, VALUES, max_size=3), new=st.just(REMOVED) | VALUES)
def test_whatever_the_file_looks_like_the_edited_one_says_what_was_meant(
    data: st.DataObject, value: dict[str, Any], new: Any
) -> None:
    text = data.draw(COMMENTS) + data.draw(texts(value)) + data.draw(COMMENTS)
    path = tuple(data.draw(st.lists(KEYS, min_size=1, max_size=3)))
    edited = apply_edits(text, {path: new})
    assert json5.loads(edited) == expected(value, path, new)
    for comment in ("/* } , */", "// : { "):
        if new is not REMOVED and path[0] not in value:
            assert edited.count(comment) == text.count(comment)
