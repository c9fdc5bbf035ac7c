"""`questions.*`: the agent's questions and the user's answers."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.events import QuestionAsked, camel_data
from onyx_jupyter.features.questions.wire import QuestionList, QuestionsAnswerParams, QuestionsListParams
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import QUESTIONS, STREAMS
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import Ok


async def answer(params: QuestionsAnswerParams, caller: Caller) -> dict[str, Any]:
    await caller.get(QUESTIONS).answer(params.question_id, caller.user, params.answer)
    return {"ok": True}


async def list_questions(params: QuestionsListParams, caller: Caller) -> dict[str, Any]:
    pending = [(item.asked, item.session_key) for item in caller.get(QUESTIONS).pending(params.session_key)]
    if params.session_key is not None:
        heard = caller.get(STREAMS).open_requests(params.session_key)
        pending += [(asked, params.session_key) for asked in heard if isinstance(asked, QuestionAsked)]
    return {"questions": [{**camel_data(asked), "sessionKey": session_key} for asked, session_key in pending]}


OPERATIONS = (
    Operation("questions.answer", QuestionsAnswerParams, Ok, answer, "chat"),
    Operation("questions.list", QuestionsListParams, QuestionList, list_questions, "read"),
)
