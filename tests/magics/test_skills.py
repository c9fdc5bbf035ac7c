"""Skills from a cell: parameters, progress, the result below the cell, and trust before anything runs."""

import threading
from pathlib import Path

import pytest

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.skill_arguments import parse_call, values
from tests.e2e.lab_server import LabServer
from tests.magics.cells import LIMIT_S, Cells
from tests.magics.conftest import Peer
from tests.skills.notebooks import cell, write_notebook, write_text_skill

FIELDS = [{"name": "path", "type": "path"}, {"name": "n", "type": "integer"}, {"name": "on", "type": "boolean"}]


def test_a_call_is_read_into_values_by_the_types_of_its_fields() -> None:
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
        ("x y", "is no key=value"),
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


def test_a_skill_runs_with_a_variable_and_shows_its_result(kernel: Cells, skills: Path, peer: Peer) -> None:
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
    assert headline["text/markdown"].startswith("✓ double · done · `Onyx:runs/")
    assert result["text/plain"] == "abababababab\n"
    assert kernel.run("%onyx --out r skill double n=2").status == "ok"
    assert "xxxx" in kernel.value("r")
    assert "there is no variable" in kernel.run("%onyx skill double n={conut}").evalue
    refused = kernel.run("%onyx --out r skill double n=many")
    assert refused.ename == "Refused"
    assert refused.markdown.startswith("✗ **double** · ")
    assert "xxxx" in kernel.value("r")
    assert "no skill 'ghost'" in kernel.run("%onyx skill ghost").evalue


def test_instructions_are_not_run_and_leave_nothing_that_looks_begun(kernel: Cells, skills: Path) -> None:
    write_text_skill(skills / "house-words")
    prompts: list[str] = []
    ran = kernel.run("%onyx skill house-words", lambda prompt: prompts.append(prompt) or "y")
    assert "holds instructions, which are followed and not run" in ran.evalue
    assert "%onyx Use the skill house-words" in ran.traceback
    assert (ran.displays, prompts) == ({}, [])
    form = kernel.run("import onyx_jupyter\nonyx_jupyter.skill_form('house-words')")
    assert "holds instructions, which are followed and not run" in form.evalue


def test_a_new_skill_is_shown_and_runs_only_after_a_yes(kernel: Cells, skills: Path) -> None:
    write_notebook(skills / "fresh.ipynb", cell("print('fresh', 1)"))
    denied = kernel.run("%onyx skill fresh", lambda prompt: "n")
    assert "not trusted" in denied.evalue
    assert "print('fresh', 1)" in denied.at_prompts[0]
    assert "not trusted" in kernel.run("%onyx skill fresh").evalue
    allowed = kernel.run("%onyx skill fresh", lambda prompt: "y")
    assert list(allowed.displays.values())[-1]["text/plain"] == "fresh 1\n"


def test_a_skill_that_fails_says_so_and_an_interrupt_stops_one(kernel: Cells, skills: Path, peer: Peer) -> None:
    write_notebook(skills / "broken.ipynb", cell("1 / 0"))
    write_notebook(skills / "slow.ipynb", cell("print('begun', flush=True)\nimport time\ntime.sleep(600)"))
    for name in ("broken", "slow"):
        trust(peer, name)
    failed = kernel.run("%onyx skill broken")
    assert failed.ename == "MagicError"
    assert "ZeroDivisionError" in failed.evalue
    begun = threading.Event()
    wait = kernel.start("%onyx skill slow", lambda data: begun.set() if "begun" in data["text/markdown"] else None)
    assert begun.wait(LIMIT_S)
    kernel.interrupt()
    assert "**slow** · stopped" in wait().markdown
    ended = peer.event("skills.run_finished", lambda run: run["skill"] == "slow")
    assert ended["status"] == "stopped"
