import pytest

from onyx_jupyter.messages import Message, ToolCall, ToolDefinition
from onyx_jupyter.providers.light_route import result_in_words, wanted_tools
from onyx_jupyter.security.external_content import Fences

TOOLS = [
    ToolDefinition(name, name)
    for name in ("exec", "notebook_read", "notebook_insert_cell", "notebook_edit_cell", "memory_write")
]


@pytest.mark.parametrize(
    ("question", "tools"),
    [
        ("hello", []),
        ("What can you do?", []),
        ("How do I run a shell command?", []),
        ("Explain what a notebook cell is.", []),
        ("Tell me in two sentences what a notebook is.", []),
        ("What does this notebook do?", ["notebook_read"]),
        ("run ls -l", ["exec"]),
        ("Please try `git status`", ["exec"]),
        ("add a cell that prints hello to a.ipynb", ["notebook_insert_cell"]),
        ("what is in a.ipynb?", ["notebook_read"]),
        ("remember that I like tea", ["memory_write"]),
        ("use memory_write for this", ["memory_write"]),
    ],
)
def test_tools_are_offered_only_where_the_words_ask_for_them(question: str, tools: list[str]) -> None:
    assert [tool.name for tool in wanted_tools([Message("user", question)], TOOLS)] == tools


def test_nothing_is_offered_that_the_agent_does_not_offer() -> None:
    assert wanted_tools([Message("user", "run ls")], []) == []


def test_after_a_result_the_result_is_shown_and_no_tool_is_offered() -> None:
    calls = (ToolCall("c1", "exec", {}), ToolCall("c2", "memory_write", {}))
    messages = [
        Message("user", "run ls"),
        Message("assistant", "", calls),
        Message("tool", Fences().external("a ``` b", "exec"), tool_call_id="c1"),
        Message("tool", "", tool_call_id="c2"),
    ]
    assert wanted_tools(messages, TOOLS) == []
    assert result_in_words(messages) == (
        "`exec` answered:\n\n````\na ``` b\n````\n\n`memory_write` is done; it had nothing to say."
    )
    assert result_in_words(messages[:1]) is None


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ("Denied: The user said no and gave no reason.", "`exec` was not done. You said no."),
        ("Denied: Use `ls` instead.", "`exec` was not done. Use `ls` instead."),
        ("Denied.", "`exec` was not done. It was not allowed."),
        ("Denied by the server", "`exec` answered:\n\n```\nDenied by the server\n```"),
    ],
)
def test_a_call_that_was_denied_is_told_in_a_sentence(result: str, shown: str) -> None:
    messages = [
        Message("user", "run ls"),
        Message("assistant", "", (ToolCall("c1", "exec", {}),)),
        Message("tool", result, tool_call_id="c1"),
    ]
    assert result_in_words(messages) == shown


def test_a_notebook_sent_along_is_no_word_of_the_question():
    message = Message("user", "what is pandas good for", context="notebook welcome.ipynb")

    assert wanted_tools([message], [ToolDefinition("notebook_read", "Reads a notebook.")]) == []
