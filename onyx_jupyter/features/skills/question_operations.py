"""`skills.ask`, `.question`, `.answer`: a cell waits until the user trusts a skill in the card below it."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.clock import timestamp
from onyx_jupyter.features.skills.keys import SKILLS
from onyx_jupyter.features.skills.operations import detail
from onyx_jupyter.features.skills.question_wire import (
    SkillAsked,
    SkillQuestion,
    SkillQuestionParams,
    SkillsAnswerParams,
    SkillsAskParams,
)
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import Ok


async def ask(params: SkillsAskParams, caller: Caller) -> dict[str, Any]:
    asked = await caller.get(SKILLS).questions.ask(params.name, params.agent_id, caller.own_tab)
    return {"questionId": asked.id}


async def question(params: SkillQuestionParams, caller: Caller) -> dict[str, Any]:
    found = await caller.get(SKILLS).questions.refresh(params.question_id)
    if found is None:
        return {"open": False}
    asked, item = found
    shown = await detail(item, asked.agent_id, caller)
    return {"open": True, "expiresAt": timestamp(asked.expires_at), "detail": shown}


async def answer(params: SkillsAnswerParams, caller: Caller) -> dict[str, Any]:
    await caller.get(SKILLS).questions.answer(params.question_id, params.hash, f"user:{caller.user}")
    return {"ok": True}


OPERATIONS = (
    Operation("skills.ask", SkillsAskParams, SkillAsked, ask, "chat", callers="tab"),
    Operation("skills.question", SkillQuestionParams, SkillQuestion, question, "read"),
    Operation("skills.answer", SkillsAnswerParams, Ok, answer, "admin"),
)
