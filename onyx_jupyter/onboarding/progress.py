"""How far onboarding is: the answers, the next question, and the lines written last. Kept in one JSON file an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.onboarding.questions import QUESTIONS, Question
from onyx_jupyter.security.confusables import remove_invisible
from onyx_jupyter.storage.shared_document import SharedDocument

REVIEW = "review"
"""Stands in `at` for the review of the files, after the last question."""


class Answer(BaseModel):
    """The ids of the choices, and own words."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    choices: tuple[str, ...] = ()
    text: str = ""


class Progress(BaseModel):
    """`at` is the id of the next question, or `REVIEW`; `written` are the lines that onboarding last wrote, by path."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    answers: Mapping[str, Answer] = {}
    at: str = QUESTIONS[0].id
    written: Mapping[str, tuple[str, ...]] = {}
    written_at: str | None = None

    @property
    def asked(self) -> Sequence[Question]:
        """The questions that these answers lead to, in order."""
        asked: list[Question] = []
        for question in QUESTIONS:
            if question.asked_if is not None:
                former, choices = question.asked_if
                answer = self.answers.get(former)
                if answer is None or all(former != one.id for one in asked) or not {*choices} & {*answer.choices}:
                    continue
            asked.append(question)
        return asked

    @property
    def question(self) -> Question | None:
        """The one to answer now; None for the review. A question that is no longer asked gives way to the first."""
        if self.at == REVIEW:
            return None
        return next((one for one in self.asked if one.id == self.at), QUESTIONS[0])

    @property
    def is_begun(self) -> bool:
        """Whether there is something to resume."""
        return bool(self.answers) and self.written_at is None

    def with_answer(self, question_id: str, choices: Sequence[str], text: str) -> Progress:
        """With this answer, at the next question; an empty answer takes the former one back. Raises: InvalidRequest."""
        question = find_question(question_id)
        answer = _checked(question, choices, text)
        others = {name: one for name, one in self.answers.items() if name != question_id}
        answers = {**others, question_id: answer} if answer.choices or answer.text else others
        return self.model_copy(update={"answers": answers}).after(question_id)

    def after(self, question_id: str) -> Progress:
        """At the question after this one, whose answer stays as it is. Raises: InvalidRequest."""
        places = [question.id for question in QUESTIONS]
        place = places.index(find_question(question_id).id)
        following = [question.id for question in self.asked if places.index(question.id) > place]
        return self.model_copy(update={"at": following[0] if following else REVIEW})

    def back(self) -> Progress:
        """At the question before; the first one stays."""
        asked = [question.id for question in self.asked]
        here = self.question
        place = len(asked) if here is None else asked.index(here.id)
        return self.model_copy(update={"at": asked[max(0, place - 1)]})

    def with_written(self, path: str, lines: tuple[str, ...]) -> Progress:
        return self.model_copy(update={"written": {**self.written, path: lines}})

    def done(self, at: str) -> Progress:
        """Written at that time: the next onboarding begins with the first question."""
        return self.model_copy(update={"at": QUESTIONS[0].id, "written_at": at})


def progress_file(path: Path) -> SharedDocument[Progress]:
    return SharedDocument(
        path, Progress(), if_damaged="onboarding starts over, and changes no line that it wrote before"
    )


def find_question(question_id: str) -> Question:
    """Raises: InvalidRequest."""
    found = next((question for question in QUESTIONS if question.id == question_id), None)
    if found is None:
        raise InvalidRequest(f"There is no question {question_id!r}.", field="questionId")
    return found


def _checked(question: Question, choices: Sequence[str], text: str) -> Answer:
    """The answer as the table allows it: known choices in its order, words only where there is a field for them."""
    if unknown := [choice for choice in choices if question.choice(choice) is None]:
        raise InvalidRequest(f"{question.id!r} has no choice {unknown[0]!r}.", field="choices")
    words = _words(text)
    if words and not question.other:
        raise InvalidRequest(f"{question.id!r} takes no text.", field="text")
    if question.kind == "one" and len({*choices}) + bool(words) > 1:
        raise InvalidRequest(f"{question.id!r} takes one answer.", field="choices")
    return Answer(choices=tuple(choice.id for choice in question.choices if choice.id in choices), text=words)


def _words(text: str) -> str:
    """Without invisible characters, blank lines and marks of comments, which would end a block of a file."""
    plain = remove_invisible(text)[0].replace("<!--", "").replace("-->", "")
    return "\n".join(" ".join(line.split()) for line in plain.splitlines() if line.strip())
