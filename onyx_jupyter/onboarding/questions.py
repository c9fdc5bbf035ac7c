"""The questions of onboarding: one table. Each choice shows the line that it writes; none means that it writes nothing.
Lines become items of a list.

`{text}` stands for the person's own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

SOUL, USER, IDENTITY, AGENTS = "SOUL.md", "USER.md", "IDENTITY.md", "AGENTS.md"
MISSION, GOALS, BELIEFS = "USER/MISSION.md", "USER/GOALS.md", "USER/BELIEFS.md"
ON_DEMAND = (MISSION, GOALS, BELIEFS)
"""Not part of the prompt: a line of USER.md says where they are."""
ABOUT = "About me"
"""The section of USER.md."""

Phase = Literal["you", "work", "goals", "beliefs", "review"]
PHASES: Mapping[Phase, str] = {
    "you": "About you",
    "work": "How Onyx works",
    "goals": "Mission and goals",
    "beliefs": "Beliefs",
    "review": "Review",
}
OPTIONAL: frozenset[Phase] = frozenset({"goals", "beliefs"})

Kind = Literal["one", "many", "text", "lines"]
"""One choice, any number of choices, one line of text, or several."""


@dataclass(frozen=True, slots=True)
class Choice:
    id: str
    label: str
    line: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """`file` and `section` are where the lines go. `other` is the hint of the field for one's own words.

    Asked only after one of the choices of an earlier question in `asked_if` (question, choices), if given.
    `replaces` are the beginnings of lines that a new workspace has, and that an answer makes obsolete.
    """

    id: str
    phase: Phase
    text: str
    kind: Kind
    file: str = ""
    section: str = ""
    choices: tuple[Choice, ...] = ()
    other: str = ""
    other_line: str = "{text}"
    asked_if: tuple[str, tuple[str, ...]] | None = None
    replaces: tuple[str, ...] = ()

    def choice(self, choice_id: str) -> Choice | None:
        return next((choice for choice in self.choices if choice.id == choice_id), None)


_YES = ("more", ("yes",))

QUESTIONS: tuple[Question, ...] = (
    Question(
        *("name", "you", "What should Onyx call you?", "text", USER, ABOUT),
        other="Your name",
        other_line="Name: {text}",
        replaces=("- Name:",),
    ),
    Question(
        *("role", "you", "What do you do?", "one", USER, ABOUT),
        choices=(
            Choice("analyst", "Analyze data", "Work: data analysis"),
            Choice("researcher", "Research", "Work: research"),
            Choice("engineer", "Build software or models", "Work: software and machine learning engineering"),
            Choice("teacher", "Teach", "Work: teaching"),
            Choice("student", "Study", "Work: studying"),
        ),
        other="What you work on",
        other_line="Work: {text}",
        replaces=("- What I work on:",),
    ),
    Question(
        *("readers", "you", "Who reads your results?", "one", USER, ABOUT),
        choices=(
            Choice("team", "My team and I", "My results are read by my team: code may stay visible."),
            Choice("managers", "Managers", "My results are read by managers: the conclusion first, code last."),
            Choice("public", "Customers or the public", "My results are published: plots need titles and units."),
        ),
        other="Who reads them",
        other_line="My results are read by: {text}",
        asked_if=("role", ("analyst",)),
    ),
    Question(
        *("field", "you", "What is your field?", "text", USER, ABOUT),
        other="Ecology, econometrics, …",
        other_line="Field: {text}. Use its terms.",
        asked_if=("role", ("researcher", "student")),
    ),
    Question(
        *("target", "you", "What becomes of your notebooks?", "one", USER, ABOUT),
        choices=(
            Choice("explore", "They stay notebooks", "My notebooks are for exploring: speed before polish."),
            Choice("jobs", "They run as jobs", "My notebooks run as jobs: parameters first, no hidden state."),
            Choice("packages", "They become packages", "My notebooks become packages: typed, tested functions."),
        ),
        other="What becomes of them",
        other_line="My notebooks: {text}",
        asked_if=("role", ("engineer",)),
    ),
    Question(
        *("pupils", "you", "Whom do you teach?", "one", USER, ABOUT),
        choices=(
            Choice("beginners", "Beginners", "I teach beginners: one idea a cell, no clever code."),
            Choice("students", "University students", "I teach students: name the method and its assumptions."),
            Choice("colleagues", "Colleagues", "I teach colleagues: use realistic data from our work."),
        ),
        other="Whom you teach",
        other_line="I teach: {text}",
        asked_if=("role", ("teacher",)),
    ),
    Question(
        *("python", "you", "How well do you know Python?", "one", USER, ABOUT),
        choices=(
            Choice("new", "I’m new to it", "Python: new to it. Explain each function the first time it is used."),
            Choice("everyday", "I use it every day", "Python: everyday use. Explain only what is unusual."),
            Choice("expert", "I could teach it", "Python: expert. Skip the basics; talk about trade-offs."),
        ),
        other="Another language, or your level",
        other_line="Languages and level: {text}",
    ),
    Question(
        *("libraries", "you", "What do you like to work with?", "many", USER, ABOUT),
        choices=(
            Choice("pandas", "pandas", "Tables: pandas, unless the notebook already uses something else."),
            Choice("polars", "Polars", "Tables: Polars, unless the notebook already uses something else."),
            Choice("matplotlib", "Matplotlib or seaborn", "Plots: Matplotlib or seaborn."),
            Choice("plotly", "Plotly", "Plots: Plotly, if they should be interactive."),
            Choice("sklearn", "scikit-learn", "Models: scikit-learn first, with a simple baseline."),
            Choice("torch", "PyTorch", "Deep learning: PyTorch."),
            Choice("sql", "SQL", "Queries: SQL where the data is; load only the result."),
        ),
        other="Other libraries or tools",
        other_line="Also: {text}",
        replaces=("- Libraries and style I prefer",),
    ),
    Question(
        *("annoyances", "work", "What annoys you about assistants?", "many", SOUL, "How you speak"),
        choices=(
            Choice("sycophancy", "Sycophancy", "No filler praise. State corrections directly."),
            Choice("rambling", "Long answers", "Stop when the question is answered. No closing summaries."),
            Choice("hedging", "Hedging", "Commit to one answer. Name the one thing that could change it."),
            Choice("questions", "Too many questions", "Ask only what changes the next step; state other assumptions."),
            Choice("overreach", "Doing more than I asked", "Do what was asked. Offer anything else in one line."),
            Choice("invention", "Making things up", "Say “I don't know” rather than guess. Cite cells and files."),
            Choice("lectures", "Lectures", "No warnings or moral advice that nobody asked for."),
        ),
        other="What else annoys you",
        other_line="Avoid: {text}",
    ),
    Question(
        *("length", "work", "How long should answers be?", "one", SOUL, "How you speak"),
        choices=(
            Choice("brief", "Brief", "A few lines in the person's language, the result first."),
            Choice("balanced", "Result, then reasons", "In the person's language: the result, then short reasons."),
            Choice("thorough", "Thorough", "In the person's language: result, method, assumptions, limits."),
        ),
        other="How you like answers",
        other_line="Answers: {text}",
        replaces=("- Short and plain",),
    ),
    Question(
        *("initiative", "work", "How should Onyx begin a larger task?", "one", SOUL, "How you work"),
        choices=(
            Choice("plan", "Show me a plan first", "Before a task of several steps, show a plan and wait for a yes."),
            Choice("begin", "Just begin", "Begin with the first step at once, and report at each result."),
            Choice("options", "Offer several ways", "If there are several good ways, offer them and recommend one."),
        ),
        other="How to begin",
        other_line="Larger tasks: {text}",
    ),
    Question(
        *("disagreement", "work", "When Onyx thinks you are wrong, it should…", "one", SOUL, "How you work"),
        choices=(
            Choice("say", "Say so at once", "When the person is wrong, say so at once, with the evidence."),
            Choice("ask", "Ask a question", "When the person seems wrong, ask the question that would show it."),
            Choice("follow", "Do it and note it", "When the person seems wrong, do it and note the doubt in a line."),
        ),
        other="What it should do",
        other_line="When you disagree: {text}",
    ),
    Question(
        *("boundaries", "work", "What should it ask about, even if it is allowed?", "many", AGENTS, "Boundaries"),
        choices=(
            Choice("packages", "Installing packages", "Ask before you install, upgrade or remove packages."),
            Choice("data", "Changing data files", "Ask before you change a data file; write results to a new one."),
            Choice("long", "Long computations", "Ask before you run what may take more than a few minutes."),
            Choice("network", "Sending data out", "Ask before you send any data to a service on the network."),
            Choice("git", "Commits and pushes", "Ask before you commit, and never push."),
            Choice("costs", "Anything that costs money", "Ask before you use anything that costs money."),
        ),
        other="What else to ask about",
        other_line="Ask before: {text}",
    ),
    Question(
        *("assistant", "work", "What is your assistant’s name?", "one", IDENTITY, "Personality"),
        choices=(Choice("onyx", "Onyx", "Name: Onyx"),),
        other="Another name",
        other_line="Name: {text}, also where other files say Onyx",
        replaces=("- Name:",),
    ),
    Question(
        *("manner", "work", "Whom should it be like?", "one", IDENTITY, "Personality"),
        choices=(
            Choice("colleague", "A calm colleague", "Manner: a calm colleague, matter-of-fact and dry"),
            Choice("tutor", "A patient tutor", "Manner: a patient tutor, who lets one find the last step"),
            Choice("reviewer", "A blunt reviewer", "Manner: a blunt reviewer, who looks for what breaks"),
            Choice("scientist", "A curious scientist", "Manner: a curious scientist, who asks what would disprove it"),
        ),
        other="Someone else",
        other_line="Manner: {text}",
    ),
    Question(
        *("more", "work", "That is enough to start. Go on with mission, goals and beliefs?", "one"),
        choices=(Choice("no", "Show me the files"), Choice("yes", "Five more questions")),
    ),
    Question(
        *("mission", "goals", "What is your work for?", "lines", MISSION, "Mission"),
        other="One sentence is enough",
        asked_if=_YES,
    ),
    Question(
        *("goals", "goals", "What do you want to reach this year?", "lines", GOALS, "Goals"),
        other="One goal a line",
        asked_if=_YES,
    ),
    Question(
        *("reminders", "goals", "When should Onyx bring up your goals?", "one", GOALS, "Goals"),
        choices=(
            Choice("drift", "When I drift away", "Say so in one line when a request leads away from these goals."),
            Choice("choices", "When I have to choose", "Use these goals to recommend between options."),
            Choice("asked", "Only when I ask", "Don't bring these goals up unless asked."),
        ),
        other="When to bring them up",
        other_line="Bring these goals up: {text}",
        asked_if=_YES,
    ),
    Question(
        *("beliefs", "beliefs", "What do you believe about good work?", "many", BELIEFS, "Beliefs"),
        choices=(
            Choice("simple", "Simple first", "Simple before clever: complex methods must beat simple ones."),
            Choice("reproducible", "Reproducible first", "A result that can't be reproduced doesn't count."),
            Choice("data", "Look at the data first", "Look at the data before modeling it."),
            Choice("small", "Small steps", "Small steps that work beat big ones that may."),
        ),
        other="What you believe",
        asked_if=_YES,
    ),
    Question(
        *("trust", "beliefs", "What makes you trust a result?", "many", BELIEFS, "Beliefs"),
        choices=(
            Choice("baseline", "A baseline to compare with", "A result needs a baseline to compare with."),
            Choice("uncertainty", "Its uncertainty", "A number needs its uncertainty."),
            Choice("check", "A second way to get it", "A surprising result needs a second way to get it."),
            Choice("source", "The source of the data", "A result names the source and the date of its data."),
        ),
        other="What else you need",
        other_line="I trust a result with: {text}",
        asked_if=_YES,
    ),
)  # fmt: skip
"""In the order in which they are asked."""
