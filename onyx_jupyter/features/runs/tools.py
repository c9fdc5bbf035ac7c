"""The tools with which the agent asks the user a question and shows its plan.

A plan is stored nowhere: a run's plan is its newest call of that tool, both live and in the transcript.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.messages import Failure, ToolResult
from onyx_jupyter.protocols import UserQuestion
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import tool

MAX_CHOICES = 10
UNATTENDED = (
    "Nobody can answer here. Continue with the likeliest meaning and say what you assumed, or stop and say why."
)
MAX_STEPS = 30
_OPEN = ("pending", "doing")


class AskUserArguments(Arguments):
    question: str = Field(min_length=1, max_length=2000, description="One question, in a sentence or two.")
    choices: list[Annotated[str, Field(min_length=1, max_length=200)]] | None = Field(
        default=None, max_length=MAX_CHOICES, description="Answers to choose from."
    )
    free_text: bool = Field(default=True, description="False: only the choices.")


@tool(
    name="ask_user",
    activity=Activity("ask_person", "question"),
    arguments=AskUserArguments,
    description="Asks the person and waits. Only if you cannot find out yourself and a wrong guess would matter.",
    risk="read",
    family="chat",
    untimed=True,
)
async def ask_user_tool(arguments: AskUserArguments, context: ToolContext) -> ToolResult:
    """Waits until the user answers or declines, or the approval timeout expires."""
    if context.ask is None:
        return ToolResult(UNATTENDED, ok=False, origin="own", failure=Failure("unavailable", UNATTENDED))
    choices = tuple(dict.fromkeys(arguments.choices or ()))
    free_text = arguments.free_text or not choices
    answer = await context.ask(UserQuestion(arguments.question, choices, free_text))
    if answer.text is None:
        return ToolResult(answer.reason, ok=False, origin="person")
    return ToolResult(f"The user answered: {answer.text}", origin="person", data={"answer": answer.text})


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
