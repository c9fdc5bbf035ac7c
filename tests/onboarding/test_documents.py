"""What the answers make of the files: new ones, edited ones, and ones that onboarding wrote before."""

from pathlib import Path

from onyx_jupyter.onboarding.documents import PATHS, TITLES, lines_of_file, revised
from onyx_jupyter.onboarding.progress import Progress
from onyx_jupyter.onboarding.questions import QUESTIONS

WORKSPACE = Path(__file__).parents[2] / "workspace"
BEGIN, END = "<!-- From /onboard: How you speak. Edit freely. -->", "<!-- End of /onboard. -->"
PRAISE = "- No filler praise. State corrections directly."


def answers(*given, progress=None):
    progress = progress or Progress()
    for question_id, *choices in given:
        progress = progress.with_answer(question_id, choices, "")
    return progress


def template(path):
    return TITLES.get(path) or (WORKSPACE / path).read_text()


def as_written(progress):
    for path in PATHS:
        progress = progress.with_written(path, lines_of_file(progress, path))
    return progress


def everything(of):
    """All questions, each with as many choices as `of` takes, and with words where there are no choices."""
    progress = Progress()
    for question in QUESTIONS:
        choices = ["yes"] if question.id == "more" else [choice.id for choice in question.choices]
        chosen = of(choices) if question.kind == "many" else choices[:1]
        progress = progress.with_answer(question.id, chosen, "" if choices else "Words")
    return progress


def test_a_soul_has_thirty_to_eighty_lines():
    for progress in (everything(lambda choices: choices[:1]), everything(lambda choices: choices)):
        text = revised("SOUL.md", template("SOUL.md"), template("SOUL.md"), progress)
        assert 30 <= len(text.splitlines()) <= 80


def test_a_new_workspace_keeps_its_text_apart_from_what_an_answer_makes_obsolete():
    progress = answers(("length", "thorough"), ("annoyances", "sycophancy"), ("assistant", "onyx"))
    before = template("SOUL.md")
    text = revised("SOUL.md", before, before, progress)
    gone = [line for line in before.splitlines() if line not in text.splitlines()]
    assert [line[:17] for line in gone] == ["- Short and plain"]
    block = f"{BEGIN}\n{PRAISE}\n- In the person's language: result, method, assumptions, limits.\n{END}\n"
    assert f"\n\n{block}\n## What you never do\n" in text
    identity = revised("IDENTITY.md", template("IDENTITY.md"), template("IDENTITY.md"), progress)
    assert identity.count("- Name:") == 1


def test_files_of_the_optional_phases_are_new_and_named_in_the_users_file():
    progress = everything(lambda choices: choices[:1])
    mission = revised("USER/MISSION.md", "", template("USER/MISSION.md"), progress)
    assert mission == "# Mission\n\n<!-- From /onboard: Mission. Edit freely. -->\n- Words\n<!-- End of /onboard. -->\n"
    user = revised("USER.md", "", template("USER.md"), progress)
    assert "read USER/MISSION.md, USER/GOALS.md, USER/BELIEFS.md when" in user
    assert "USER/" not in revised("USER.md", "", template("USER.md"), answers(("role", "analyst")))


def test_a_file_without_answers_is_not_touched():
    for path in PATHS:
        assert revised(path, "Mine.\n", template(path), Progress()) == "Mine.\n"
        assert revised(path, "", template(path), Progress()) == ""


def test_the_same_answers_change_nothing_the_second_time():
    progress = as_written(everything(lambda choices: choices))
    for path in PATHS:
        once = revised(path, template(path), template(path), progress)
        assert revised(path, once, template(path), progress) == once


def test_a_repeated_onboarding_changes_only_lines_that_it_wrote():
    first = as_written(answers(("annoyances", "sycophancy", "hedging")))
    text = revised("SOUL.md", "# My soul\n\n- Mine.\n", template("SOUL.md"), first)
    hedging = "- Commit to one answer. Name the one thing that could change it."
    edited = text.replace(PRAISE, "- Praise me on Fridays.").replace(END, f"- Added by me.\n{END}")
    second = answers(("annoyances", "lectures"), progress=first)
    again = revised("SOUL.md", edited, template("SOUL.md"), second)
    assert again == edited.replace(f"{hedging}\n", "").replace(
        f"{BEGIN}\n", f"{BEGIN}\n- No warnings or moral advice that nobody asked for.\n"
    )
    for mine in ("- Praise me on Fridays.\n", "- Added by me.\n", "- Mine.\n"):
        assert mine in again


def test_a_line_that_a_person_moved_out_of_the_block_is_theirs_and_not_added_twice():
    progress = as_written(answers(("annoyances", "sycophancy")))
    moved = f"# Soul\n\n## How you speak\n\n{PRAISE}\n\n{BEGIN}\n{END}\n"
    assert revised("SOUL.md", moved, template("SOUL.md"), progress).count(PRAISE) == 1
    none = answers(("annoyances",), progress=progress)
    assert PRAISE in revised("SOUL.md", moved, template("SOUL.md"), none)


def test_an_emptied_block_goes_with_its_comments():
    begun = "# Soul\n\n## How you speak\n\n- Mine.\n\n## Last\n"
    first = as_written(answers(("annoyances", "sycophancy")))
    text = revised("SOUL.md", begun, template("SOUL.md"), first)
    assert revised("SOUL.md", text, template("SOUL.md"), answers(("annoyances",), progress=first)) == begun


def test_a_block_is_found_under_a_heading_with_another_name_and_without_its_end():
    first = as_written(answers(("annoyances", "sycophancy")))
    text = f"# Soul\n\n## Tone\n\n{BEGIN}\n{PRAISE}\n\n## Rules\n\n{PRAISE[2:]}\n"
    second = answers(("annoyances", "lectures"), progress=first)
    again = revised("SOUL.md", text, template("SOUL.md"), second)
    assert again == text.replace(PRAISE, "- No warnings or moral advice that nobody asked for.")


def test_windows_line_ends_stay():
    text = revised("USER.md", "# User\r\n\r\n- Mine\r\n", template("USER.md"), answers(("python", "expert")))
    assert text.count("\n") == text.count("\r\n") > 3


def test_a_persons_own_line_is_never_taken_for_one_of_a_new_workspace():
    text = "# User\n\n- Name: Ada\n- Name:\n"
    again = revised("USER.md", text, template("USER.md"), Progress().with_answer("name", [], "Bob"))
    assert "- Name: Ada\n" in again
    assert "- Name:\n" not in again


def test_a_line_that_a_person_changed_or_removed_is_not_written_again_unless_its_block_is_gone():
    progress = as_written(answers(("annoyances", "sycophancy"), ("python", "expert")))
    text = revised("SOUL.md", "# Soul\n", template("SOUL.md"), progress)
    for edited in (text.replace(PRAISE, "- Praise me."), text.replace(f"{PRAISE}\n", "- Mine.\n")):
        assert revised("SOUL.md", edited, template("SOUL.md"), progress) == edited
    assert PRAISE in revised("SOUL.md", "# Soul\n", template("SOUL.md"), progress)


def test_a_block_that_a_person_emptied_stays_empty_however_often_onboarding_is_repeated():
    progress = as_written(answers(("annoyances", "sycophancy")))
    emptied = revised("SOUL.md", "# Soul\n", template("SOUL.md"), progress).replace(f"{PRAISE}\n", "")
    once = revised("SOUL.md", emptied, template("SOUL.md"), progress)
    assert revised("SOUL.md", once, template("SOUL.md"), progress) == once == emptied
