"""Turns a person's own words into the line of a rule, with a model."""

from __future__ import annotations

import asyncio

from onyx_jupyter.agent.processor import Processors
from onyx_jupyter.agent.side_request import side_request
from onyx_jupyter.errors import ModelError
from onyx_jupyter.messages import Message
from onyx_jupyter.onboarding.questions import AGENTS, SOUL, Question
from onyx_jupyter.protocols import Model, ModelRequest

TIMEOUT_S = 60.0
MAX_CHARS = 200
_MAX_TOKENS = 120
_SYSTEM = (
    "You edit one line of the instructions of an assistant. Keep the person's meaning and language, add nothing, "
    "be specific, use at most fifteen words. Reply with the new text of the line alone."
)


def can_be_phrased(question: Question) -> bool:
    """Whether its words become an instruction; a name or a field of work is best as it was typed."""
    return bool(question.other) and question.file in (SOUL, AGENTS)


async def phrased(model: Model, question: Question, words: str, timeout_s: float = TIMEOUT_S) -> str:
    """The words as they would best stand in the line of that question. Raises: ModelError."""
    line = question.other_line.replace("{text}", "…")
    asked = f"The question was: {question.text}\nThe line: {line}\nThe person's words for the …: {words}"
    request = ModelRequest(_SYSTEM, [Message("user", asked)], temperature=0.0, max_tokens=_MAX_TOKENS)
    try:
        async with asyncio.timeout(timeout_s):
            reply = await side_request(model, request, Processors())
    except TimeoutError:
        raise ModelError("timeout", f"{model.id} did not answer within {timeout_s:g} s. Your words stay.") from None
    text = _text_in(reply.text, line)
    if not text:
        raise ModelError("bad_response", f"{model.id} did not answer with one short line. Your words stay.")
    return text


def _text_in(answer: str, line: str) -> str:
    """Without what models put around it; empty if it is no single short line."""
    lines = [one for one in answer.strip().splitlines() if one.strip()]
    if len(lines) != 1:
        return ""
    text = lines[0].strip().lstrip("-*• ").removeprefix(line.partition("…")[0])
    text = text.strip(" \"'“”`")
    return text if len(text) <= MAX_CHARS else ""
