"""Actions that are no cells: what the model is asked for them, which calls come out, and what is said of the result."""

import json
from dataclasses import replace
from typing import Any

import pytest

from onyx_jupyter.cell_mode.action_requests import ActionRequest
from onyx_jupyter.cell_mode.actions import call_of, grammar, pattern_of
from onyx_jupyter.cell_mode.notebook_facts import NotebookFacts, SkillFact
from onyx_jupyter.messages import ToolCall, ToolDefinition
from tests.cell_mode.test_model import FACTS, READS, Scripted, asked, step

REPORT = SkillFact("weekly-report", "Sums up a week.", "skill_weekly_report", {"week": "integer", "team": "string"})
TIDY = SkillFact("tidy-notebook", "Tidies a notebook.")
HERE = replace(FACTS, skills=(REPORT, TIDY))
NAMES = ("notebook_insert_cell", "memory_write", "memory_search", "read", "write", "edit", "list", "more_tools")
TOOLS = [ToolDefinition(name, "", {}) for name in NAMES]
NOTES = "     1\tAnna wants the report by Friday.\n     2\tThe budget is 4,500 euros."


def found(*notes: tuple[str, str]) -> str:
    return json.dumps({"results": [{"path": path, "snippet": text, "score": 0.5} for path, text in notes]})


def said(request: str, call: ToolCall | None, result: str, status: str, *answers: str) -> tuple[str, ToolCall | None]:
    """What follows when that call has ended so."""
    assert call is not None
    text, following, _ = step(Scripted(*answers), asked(request, (call, result, status)), HERE, TOOLS)
    return text, following


def first(request: str, *answers: str, facts: NotebookFacts = HERE, tools: Any = TOOLS) -> tuple[str, ToolCall | None]:
    text, call, _ = step(Scripted(*answers), asked(request), facts, tools)
    return text, call


def test_remembered_fact_is_looked_up_and_answered_from_notes() -> None:
    request = "What do you know about me?"
    _, call = first(request)
    assert call == ToolCall("", "memory_search", {"query": request, "limit": 6})
    notes = found(("MEMORY.md", "- Likes green\n- Works in Graz"), ("memory/2026-11-20.md", "- Likes green"))
    model = Scripted("You like green and work in Graz.")
    text, _, _ = step(model, asked(request, (call, notes, "ok")), HERE, TOOLS)
    assert text == "You like green and work in Graz."
    assert model.prompt_of_last.startswith("The result:\n- Likes green\n- Works in Graz\n\nWhat do you know about me?")
    assert [message.role for message in model.asked[0].messages[-3:]] == ["user", "assistant", "user"]
    assert said(request, call, found(), "ok") == ("I have noted nothing about that.", None)


def test_number_missing_from_notes_is_replaced_by_the_notes() -> None:
    request = "What do you know about our budget?"
    _, call = first(request)
    result = found(("MEMORY.md", "- The budget is 4,500 euros"))
    text, _ = said(request, call, result, "ok", "3,300 are left.", "It is 7 euros.")
    assert text == "```text\n- The budget is 4,500 euros\n```"


def test_agent_files_and_templates_are_not_notes() -> None:
    request = "What do you know about me?"
    _, call = first(request)
    assert call is not None
    result = found(("TOOLS.md", "Run ls"), ("MEMORY.md", "What stays true."), ("memory/facts.jsonl#f1", "Likes green"))
    model = Scripted("You like green.")
    facts = replace(HERE, boilerplate=frozenset({"What stays true."}))
    step(model, asked(request, (call, result, "ok")), facts, TOOLS)
    assert model.prompt_of_last.startswith("The result:\nLikes green\n\n")
    only = found(("MEMORY.md", "# Memory\nWhat stays true."))
    facts = replace(HERE, boilerplate=frozenset({"What stays true.", "# Memory"}))
    text, _, _ = step(Scripted(), asked(request, (call, only, "ok")), facts, TOOLS)
    assert text == "I have noted nothing about that."


def test_fact_is_forgotten_by_significant_words() -> None:
    request = "Forget that my favourite colour is blue."
    _, call = first(request)
    assert call == ToolCall("", "forget", {"pattern": "favourite*colour*blue"})
    told = "Forgotten:\n- f1 (2026-11-20): My favourite colour is blue"
    assert said(request, call, told, "ok") == (told, None)


def test_text_that_is_not_a_fact_is_removed_from_its_note() -> None:
    request = "Forget that my favourite colour is blue."
    _, call = first(request)
    text, call = said(request, call, "forget failed (tool): No fact matches …", "failed")
    assert (text, call) == ("", ToolCall("", "memory_search", {"query": "my favourite colour is blue", "limit": 5}))
    line = "- 14:02 My favourite colour is blue."
    result = found(("MEMORY.md", "- Likes blue cars"), ("memory/2026-11-20.md", f"# Notes\n{line}"))
    _, edit = said(request, call, result, "ok")
    assert edit == ToolCall("", "edit", {"path": "onyx:memory/2026-11-20.md", "oldText": line, "newText": ""})
    assert said(request, edit, "Edited …", "ok")[0] == "Forgotten: “14:02 My favourite colour is blue.”"
    assert said(request, call, found(("MEMORY.md", "- Likes blue cars")), "ok")[0] == "I have noted nothing about that."
    assert said(request, edit, "edit failed (tool): changed", "failed")[0].startswith("It could not be forgotten: ")


def test_skills_are_listed_without_model_and_run_with_requested_values() -> None:
    text, call = first("Which skills are there?")
    assert (call, text.splitlines()[1:]) == (
        None,
        ["- **weekly-report**: Sums up a week.", "- **tidy-notebook**: Tidies a notebook."],
    )
    assert first("Which skills are there?", facts=FACTS)[0] == "There is no skill that I can use here."
    chosen = {"action": "run_skill", "name": "weekly-report", "parameters": {"week": 34, "team": "sales"}}
    model = Scripted(json.dumps(chosen))
    _, call, _ = step(model, asked("Run the weekly report for week 34"), HERE, TOOLS)
    assert call == ToolCall("", "skill_weekly_report", {"week": 34})  # nobody spoke of sales
    assert "- weekly-report: Sums up a week. Parameters: week (integer), team (string)" in model.prompt_of_last
    text, _ = said("Run the weekly report for week 34", call, "Calls: 120", "ok", "There were 120 calls.")
    assert text == "There were 120 calls."


def test_answer_repeating_the_request_is_rejected() -> None:
    request = "Run the weekly report"
    call = ToolCall("", "skill_weekly_report", {})
    text, _ = said(request, call, "Calls: 120", "ok", 'Run the "weekly report".', "Run the weekly report")
    assert text == "```text\nCalls: 120\n```"


def test_instruction_skill_is_read_and_followed_in_a_cell() -> None:
    request = "Use the skill tidy notebook"
    _, call = first(request)
    assert call == ToolCall("", "skill_read", {"name": "tidy-notebook"})
    model = Scripted("print(1)")
    _, cell, _ = step(model, asked(request, (call, "Give each section a heading.", "ok")), HERE, TOOLS)
    assert cell is not None
    assert cell.name == "notebook_insert_cell"
    assert "Give each section a heading." in model.prompt


def test_file_is_read_and_answered_from() -> None:
    request = "Read notes.md and summarise it."
    _, call = first(request)
    assert call == ToolCall("", "read", {"path": "notes.md"})
    model = Scripted("Anna wants the report by Friday.")
    assert step(model, asked(request, (call, NOTES, "ok")), HERE, TOOLS)[0] == "Anna wants the report by Friday."
    assert model.prompt_of_last.startswith("The result:\nAnna wants")
    invented = said(request, call, NOTES, "ok", "It is for Clara, as Ben said.", "They told Clara.")[0]
    assert invented.startswith("```text\nAnna wants")
    assert said(request, call, "read failed (not_found): there is none", "failed")[0].startswith(
        "It did not work: read"
    )
    assert said(request, call, "Denied.", "denied") == ("Not done, as you wished.", None)


def test_only_requested_file_is_written_with_model_text() -> None:
    request = "Make a file todo.md with two things to pack"
    written = {"action": "write_file", "path": "todo.md", "content": "- a map\n- a book"}
    model = Scripted(json.dumps(written))
    _, call, _ = step(model, asked(request), HERE, TOOLS)
    assert call == ToolCall("", "write", {"path": "todo.md", "content": "- a map\n- a book\n"})
    assert model.asked[0].guidance is not None
    assert '\\"todo.md\\"' in (model.asked[0].guidance.grammar or "")
    assert said(request, call, "Wrote the new file todo.md: 2 lines, 16 B.", "ok")[0].startswith("Wrote the new file")
    other = json.dumps({**written, "path": "other.md"})
    _, call = first(request, other, "no JSON at all", "open('todo.md', 'w').write('- a map')")
    assert call is not None
    assert call.name == "notebook_insert_cell"  # the way out is a cell, which is shown before it runs


def test_text_read_for_another_file_is_written_to_it() -> None:
    request = "Read notes.md and write a short version into short.md"
    reading = ToolCall("", "read", {"path": "notes.md"})
    assert first(request, '{"action": "read_file", "path": "notes.md"}')[1] == reading
    written = json.dumps({"action": "write_file", "path": "short.md", "content": "Report by Friday."})
    _, call = said(request, reading, NOTES, "ok", written)
    assert call == ToolCall("", "write", {"path": "short.md", "content": "Report by Friday.\n"})


def test_files_are_listed_unchanged() -> None:
    _, call = first("Which files are here?")
    assert call == ToolCall("", "list", {})
    assert said("Which files are here?", call, "The server’s root: 1 files\na.md  1 B", "ok")[0] == (
        "```text\nThe server’s root: 1 files\na.md  1 B\n```"
    )


@pytest.mark.parametrize(
    "request_", ["Forget that I like blue", "Run the weekly report", "Make a file todo.md with a poem"]
)
def test_without_write_permission_nothing_is_called(request_: str) -> None:
    answers = json.dumps({"action": "write_file", "path": "todo.md", "content": "a"})
    if "report" in request_:
        answers = json.dumps({"action": "run_skill", "name": "weekly-report", "parameters": {}})
    text, call = first(request_, answers, tools=READS)
    assert call is None
    assert "which I do not have here" in text


def test_unexpected_json_is_not_an_action() -> None:
    wanted = ActionRequest("write_file", paths=("a.md",))
    for answer in (
        "",
        "{",
        "[]",
        "3",
        '{"action": "write_file", "path": "a.md"}',
        '{"action": "read_file", "path": "b"}',
    ):
        assert call_of(answer, wanted, "write a.md") is None
    assert call_of('{"action": "run_skill", "name": "x", "parameters": 3}', wanted, "run x") is None


def test_grammar_contains_names_from_request() -> None:
    both = grammar(ActionRequest("read_or_write", paths=("a.md", "b.md")))
    assert both.startswith(
        'root ::= ("{\\"action\\": \\"read_file\\", " "\\"path\\": " ("\\"a.md\\"" | "\\"b.md\\"") "}")'
    )
    assert "write_file" in both
    skills = grammar(ActionRequest("run_skill", skills=(REPORT, TIDY)))
    assert '"\\"week\\": " number' in skills
    assert '"\\"team\\": " text' in skills
    assert "read_file" not in skills


def test_pattern_consists_of_significant_words() -> None:
    assert pattern_of("that the deadline is the 3rd of March") == "deadline*3rd*March"
    assert pattern_of("it") == "it"
