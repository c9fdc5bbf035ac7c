"""The tool with which the agent shows the user its plan. It stores nothing: the call itself is the plan.

A run's plan is its newest call of this tool, both live and in the transcript.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import tool

MAX_STEPS = 30
_OPEN = ("pending", "doing")


class PlanStep(Arguments):
    text: str = Field(min_length=1, max_length=200)
    status: Literal["pending", "doing", "done", "dropped"]


class PlanUpdateArguments(Arguments):
    steps: list[PlanStep] = Field(max_length=MAX_STEPS)


@tool(
    name="plan_update",
    activity=Activity("plan"),
    arguments=PlanUpdateArguments,
    description="Shows the person your plan. Send all steps whenever one starts or ends.",
    risk="read",
    family="chat",
)
async def plan_update_tool(arguments: PlanUpdateArguments, context: ToolContext) -> ToolResult:
    """Takes the whole plan each time, so that the display never depends on earlier calls."""
    steps = [step for step in arguments.steps if step.status != "dropped"]
    done = sum(step.status == "done" for step in steps)
    left = sum(step.status in _OPEN for step in steps)
    doing = [step.text for step in steps if step.status == "doing"]
    at_once = " More than one step is marked as doing; mark only one." if len(doing) > 1 else ""
    return ToolResult(f"Shown: {done} of {len(steps)} done, {left} left.{at_once}", origin="own")
