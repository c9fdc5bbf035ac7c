"""The benchmark of answers: how it reads questions, asks Onyx, looks at pictures, and tells what came of it."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest

from benchmarks.agent import actions, first_minute, follow_ups
from benchmarks.agent.__main__ import main
from benchmarks.agent.checks import draws, shows_numbers, task
from benchmarks.agent.dabench import read_tasks
from benchmarks.agent.example_data import WELCOME, customers
from benchmarks.agent.onyx import NOTEBOOK, Onyx, configuration
from benchmarks.agent.pictures import pictures_of
from benchmarks.agent.report import Result, as_failures, as_json, as_table
from benchmarks.agent.task import Turn, Verdict
from onyx_jupyter.testing.script import Call, Reply, Say
from onyx_jupyter.testing.scripted_server import Received, ScriptedServer

QUESTION = {
    "id": 7,
    "question": "What is the mean number of legs?",
    "concepts": ["Summary Statistics"],
    "constraints": "Round to one decimal.",
    "format": '@mean_legs[mean] where "mean" is a number rounded to one decimal.',
    "file_name": "animals.csv",
    "level": "easy",
    "labels": [["mean_legs", "3.5"]],
}
CODE = "import pandas as pd\nprint(pd.read_csv('animals.csv')['legs'].mean())"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A sample as DABench has it, of one question."""
    folder = tmp_path / "data"
    (folder / "tables").mkdir(parents=True)
    (folder / "tables" / "animals.csv").write_text("name,legs\ncat,4\nhen,2\ncow,4\ndog,4\n")
    (folder / "questions.jsonl").write_text(json.dumps(QUESTION) + "\n")
    return folder


def scripted(provider: ScriptedServer) -> dict[str, Any]:
    """The benchmark's configuration, with a scripted model."""
    providers = {"openai": {"baseUrl": provider.base_url, "apiKey": "sk-scripted"}}
    return configuration("openai/scripted") | {"providers": providers}


def adds_cells(notebook: str, asked: list[Received], *turns: tuple[str, str]) -> Callable[[Received], Reply]:
    """In each turn a cell is inserted and run, and then it says something: (source, words)."""

    def reply(request: Received) -> Reply:
        if "tools" not in request.body:
            return "A title"
        asked.append(request)
        turn, step = divmod(len(asked) - 1, 3)
        source, words = turns[turn]
        if step == 0:
            return [Call("notebook_insert_cell", {"path": notebook, "cellType": "code", "source": source})]
        inserted = re.findall(r"Inserted code cell (\S+)", json.dumps(request.body["messages"]))[-1]
        return [Call("notebook_run_cell", {"path": notebook, "cellId": inserted})] if step == 1 else words

    return reply


def with_question(data: Path, **changes: object) -> Path:
    data.joinpath("questions.jsonl").write_text(json.dumps(QUESTION | changes) + "\n")
    return data


def test_message_has_question_constraints_format_and_file_but_no_answer(data: Path) -> None:
    (one,) = read_tasks(data)
    (message,) = one.messages
    for part in ("question", "constraints", "format", "file_name"):
        assert str(QUESTION[part]) in message
    assert "3.5" not in message
    assert [file.name for file in one.files] == ["animals.csv"]


def test_question_is_judged_by_answer_and_code_output(data: Path) -> None:
    (one,) = read_tasks(data)

    def judged(answer: str, *outputs: str) -> Verdict:
        return one.judge([Turn("", answer, outputs)])

    solved, right, unsaid = judged("@mean_legs[3.5]"), judged("It is 3.5."), judged("I see.", "3.5")
    assert (solved.right, solved.solved, solved.computed) == (True, True, False)
    assert (right.right, right.solved) == (True, False)
    assert (unsaid.right, unsaid.computed, unsaid.missing) == (False, True, "wanted @mean_legs[3.5]")


def test_invalid_data_is_reported_with_line(data: Path) -> None:
    with pytest.raises(ValueError, match=r"questions.jsonl, line 1: there is no table .*none.csv"):
        read_tasks(with_question(data, file_name="none.csv"))
    with pytest.raises(ValueError, match="line 1: labels: "):
        read_tasks(with_question(data, labels="?"))
    with pytest.raises(ValueError, match="--data takes the folder"):
        read_tasks(data / "tables")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--model", "local//nowhere/model.gguf"], "There is no file /nowhere/model.gguf"),
        (["--model", "openai/gpt"], "only models on this machine"),
        (["--model", "local/x", "--ids", "8"], "there is no 8, only 7"),
        (["--model", "local/x", "--level", "none"], "there is no none, only easy"),
        (["--model", "local/x", "--limit", "0"], "No question is left"),
        (["--model", "local/x", "--set", "first_minute", "--system", "one_shot"], "does not see"),
    ],
)
def test_invalid_option_is_rejected(
    data: Path, arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--data", str(data), *arguments])
    assert problem in " ".join(capsys.readouterr().err.split())


def test_onyx_is_asked_with_notebook_open_and_its_work_is_kept(data: Path, tmp_path: Path) -> None:
    (one,) = read_tasks(data)
    asked: list[Received] = []
    with ScriptedServer(adds_cells(NOTEBOOK, asked, (CODE, "The mean is 3.5: @mean_legs[3.5]"))) as provider:
        (turn,) = Onyx(scripted(provider), writing_s=0.2).run(one, tmp_path / "kept")
    assert turn.error == ""
    assert f"the notebook in front is {NOTEBOOK}" in json.dumps(asked[0].body["messages"])
    assert turn.answer == "The mean is 3.5: @mean_legs[3.5]"
    assert list(turn.tools) == ["notebook_insert_cell", "notebook_run_cell"]
    assert turn.cell_outputs == ["3.5\n"]
    assert not any("Ran" in text for text in turn.outputs)
    assert turn.model_calls == 3
    assert turn.prompt_tokens > 0
    assert turn.completion_tokens > 0
    verdict = one.judge([turn])
    assert (verdict.right, verdict.solved, verdict.computed) == (True, True, True)
    kept = nbformat.read(tmp_path / "kept" / NOTEBOOK, as_version=4)
    assert kept.cells[-1].source == CODE
    assert any("3.5" in file.read_text("utf-8") for file in (tmp_path / "kept").glob("*.jsonl"))


@pytest.mark.timeout(400)
def test_second_question_uses_an_executed_notebook(tmp_path: Path) -> None:
    one = next(one for one in follow_ups.TASKS if one.id == "as_a_bar_chart")
    rates = 'rates = customers.groupby("contract")["churned"].mean()\nprint(rates)'
    chart = 'rates.plot.bar(ylabel="churn rate")'
    script = adds_cells(WELCOME.name, [], (rates, "There it is."), (chart, "There it is as bars."))
    with ScriptedServer(script) as provider:
        first, second = Onyx(scripted(provider), writing_s=0).run(one, tmp_path / "kept")
    assert "monthly" in "".join(first.cell_outputs)
    assert second.answer == "There it is as bars."
    assert len(second.touched) == 1
    assert second.model_calls == 3
    assert one.judge([first, second]).right
    assert not one.judge([first, first]).right


def test_answer_over_time_limit_is_stopped_and_counts_as_error(data: Path, tmp_path: Path) -> None:
    (one,) = read_tasks(data)
    with ScriptedServer(lambda _: [Say("and so on " * 1000, chunk_chars=10, delay_s=0.2)]) as provider:
        (turn,) = Onyx(scripted(provider), time_limit_s=4, writing_s=0).run(one, tmp_path / "kept")
    assert turn.error == "no answer within 4 s"
    assert turn.answer == ""
    assert not one.judge([turn]).right


def code(identity: str, source: str, *texts: str, picture: bool = False) -> dict[str, object]:
    outputs = [{"output_type": "stream", "name": "stdout", "text": text} for text in texts]
    shown = [{"output_type": "display_data", "data": {"image/png": "…"}, "metadata": {}}] if picture else []
    return {"id": identity, "cell_type": "code", "source": source, "outputs": [*outputs, *shown]}


BARS = """\
import matplotlib.pyplot as plt
figure, axes = plt.subplots()
axes.bar(["one", "two"], [0.25, 0.5])
axes.set(xlabel="contract", ylabel="churn rate")
plt.show()"""


def test_figure_is_recognized_by_axes_and_artists() -> None:
    cells = [code("a", "import matplotlib.pyplot as plt\nplt.plot([1, 2])"), code("b", BARS), code("c", "1 / 0")]
    (picture,) = pictures_of(cells, frozenset({"b"}))
    assert set(picture.labels) == {"contract", "churn rate"}
    assert {"one", "two"} <= set(picture.names)
    assert picture.heights == [0.25, 0.5]


def test_plot_needs_image_labels_and_heights() -> None:
    turn = Turn("", cells=[code("b", BARS, picture=True)], touched=frozenset({"b"}))
    check = draws("churn", heights=lambda: [0.25, 0.5], names=["one"])
    assert check(turn) == ""
    assert draws("calls")(turn) == "a label with calls"
    assert draws(heights=lambda: [0.7])(turn) == "heights 0.7"
    assert check(replace(turn, cells=[code("b", BARS)])) == "a picture below a cell"
    assert check(replace(turn, touched=frozenset())) == "a picture below a cell"


def test_only_output_of_touched_cell_counts_as_shown() -> None:
    rates = customers().groupby("contract")["churned"].mean()
    shown = "\n".join(f"{name} {rate:.1%}" for name, rate in rates.items())
    one = task("x", WELCOME, "Add it.", check=shows_numbers(lambda: rates, share=True))
    turn = Turn("", "Done.", cells=[code("n", "…", shown)], touched=frozenset({"n"}))
    assert one.judge([turn]) == Verdict(right=True, computed=True)
    untouched = one.judge([replace(turn, touched=frozenset())])
    assert (untouched.right, untouched.computed) == (False, False)
    in_kernel = one.judge([replace(turn, touched=frozenset(), outputs=[shown])])
    assert (in_kernel.right, in_kernel.computed) == (False, True)
    assert not one.judge([replace(turn, error="timeout")]).right


@pytest.mark.parametrize("tasks", [first_minute.TASKS, follow_ups.TASKS], ids=["first_minute", "follow_ups"])
def test_set_has_ten_questions_none_right_unanswered(tasks: list) -> None:
    assert len({one.id for one in tasks}) == 10
    for one in tasks:
        assert one.notebook.is_file()
        cells = [dict(cell) for cell in nbformat.read(one.notebook, as_version=4).cells]
        verdict = one.judge([Turn(message, "I cannot say.", cells=cells) for message in one.messages])
        assert not verdict.right
        assert verdict.missing, one.id


@pytest.mark.parametrize(
    ("identity", "answer", "is_right"),
    [
        ("what", "It looks at customers of a telephone company and at which of them leave (churn).", True),
        ("what", "It looks at penguins and at customers of a telephone company who leave.", False),
        ("who_leaves", "Those with a monthly contract.", True),
        ("fullest_island", "Biscoe, with 168 penguins.", True),
        ("fullest_island", "Dream, with 168 penguins.", False),
        ("longest_bill", "Chinstrap: 48.8 mm.", True),
        ("longest_bill", "Gentoo: 48.8 mm.", False),
        ("mass_by_species", "Adelie 3,700.7 g, Chinstrap 3,733.1 g, Gentoo 5,076.0 g.", True),
        ("and_in_2008", "114 penguins.", True),
        ("and_in_2008", "110 in 2008.", False),
        ("and_the_shortest", "Adélie.", True),
        ("only_gentoo", "It is 0.67 for Gentoo.", True),
    ],
)
def test_answer_is_checked_against_data(identity: str, answer: str, is_right: bool) -> None:
    one = next(task for task in [*first_minute.TASKS, *follow_ups.TASKS] if task.id == identity)
    assert one.judge([Turn(message, answer) for message in one.messages]).right is is_right


def test_report_counts_by_level_and_lists_failures(data: Path) -> None:
    (easy,) = read_tasks(data)
    hard = replace(easy, id="8", level="hard")
    good = Turn("?", "@mean_legs[3.5]", ["3.5"], model_calls=2, prompt_tokens=1000, completion_tokens=50, seconds=3)
    bad = replace(good, answer="I do\nnot know.")
    results = [Result(one, [turn], one.judge([turn])) for one, turn in ((easy, good), (hard, bad))]
    head, _, first, second, total = as_table(results).splitlines()
    assert head.startswith("| level | questions | right | solved | computed, not said |")
    assert first == "| easy | 1 | 1 (100%) | 1 (100%) | 0 | 0 | 2.0 | 1,000 | 50 | 3 |"
    assert second == "| hard | 1 | 0 (0%) | 0 (0%) | 1 | 0 | 2.0 | 1,000 | 50 | 3 |"
    assert total.startswith("| all | 2 | 1 (50%) |")
    (failure,) = as_failures(results).splitlines()
    assert failure.startswith("- 8 (hard): What is the mean number of legs?")
    assert "wanted @mean_legs[3.5], though it was computed; came: I do not know." in failure
    written = json.loads(as_json(results, {"model": "m"}))
    assert (written["model"], [one["right"] for one in written["results"]]) == ("m", [True, False])


FILES = {
    "todo.md": "- a\n- b\n- c\n",
    "shopping.md": "milk\neggs\n2 loaves of bread\n",
    "short.md": "Anna: report. Ben: Vienna.",
}
DONE = Turn("", tools=["skill_profile_table"], files=FILES, notes="- Likes blue")


@pytest.mark.parametrize(
    ("identity", "answer"),
    [
        ("know_a_colour", "It is green."),
        ("know_a_date", "It starts in April."),
        ("know_nothing", "I have noted nothing about that."),
        ("forget", "Forgotten: green."),
        ("which_skills", "profile-table, compare-tables, tidy-notebook"),
        ("run_a_skill", "Four rows."),
        ("summarise_a_file", "Anna wants the report, Ben moves to Vienna."),
        ("ask_a_file", "He moves to Vienna."),
        ("write_a_list", "Done."),
        ("write_what_is_said", "Done."),
        ("write_from_a_file", "Done."),
        ("list_files", "notes.md and animals.csv"),
    ],
)
def test_action_is_judged_by_final_state(identity: str, answer: str) -> None:
    one = next(one for one in actions.TASKS if one.id == identity)
    before = [replace(DONE, message=message) for message in one.messages[:-1]]
    assert one.judge([*before, replace(DONE, answer=answer)]).right
    assert all(file.is_file() for file in one.files)
    bare = one.judge([*before, Turn("", "Done.", notes="- Likes green")])
    assert not bare.right
    assert bare.missing
    cells = [{"id": str(number), "cell_type": "code", "source": "", "outputs": []} for number in range(2)]
    assert not one.judge([*before, replace(DONE, answer=answer, cells=cells)]).right  # a cell was not wanted
    assert not one.judge([*before, replace(DONE, answer=answer, error="timeout")]).right
