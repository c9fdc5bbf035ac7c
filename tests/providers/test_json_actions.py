from pydantic import BaseModel, Field

from onyx_jupyter.messages import Message, ToolCall, ToolDefinition
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.json_actions import action_schema, json_action_call, plain_schema


class Inner(BaseModel):
    name: str = Field(description="a name", max_length=5)


class Arguments(BaseModel):
    path: str
    inner: Inner
    title: str | None = None


class Endless(BaseModel):
    child: "Endless | None" = None


EXEC = ToolDefinition("exec", "Run it.\nMore about it.", {"type": "object", "properties": {"command": {}}})
INSERT = ToolDefinition("notebook_insert_cell", "Insert.", Arguments.model_json_schema())


def test_schema_references_are_resolved_and_annotations_dropped() -> None:
    plain = plain_schema(Arguments.model_json_schema())
    assert plain == {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "inner": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
            "title": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["path", "inner"],
        "additionalProperties": False,
    }


def test_recursive_schema_terminates() -> None:
    assert "$ref" not in str(plain_schema(Endless.model_json_schema()))


def test_action_is_a_reply_or_one_of_the_tools() -> None:
    names = [action["properties"]["name"]["const"] for action in action_schema([EXEC])["anyOf"]]
    assert names == ["reply", "exec"]


def test_history_is_written_in_the_answer_format() -> None:
    history = [
        Message("user", "list files"),
        Message("assistant", "", (ToolCall("c1", "exec", {"command": "ls"}),)),
        Message("tool", "a.txt", tool_call_id="c1"),
        Message("assistant", "One file."),
    ]
    system, *messages = json_action_call(ModelRequest("Be brief.", history, [EXEC])).messages
    assert [(message["role"], message["content"]) for message in messages] == [
        ("user", "list files"),
        ("assistant", '{"name": "exec", "arguments": {"command": "ls"}}'),
        ("user", "Result of exec:\na.txt"),
        ("assistant", '{"name": "reply", "arguments": {"text": "One file."}}'),
    ]
    assert system["content"].startswith("Be brief.")
    assert "- exec(command?): Run it." in system["content"]
    assert "More about it" not in system["content"]
