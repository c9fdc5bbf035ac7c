"""Requests that are about the memory, skills or files of text, and those that only sound so."""

import pytest

from onyx_jupyter.cell_mode.action_requests import action_request
from onyx_jupyter.cell_mode.kind_of_request import kind_of, names_data
from onyx_jupyter.cell_mode.notebook_facts import Column, Frame, NotebookFacts, SkillFact

TABLE = Frame("df", (Column("fee", "float64"), Column("stay", "object")), 1200, "", "fees.csv")
SKILLS = (SkillFact("weekly-report", "Sums up a week.", "skill_weekly_report"), SkillFact("tidy", "Tidies a notebook."))
OF_SKILLS = NotebookFacts("a.ipynb", frames=(Frame("df", (Column("skills", "object"),)),), skills=SKILLS)
FACTS = NotebookFacts("a.ipynb", frames=(TABLE,), files=("fees.csv", "notes.txt"), skills=SKILLS)


def want(request: str, facts: NotebookFacts = FACTS) -> str | None:
    found = action_request(request, facts, names_data=names_data(request, facts))
    assert (kind_of(request, facts) == "action") == (found is not None)
    return found.want if found else None


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("What do you know about me?", "recall"),
        ("what do you remember about the churn project", "recall"),
        ("Do you know my favourite colour?", "recall"),
        ("What did I tell you about Anna?", "recall"),
        ("search your memory for the deadline", "recall"),
        ("Forget that my favourite colour is blue.", "forget"),
        ("please forget what I told you about Anna", "forget"),
        ("Which skills are there?", "list_skills"),
        ("what skills do you have?", "list_skills"),
        ("Run the skill weekly report", "run_skill"),
        ("run weekly-report for October", "run_skill"),
        ("Use the tidy skill", "run_skill"),
        ("run the skill nobody-has", "run_skill"),
        ("Read notes.md and summarise it.", "read_file"),
        ("what does docs/plan.txt say?", "read_file"),
        ("Make a file todo.md with three things to buy", "write_file"),
        ("Write todo.md: count the boxes, call Ben", "write_file"),
        ("create notes/hello.txt saying hello", "write_file"),
        ("read notes.md and write a summary", "read_or_write"),
        ("Which files are here?", "list_files"),
    ],
)
def test_requests_that_need_no_code(request_: str, wanted: str) -> None:
    assert want(request_) == wanted


@pytest.mark.parametrize(
    "request_",
    [
        "What do you know about pandas?",
        "What is the mean fee?",
        "forget it",
        "Forget that.",
        "run all cells",
        "tidy the table",
        "Read fees.csv and show the first rows",
        "load notes.txt into a data frame",
        "count the words in notes.md",
        "Plot the fees and save the figure to fees.html",
        "Save the result to out.md",
        "Add milk to todo.md",
        "delete notes.md",
        "read the notebook",
        "import helpers.py",
        "Which files of data have missing values?",
        "what did I compute in the last cell?",
    ],
)
def test_ambiguous_requests_need_code_or_text(request_: str) -> None:
    assert want(request_) is None


def test_data_about_skills_needs_a_named_skill_to_be_a_skill_request() -> None:
    assert want("Which skills are the most common?", OF_SKILLS) is None
    assert want("Run the weekly report on skills", OF_SKILLS) == "run_skill"


def test_names_in_request_are_found() -> None:
    found = action_request("Read a/notes.md, then ../other.md and /etc/hosts.txt", NotebookFacts(), names_data=False)
    assert found is not None
    assert found.paths == ("a/notes.md", "../other.md")
    found = action_request("run the weekly report", FACTS, names_data=False)
    assert found is not None
    assert found.skills == SKILLS[:1]
    found = action_request("Please forget that my favourite colour is blue!", FACTS, names_data=False)
    assert found is not None
    assert found.about == "my favourite colour is blue"
