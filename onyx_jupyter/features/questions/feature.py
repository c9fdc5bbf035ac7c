"""The agent's questions to the user."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.events import QuestionAsked, camel_data
from onyx_jupyter.features.questions.wire import (
    QuestionInfo,
    QuestionList,
    QuestionResolvedData,
    QuestionsAnswerParams,
    QuestionsListParams,
)
from onyx_jupyter.human_requests.questions import Questions
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import CONFIGURED, HOST, JOURNAL, QUESTIONS, STREAMS
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import Ok


def make(parts: Parts) -> Built:
    host = parts.get(HOST)
    questions = Questions(parts.get(JOURNAL), host.clock, host.ids, parts.get(CONFIGURED).human_timeout_s)
    return Built({QUESTIONS: questions})


async def answer(params: QuestionsAnswerParams, caller: Caller) -> dict[str, Any]:
    await caller.get(QUESTIONS).answer(params.question_id, caller.user, params.answer)
    return {"ok": True}


async def list_questions(params: QuestionsListParams, caller: Caller) -> dict[str, Any]:
    pending = [(item.asked, item.session_key) for item in caller.get(QUESTIONS).pending(params.session_key)]
    if params.session_key is not None:
        heard = caller.get(STREAMS).open_requests(params.session_key)
        pending += [(asked, params.session_key) for asked in heard if isinstance(asked, QuestionAsked)]
    return {"questions": [{**camel_data(asked), "sessionKey": session_key} for asked, session_key in pending]}


FEATURE = Feature(
    "questions",
    make,
    requires=(HOST, CONFIGURED, JOURNAL),
    provides=(QUESTIONS,),
    operations=(
        Operation("questions.answer", QuestionsAnswerParams, Ok, answer, "chat"),
        Operation("questions.list", QuestionsListParams, QuestionList, list_questions, "read"),
    ),
    events=(
        EventType("chat.question", QuestionInfo),
        EventType("chat.question_resolved", QuestionResolvedData),
    ),
    essential=True,
)
