"""The agent's questions on the socket."""

from __future__ import annotations

from pydantic import Field

from onyx_jupyter.events import QuestionOutcome
from onyx_jupyter.operations.wire import RunData, Wire

MAX_ANSWER_CHARS = 20_000


class QuestionsAnswerParams(Wire):
    question_id: str
    answer: str | None = Field(default=None, min_length=1, max_length=MAX_ANSWER_CHARS, description="omitted: declined")


class QuestionsListParams(Wire):
    session_key: str | None = None


class QuestionInfo(Wire):
    """The data of `chat.question`: choices to click on, and whether other words are welcome."""

    question_id: str
    run_id: str
    call_id: str
    question: str
    choices: list[str]
    free_text: bool
    expires_at: str
    session_key: str | None = None
    seq: int | None = None


class QuestionList(Wire):
    questions: list[QuestionInfo]


class QuestionResolvedData(RunData):
    question_id: str
    call_id: str
    outcome: QuestionOutcome
    by: str
    answer: str | None = None
