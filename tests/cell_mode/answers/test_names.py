"""Names that stand nowhere are found, and words that only begin a sentence are none."""

import pytest

from onyx_jupyter.cell_mode.answers.names import denied_lines, unfounded_name

KNOWN = ["- Anna wants the churn report by Friday", "What does Zoë's note say about Ben?"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Anna wants it by Friday.", None),
        ("You know that Ben’s note is there, and Anna's. Nothing else is. It ends.", None),
        ("We went to the sea with Clara.", "Clara"),
        ("It is Zoë's. I think so", None),
        ("- One\n- Two: “Three.” “Four”", None),
        ("", None),
    ],
)
def test_names_within_a_sentence_must_occur_in_sources(text: str, name: str | None) -> None:
    assert unfounded_name(text, KNOWN) == name


FOUND = "Anna wants the report by Friday.\nBen moves to Vienna in June.\nThe budget: 4,500 euros."


@pytest.mark.parametrize(
    ("answer", "request_", "lines"),
    [
        ("notes.md says nothing about Ben.", "What does notes.md say about Ben?", "Ben moves to Vienna in June."),
        ("It does not mention a budget.", "what about the budget", "The budget: 4,500 euros."),
        ("notes.md says nothing about hotels.", "What does notes.md say about hotels?", ""),
        ("Ben moves to Vienna.", "What does notes.md say about Ben?", ""),
        ("It says nothing.", "Read reports/june.md and summarise it.", FOUND),
        ("It says that Ben moves.", "Read reports/june.md and summarise it.", ""),
    ],
)
def test_denied_names_are_looked_up(answer: str, request_: str, lines: str) -> None:
    assert denied_lines(answer, FOUND, request_) == lines
