import pytest

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.errors import InvalidArguments, NotebookError, ToolError
from onyx_jupyter.features.processes.exec_tool import make_exec_tool
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.toolsets.registry import ToolRegistry, failed


def registry() -> ToolRegistry:
    return ToolRegistry(all_tools())


def test_duplicate_names_are_rejected() -> None:
    with pytest.raises(ValueError, match="exec"):
        ToolRegistry([make_exec_tool(), make_exec_tool()])


def test_unknown_tool_suggests_closest_names() -> None:
    with pytest.raises(ToolError, match="Did you mean notebook_read"):
        registry().validate(ToolCall("1", "notebook_reed", {}))


def test_non_object_json_is_shown_to_model() -> None:
    with pytest.raises(InvalidArguments, match=r"not a JSON object.*oops"):
        registry().validate(ToolCall("1", "exec", {}, malformed="oops"))


def test_each_invalid_argument_is_named() -> None:
    with pytest.raises(InvalidArguments) as caught:
        registry().validate(ToolCall("1", "exec", {"comand": "ls", "timeoutMs": "10"}))
    message = str(caught.value)
    assert "`command` is missing" in message
    assert "`comand` is not known" in message
    assert "`timeoutMs`" in message
    assert "exec takes: command, cwd, timeoutMs" in message


def test_nothing_is_coerced_and_python_names_are_rejected() -> None:
    for arguments in ({"command": 5}, {"command": "ls", "timeout_ms": 10}, {"command": "ls", "timeoutMs": True}):
        with pytest.raises(InvalidArguments):
            registry().validate(ToolCall("1", "exec", arguments))


def test_failure_names_tool_type_and_message() -> None:
    result = failed("notebook_edit_cell", NotebookError("stale", "The cell has changed."))
    assert (result.ok, result.output) == (False, "notebook_edit_cell failed (stale): The cell has changed.")
    assert failed("exec", RuntimeError("boom")).output == "exec failed (RuntimeError): boom"


def test_model_sees_short_camel_case_schemas() -> None:
    definitions = {definition.name: definition.parameters for definition in registry().definitions()}
    assert set(definitions["notebook_edit_cell"]["properties"]) == {"path", "cellId", "source", "baseHash", "run"}
    assert set(definitions["read"]["properties"]) == {"path", "from", "lines", "column"}
    assert "additionalProperties" not in definitions["exec"]
    assert registry().get("exec").schema()["additionalProperties"] is False
    assert "anyOf" not in str(definitions)
