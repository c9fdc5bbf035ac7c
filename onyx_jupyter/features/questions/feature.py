"""The agent's questions to the user."""

from __future__ import annotations

from onyx_jupyter.features.questions.operations import OPERATIONS
from onyx_jupyter.features.questions.wire import QuestionInfo, QuestionResolvedData
from onyx_jupyter.human_requests.questions import Questions
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import CONFIGURED, HOST, JOURNAL, QUESTIONS


def make(parts: Parts) -> Built:
    host = parts.get(HOST)
    questions = Questions(parts.get(JOURNAL), host.clock, host.ids, parts.get(CONFIGURED).human_timeout_s)
    return Built({QUESTIONS: questions})


FEATURE = Feature(
    "questions",
    make,
    requires=(HOST, CONFIGURED, JOURNAL),
    provides=(QUESTIONS,),
    operations=OPERATIONS,
    events=(
        EventType("chat.question", QuestionInfo),
        EventType("chat.question_resolved", QuestionResolvedData),
    ),
    essential=True,
)
