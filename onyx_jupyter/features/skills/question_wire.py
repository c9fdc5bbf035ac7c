"""Trust questions of waiting cells on the socket: asking, viewing and answering them."""

from __future__ import annotations

from pydantic import Field

from onyx_jupyter.events import SkillAnswer
from onyx_jupyter.features.skills.wire import MAX_NAME, SkillDetail
from onyx_jupyter.operations.wire import Wire


class SkillsAskParams(Wire):
    """From the connection of the cell that waits: the question ends with it."""

    name: str = Field(max_length=MAX_NAME)
    agent_id: str | None = None


class SkillAsked(Wire):
    """`skills.question_closed` says how it ended, and may come before this."""

    question_id: str


class SkillQuestionParams(Wire):
    question_id: str = Field(max_length=100)


class SkillQuestion(Wire):
    """Nothing more where it is over, or never was. `detail` is the skill as it is on disk now."""

    open: bool
    expires_at: str | None = None
    detail: SkillDetail | None = None


class SkillsAnswerParams(SkillQuestionParams):
    hash: str | None = Field(default=None, description="hash of the version shown, to trust it; omitted: declined")


class SkillQuestionClosedData(Wire):
    """`reason` says why a skill is `unusable`."""

    question_id: str
    outcome: SkillAnswer
    reason: str | None = None
