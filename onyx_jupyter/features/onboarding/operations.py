"""`onboarding.*`: questions, answers, and the files they make."""

from __future__ import annotations

import asyncio
from typing import Any

from onyx_jupyter.agents.default_model import NO_MODEL
from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.features.onboarding import wire
from onyx_jupyter.features.onboarding.phrasing import can_be_phrased, phrased
from onyx_jupyter.features.onboarding.service import ONBOARDING, Draft
from onyx_jupyter.files.diff import unified_diff
from onyx_jupyter.memory.folder import NO_FILE
from onyx_jupyter.onboarding.progress import Answer, Progress, find_question
from onyx_jupyter.onboarding.questions import OPTIONAL, PHASES, Question
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import CONFIGURED
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import Wire
from onyx_jupyter.usage.call_context import model_calls


async def state(params: wire.OnboardingParams, caller: Caller) -> dict[str, Any]:
    onboarding = caller.get(ONBOARDING)
    agent_id = onboarding.agent_id(params.agent_id)
    return await _state(agent_id, await onboarding.progress(agent_id), caller)


async def answer(params: wire.OnboardingAnswerParams, caller: Caller) -> dict[str, Any]:
    def answered(progress: Progress) -> Progress:
        return progress.with_answer(params.question_id, params.choices, params.text)

    onboarding = caller.get(ONBOARDING)
    agent_id = onboarding.agent_id(params.agent_id)
    return await _state(agent_id, await onboarding.change(agent_id, answered), caller)


async def skip(params: wire.OnboardingSkipParams, caller: Caller) -> dict[str, Any]:
    onboarding = caller.get(ONBOARDING)
    agent_id = onboarding.agent_id(params.agent_id)
    progress = await onboarding.change(agent_id, lambda now: now.after(params.question_id))
    return await _state(agent_id, progress, caller)


async def phrase(params: wire.OnboardingPhraseParams, caller: Caller) -> dict[str, Any]:
    """One short completion by the agent's model; nothing is kept before the person answers with it."""
    configured, onboarding = caller.get(CONFIGURED), caller.get(ONBOARDING)
    question = find_question(params.question_id)
    model_id = _model_of(onboarding.agent_id(params.agent_id), caller)
    if model_id is None or not can_be_phrased(question):
        raise InvalidRequest(f"`questionId`: {question.id!r} cannot be phrased. Your words are written as they are.")
    with model_calls("default"):
        text = await phrased(configured.models.open(model_id), question, configured.redact(params.text))
    return _json(wire.OnboardingPhrased(text=text, line=question.other_line.replace("{text}", text)))


def _model_of(agent_id: str, caller: Caller) -> str | None:
    configured = caller.get(CONFIGURED)
    model_id = configured.model_of(configured.settings.agent(agent_id))
    return None if model_id == NO_MODEL else model_id


async def back(params: wire.OnboardingParams, caller: Caller) -> dict[str, Any]:
    onboarding = caller.get(ONBOARDING)
    agent_id = onboarding.agent_id(params.agent_id)
    return await _state(agent_id, await onboarding.change(agent_id, Progress.back), caller)


async def preview(params: wire.OnboardingParams, caller: Caller) -> dict[str, Any]:
    onboarding, redact = caller.get(ONBOARDING), caller.get(CONFIGURED).redact
    drafts = await onboarding.drafts(onboarding.agent_id(params.agent_id))

    def shown(draft: Draft) -> wire.OnboardingFile:
        if draft.problem is not None:
            return wire.OnboardingFile(path=draft.path, problem=draft.problem)
        return wire.OnboardingFile(
            path=draft.path,
            is_new=draft.based_on == NO_FILE,
            text=redact(draft.after),
            diff=redact(unified_diff(draft.before, draft.after)),
            based_on=draft.based_on,
            checksum=draft.checksum,
        )

    return _json(wire.OnboardingPreview(files=await asyncio.to_thread(lambda: [shown(draft) for draft in drafts])))


async def write(params: wire.OnboardingWriteParams, caller: Caller) -> dict[str, Any]:
    onboarding = caller.get(ONBOARDING)
    shown = [(file.path, file.based_on, file.checksum) for file in params.files]
    return _json(wire.OnboardingWritten(paths=[*await onboarding.write(onboarding.agent_id(params.agent_id), shown)]))


async def _state(agent_id: str, progress: Progress, caller: Caller) -> dict[str, Any]:
    asked, question = progress.asked, progress.question
    place = len(asked) if question is None else [one.id for one in asked].index(question.id)
    phase = question.phase if question else "review"
    return _json(
        wire.OnboardingState(
            agent_id=agent_id,
            offered=await caller.get(ONBOARDING).is_offered(agent_id, progress),
            begun=progress.is_begun,
            phase=PHASES[phase],
            optional=phase in OPTIONAL,
            number=min(place + 1, len(asked)),
            total=len(asked),
            question=_question(
                question,
                progress.answers.get(question.id, Answer()),
                has_model=_model_of(agent_id, caller) is not None,
            )
            if question
            else None,
            answered=[_answered(one, progress.answers.get(one.id, Answer())) for one in asked[:place]],
            written_at=progress.written_at,
        )
    )


def _question(question: Question, given: Answer, *, has_model: bool) -> wire.OnboardingQuestion:
    return wire.OnboardingQuestion(
        id=question.id,
        text=question.text,
        kind=question.kind,
        file=question.file,
        choices=[
            wire.OnboardingChoice(id=choice.id, label=choice.label, line=choice.line) for choice in question.choices
        ],
        other=question.other,
        chosen=list(given.choices),
        words=given.text,
        can_be_phrased=has_model and can_be_phrased(question),
    )


def _answered(question: Question, given: Answer) -> wire.OnboardingAnswered:
    labels = [choice.label for choice in question.choices if choice.id in given.choices]
    return wire.OnboardingAnswered(text=question.text, answer=", ".join([*labels, *given.text.splitlines()]))


def _json(model: Wire) -> dict[str, Any]:
    return model.model_dump(by_alias=True, exclude_none=True)


OPERATIONS = (
    Operation("onboarding.state", wire.OnboardingParams, wire.OnboardingState, state, "read"),
    Operation("onboarding.answer", wire.OnboardingAnswerParams, wire.OnboardingState, answer, "admin"),
    Operation("onboarding.skip", wire.OnboardingSkipParams, wire.OnboardingState, skip, "admin"),
    Operation("onboarding.back", wire.OnboardingParams, wire.OnboardingState, back, "admin"),
    Operation(
        "onboarding.phrase", wire.OnboardingPhraseParams, wire.OnboardingPhrased, phrase, "admin", dispatch="beside"
    ),
    Operation("onboarding.preview", wire.OnboardingParams, wire.OnboardingPreview, preview, "read", dispatch="beside"),
    Operation(
        "onboarding.write", wire.OnboardingWriteParams, wire.OnboardingWritten, write, "admin", dispatch="beside"
    ),
)
