"""The plan that a person is shown: it asks nobody, it keeps nothing, and the transcript has all of it."""

import json

import pytest

from onyx_jupyter.errors import InvalidArguments
from onyx_jupyter.features.runs.tools import MAX_STEPS, plan_update_tool
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.testing.script import Call
from onyx_jupyter.toolsets.registry import ToolRegistry
from tests.runs.house import House


def steps(**statuses: str) -> dict[str, list[dict[str, str]]]:
    return {"steps": [{"text": text, "status": status} for text, status in statuses.items()]}


async def test_plan_is_shown_without_approval_in_every_mode_and_stored(tmp_path):
    first = Call("plan_update", steps(load="doing", fit="pending", ask="pending"))
    later = Call("plan_update", steps(load="done", fit="doing", ask="dropped"))
    for mode in ("ask", "agent", "auto"):
        house = House(tmp_path, [[first], [later], "Done"], more_tools=[plan_update_tool])
        key = await house.session()
        await house.run(key, mode=mode)
        assert "exec.approval_request" not in house.names()
        assert [event["input"] for event in house.of("tool.started")] == [first.arguments, later.arguments]
        assert [line["content"] for line in house.results(key).values()] == [
            "Shown: 0 of 3 done, 3 left.",
            "Shown: 1 of 2 done, 1 left.",
        ]
        calls = [call["arguments"] for line in house.lines(key) for call in line.get("tool_calls", ())]
        assert calls == [first.arguments, later.arguments]
        await house.close()


async def test_two_active_steps_are_reported(make_context):
    tool, arguments = ToolRegistry([plan_update_tool]).validate(
        ToolCall("1", "plan_update", steps(load="doing", fit="doing"))
    )
    assert (await tool.call(arguments, make_context())).output.endswith(
        "More than one step is marked as doing; mark only one."
    )


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (steps(load="soon"), "`steps.0.status`"),
        ({"steps": [{"text": "load"}]}, "`steps.0.status`"),
        ({"steps": [{"text": "", "status": "done"}]}, "`steps.0.text`"),
        ({"steps": [{"text": str(n), "status": "done"} for n in range(MAX_STEPS + 1)]}, "`steps`"),
    ],
)
def test_invalid_plan_is_rejected_naming_the_problem(wrong, named):
    with pytest.raises(InvalidArguments) as caught:
        ToolRegistry([plan_update_tool]).validate(ToolCall("1", "plan_update", wrong))
    assert named in str(caught.value)


def test_tool_description_is_short():
    (definition,) = ToolRegistry([plan_update_tool]).definitions()
    told = json.dumps(definition.parameters)
    assert "$ref" not in told
    assert "$defs" not in told
    assert definition.parameters["properties"]["steps"]["items"]["required"] == ["text", "status"]
    assert len(told) + len(definition.description) < 500
