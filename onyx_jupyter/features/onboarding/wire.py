"""Onboarding on the socket."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from onyx_jupyter.operations.wire import Wire

MAX_TEXT = 2000


class OnboardingParams(Wire):
    """Without `agentId`, the default agent."""

    agent_id: str | None = None


class OnboardingAnswerParams(OnboardingParams):
    """Ids of choices, and own words. Both empty: the former answer is taken back."""

    question_id: str = Field(max_length=100)
    choices: list[str] = Field(default=[], max_length=50)
    text: str = Field(default="", max_length=MAX_TEXT)


class OnboardingPhraseParams(OnboardingParams):
    """Own words, which the agent's model turns into the text of an instruction."""

    question_id: str = Field(max_length=100)
    text: str = Field(min_length=1, max_length=MAX_TEXT)


class OnboardingPhrased(Wire):
    """`text` in place of the words, and the whole `line` that it writes."""

    text: str
    line: str


class OnboardingSkipParams(OnboardingParams):
    question_id: str = Field(max_length=100)


class OnboardingChoice(Wire):
    """`line` is what it writes, empty if nothing."""

    id: str
    label: str
    line: str


class OnboardingQuestion(Wire):
    """`one` choice, `many`, or own words: one line of `text`, or `lines`. `other` is the hint of the field for words.

    `chosen` and `words` are the answer given so far. `canBePhrased`: there is a model for `onboarding.phrase`.
    """

    id: str
    text: str
    kind: Literal["one", "many", "text", "lines"]
    file: str
    choices: list[OnboardingChoice]
    other: str
    chosen: list[str]
    words: str
    can_be_phrased: bool


class OnboardingAnswered(Wire):
    """A question that came before, and what was answered, in words; empty if it was skipped."""

    text: str
    answer: str


class OnboardingState(Wire):
    """Without `question`, the files are to be reviewed. `number` of `total` questions, from 1.

    `offered`: a new user should hear that onboarding exists. `begun`: there are answers that were never written.
    """

    agent_id: str
    offered: bool
    begun: bool
    phase: str
    optional: bool
    number: int
    total: int
    question: OnboardingQuestion | None = None
    answered: list[OnboardingAnswered]
    written_at: str | None = None


class OnboardingFile(Wire):
    """A file as it would be written. `basedOn` and `checksum` identify what it is now and what it would become.

    With a `problem` it cannot be written. `diff` is a unified diff from the file as it is now.
    """

    path: str
    is_new: bool = False
    text: str = ""
    diff: str = ""
    based_on: str = ""
    checksum: str = ""
    problem: str | None = None


class OnboardingPreview(Wire):
    """The files that would change."""

    files: list[OnboardingFile]


class OnboardingConfirmed(Wire):
    """A file as it was shown."""

    path: str = Field(max_length=100)
    based_on: str = Field(max_length=64)
    checksum: str = Field(max_length=64)


class OnboardingWriteParams(OnboardingParams):
    """Every file as it was shown; what has changed since is refused (`memory_conflict`), and nothing is written."""

    files: list[OnboardingConfirmed] = Field(max_length=20)


class OnboardingWritten(Wire):
    """The paths written, from the agent's workspace."""

    paths: list[str]


class OnboardingUpdatedData(Wire):
    """Answers or files changed, maybe in another tab: ask again."""

    agent_id: str
