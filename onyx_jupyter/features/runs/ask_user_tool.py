"""The tool with which the agent asks the user a question during a run."""

from __future__ import annotations

from typing import Annotated

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
