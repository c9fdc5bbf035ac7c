"""However a person edits the files between two onboardings, no line of theirs is changed, moved or lost."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.onboarding.documents import PATHS, TITLES, lines_of_file, revised
from onyx_jupyter.onboarding.progress import Progress
from onyx_jupyter.onboarding.questions import QUESTIONS

WORKSPACE = Path(__file__).parents[2] / "workspace"
MINE = ("- mine {n}", "mine {n}", "## Mine {n}", "- Name: mine {n}", "<!-- mine {n} -->", "- Short and plain, mine {n}")
ANSWERS = st.lists(
    st.tuples(st.sampled_from(QUESTIONS), st.sets(st.integers(0, 6)), st.sampled_from(["", "Words", "Two\nlines"])),
    max_size=20,
)
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "delete", "change", "blank", "end here"]),
        st.integers(0, 200),
        st.sampled_from(MINE),
    ),
    max_size=15,
)


def template(path: str) -> str:
    return TITLES.get(path) or (WORKSPACE / path).read_text()


def answered(progress: Progress, answers: list[tuple]) -> Progress:
    for question, chosen, words in answers:
        choices = [choice.id for place, choice in enumerate(question.choices) if place in chosen]
        if question.kind == "one":
            choices = choices[:1]
            words = "" if choices else words
        progress = progress.with_answer(question.id, choices, words if question.other else "")
    return progress


def edited(text: str, edits: list[tuple[str, int, str]], end: str, rounds: int) -> str:
    lines = text.splitlines()
    for n, (what, place, mine) in enumerate(edits):
        at = place % (len(lines) + 1)
        line = mine.format(n=f"{rounds}.{n}.")
        if what in ("insert", "blank"):
            lines.insert(at, line if what == "insert" else "")
        elif lines and what in ("change", "delete"):
            at %= len(lines)
            lines[at : at + 1] = [line] if what == "change" else []
        elif what == "end here":
            lines = lines[: max(at, 1)]
    return end.join(lines) + (end if rounds % 2 else "")


def mine_in(text: str) -> list[str]:
    return [line for line in text.splitlines() if "mine " in line.casefold()]


@given(
    path=st.sampled_from(PATHS),
    rounds=st.lists(st.tuples(ANSWERS, EDITS), min_size=1, max_size=4),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_lines_of_a_person_stay_in_order_and_a_repetition_changes_nothing(
    path: str, rounds: list[tuple[list, list]], end: str
) -> None:
    progress, text = Progress(), template(path).replace("\n", end)
    for number, (answers, edits) in enumerate(rounds):
        text = edited(text, edits, end, number)
        progress = answered(progress, answers)
        after = revised(path, text, template(path), progress)
        assert mine_in(after) == mine_in(text)
        if after != text:
            progress = progress.with_written(path, lines_of_file(progress, path))
        text = after
        assert revised(path, text, template(path), progress) == text
