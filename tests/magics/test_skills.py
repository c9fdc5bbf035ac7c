"""Skills from a cell: parameters, progress, the result below the cell, and trust before anything runs."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.skill_command import parse_call, values
from onyx_jupyter.magics.skill_consent import MIME_TYPE
from tests.e2e.lab_server import LabServer
from tests.magics.cells import LIMIT_S, Cells, Ran
from tests.magics.conftest import Peer
from tests.skills.notebooks import cell, write_notebook, write_text_skill

FIELDS = [{"name": "path", "type": "path"}, {"name": "n", "type": "integer"}, {"name": "on", "type": "boolean"}]


def test_call_is_converted_by_field_types() -> None:
    name, given = parse_call("""profile path=12.csv n=3 on=True other=["a", {"b": 1}] words='a b' df={rows}""")
    assert name == "profile"
    assert values(given, FIELDS, {"rows": (1, 2)}.__getitem__) == {
        "path": "12.csv",
        "n": 3,
        "on": True,
        "other": ["a", {"b": 1}],
        "words": "a b",
        "df": [1, 2],
    }
    assert values({"n": "many"}, FIELDS, str) == {"n": "many"}
    for text, words in (
        ("", "needs the name"),
        ("x y", "is not a key=value"),
        ("x a=1 a=2", "twice"),
        ("x a=[1", "closed"),
    ):
        with pytest.raises(MagicError, match=words):
            parse_call(text)


@pytest.fixture
def skills(lab: LabServer) -> Path:
    return lab.home / "skills"


def trust(peer: Peer, name: str) -> None:
    peer.ask("skills.trust", name=name, hash=peer.ask("skills.get", name=name)["skill"]["hash"])


def test_skill_runs_with_variable_and_shows_result(kernel: Cells, skills: Path, peer: Peer) -> None:
    write_notebook(
        skills / "double.ipynb",
        cell("n: int = 1\nword: str = 'x'", "parameters"),
        cell("print('not this')"),
        cell("print(word * n * 2)", "result"),
    )
    trust(peer, "double")
    kernel.run("count = 3")
    ran = kernel.run("%onyx skill double n={count} word=ab")
    assert ran.status == "ok", ran.traceback
    headline, result = ran.displays.values()
    assert headline["text/plain"].startswith("✓ double · done · [`Onyx:runs/")
    assert "](/lab/tree/Onyx%3Aruns/" in headline["text/plain"]
    assert result["text/plain"] == "abababababab\n"
    assert kernel.run("%onyx --out r skill double n=2").status == "ok"
    assert "xxxx" in kernel.value("r")
    assert "there is no variable" in kernel.run("%onyx skill double n={conut}").evalue
    refused = kernel.run("%onyx --out r skill double n=many")
    assert refused.ename == "Refused"
    assert refused.markdown.startswith("✗ **double** · ")
    assert "xxxx" in kernel.value("r")
    assert "no skill 'ghost'" in kernel.run("%onyx skill ghost").evalue


def test_instructions_are_not_run_and_leave_no_pending_output(kernel: Cells, skills: Path) -> None:
    write_text_skill(skills / "house-words")
    prompts: list[str] = []
    ran = kernel.run("%onyx skill house-words", lambda prompt: prompts.append(prompt) or "y")
    assert "contains instructions, which the agent follows" in ran.evalue
    assert "%onyx Use the skill house-words" in ran.traceback
    assert (ran.displays, prompts) == ({}, [])
    form = kernel.run("import onyx_jupyter\nonyx_jupyter.skill_form('house-words')")
    assert "contains instructions, which the agent follows" in form.evalue


def test_new_skill_is_shown_and_runs_only_after_approval(kernel: Cells, skills: Path) -> None:
    write_notebook(skills / "fresh.ipynb", cell("print('fresh', 1)"))
    denied = kernel.run("%onyx skill fresh", lambda prompt: "n")
    assert "not trusted" in denied.evalue
    assert "print('fresh', 1)" in denied.at_prompts[0]
    assert "not trusted" in kernel.run("%onyx skill fresh").evalue
    allowed = kernel.run("%onyx skill fresh", lambda prompt: "y")
    assert list(allowed.displays.values())[-1]["text/plain"] == "fresh 1\n"


def ask_in_a_card(kernel: Cells, peer: Peer, name: str) -> tuple[str, Callable[[], Ran]]:
    """Runs it in a cell of a notebook that a page shows; the question's id, once the card asks, and the cell's end."""
    path = peer.ask("client.shows", kernelId=kernel.kernel_id)["path"]
    peer.ask("client.update", notebooks=[{"path": path, "active": True}], cards=[MIME_TYPE])
    shown: list[dict[str, Any]] = []
    asks = threading.Event()

    def see(bundle: dict[str, Any]) -> None:
        if MIME_TYPE in bundle:
            shown.append(bundle[MIME_TYPE])
            asks.set()

    wait = kernel.start(f"%onyx skill {name}", see)
    assert asks.wait(LIMIT_S)
    (card,) = shown
    assert set(card) == {"schemaVersion", "questionId"}
    return card["questionId"], wait


def test_card_answers_server_and_cell_continues(kernel: Cells, skills: Path, peer: Peer) -> None:
    write_notebook(skills / "carded.ipynb", cell("print('carded', 1)"))
    question_id, wait = ask_in_a_card(kernel, peer, "carded")
    peer.ask("skills.answer", questionId=question_id)
    refused = wait()
    assert refused.markdown == "– **carded** · not trusted, so it was not run"
    assert "not trusted" in refused.evalue

    question_id, wait = ask_in_a_card(kernel, peer, "carded")
    shown = peer.ask("skills.question", questionId=question_id)
    assert "print('carded', 1)" in shown["detail"]["text"]
    peer.ask("skills.answer", questionId=question_id, hash=shown["detail"]["skill"]["hash"])
    assert list(wait().displays.values())[-1]["text/plain"] == "carded 1\n"


def test_question_ends_with_waiting_cell(kernel: Cells, skills: Path, peer: Peer) -> None:
    write_notebook(skills / "interrupted.ipynb", cell("print(1)"))
    question_id, wait = ask_in_a_card(kernel, peer, "interrupted")
    assert peer.ask("skills.question", questionId=question_id)["open"] is True
    kernel.interrupt()
    told = peer.event("skills.question_closed", lambda data: data["questionId"] == question_id)
    assert told["outcome"] == "gone"
    assert peer.ask("skills.question", questionId=question_id) == {"open": False}
    assert wait().markdown == "– **interrupted** · not trusted, so it was not run"


def test_outdated_page_falls_back_to_input(kernel: Cells, skills: Path, peer: Peer) -> None:
    write_notebook(skills / "older.ipynb", cell("print('older', 1)"))
    path = peer.ask("client.shows", kernelId=kernel.kernel_id)["path"]
    peer.ask("client.update", notebooks=[{"path": path, "active": True}])
    asked: list[str] = []
    ran = kernel.run("%onyx skill older", lambda prompt: asked.append(prompt) or "y")
    assert len(asked) == 1
    assert list(ran.displays.values())[-1]["text/plain"] == "older 1\n"


def test_failing_skill_says_so_and_interrupt_stops_one(kernel: Cells, skills: Path, peer: Peer) -> None:
    write_notebook(skills / "broken.ipynb", cell("1 / 0"))
    write_notebook(skills / "slow.ipynb", cell("print('begun', flush=True)\nimport time\ntime.sleep(600)"))
    for name in ("broken", "slow"):
        trust(peer, name)
    failed = kernel.run("%onyx skill broken")
    assert failed.ename == "MagicError"
    assert "ZeroDivisionError" in failed.evalue
    begun = threading.Event()
    wait = kernel.start("%onyx skill slow", lambda data: begun.set() if "begun" in data["text/plain"] else None)
    assert begun.wait(LIMIT_S)
    kernel.interrupt()
    assert "**slow** · stopped" in wait().markdown
    ended = peer.event("skills.run_finished", lambda run: run["skill"] == "slow")
    assert ended["status"] == "stopped"
