"""Widgets for when the kernel is idle: a skill's form, a memory search, a table of what was used."""

from pathlib import Path

import pytest

from tests.e2e.lab_server import LabServer, until
from tests.e2e.stage import Stage
from tests.magics.cells import Cells
from tests.magics.conftest import Peer
from tests.magics.test_skills import trust
from tests.skills.notebooks import cell, write_notebook

UNTIL = """
import time
def until(holds):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)
"""


@pytest.fixture
def skills(lab: LabServer) -> Path:
    return lab.home / "skills"


def test_form_runs_skill_with_its_field_values(kernel: Cells, skills: Path, peer: Peer) -> None:
    write_notebook(
        skills / "repeat.ipynb",
        cell(
            "from typing import Literal\nn: int\nword: str = 'x'\nloud: bool = False\nkind: Literal['a', 'b'] = 'b'",
            "parameters",
        ),
        cell("print((word.upper() if loud else word) * n, kind)", "result"),
    )
    trust(peer, "repeat")
    shown = kernel.run("import onyx_jupyter\nshown = onyx_jupyter.skill_form('repeat')\nform = shown.form\nshown")
    assert shown.status == "ok", shown.traceback
    kinds = "{name: type(field.widget).__name__ for name, field in form.fields.items()}"
    assert kernel.value(kinds) == {"n": "Text", "word": "Text", "loud": "Checkbox", "kind": "Dropdown"}
    kernel.run("form.run_button.click()")
    assert "n is required" in kernel.value("form.status.value")
    kernel.run("form.fields['n'].widget.value = 'many'; form.run_button.click()")
    assert "is not a valid integer" in kernel.value("form.status.value")
    kernel.run("form.fields['n'].widget.value = '2'; form.fields['loud'].widget.value = True; form.run_button.click()")
    assert kernel.value("form.wait(60)") is True
    assert kernel.value("form.output.outputs[0]['text']") == "XX b\n"
    status = kernel.value("form.status.value")
    assert 'href="/lab/tree/Onyx%3Aruns/' in status
    assert kernel.value("[form.run_button.disabled, form.stop_button.disabled]") == [False, True]


def test_form_asks_for_trust_and_stop_button_works(kernel: Cells, skills: Path) -> None:
    write_notebook(skills / "linger.ipynb", cell("print('begun', flush=True)\nimport time\ntime.sleep(600)"))
    kernel.run(UNTIL + "import onyx_jupyter\nform = onyx_jupyter.skill_form('linger').form")
    assert kernel.value("[form.run_button.disabled, 'begun' in form._source.value]") == [True, True]
    kernel.run("form.trust_button.click()")
    assert kernel.value("[form.run_button.disabled, form.trust_button.layout.display]") == [False, "none"]
    ran = kernel.run("form.run_button.click()\nuntil(lambda: 'begun' in form.status.value)\nform.stop_button.click()")
    assert ran.status == "ok", ran.traceback
    assert kernel.value("form.wait(60)") is True
    assert "linger · stopped" in kernel.value("form.status.value")


def test_form_asks_for_trust_only_in_displayed_version(kernel: Cells, skills: Path) -> None:
    write_notebook(skills / "shifty.ipynb", cell("n: int = 1", "parameters"), cell("print('harmless')"))
    kernel.run(UNTIL + "import onyx_jupyter\nform = onyx_jupyter.skill_form('shifty').form")
    write_notebook(skills / "shifty.ipynb", cell("m: str = 'x'", "parameters"), cell("print('other')"))
    clicked = kernel.run("form.trust_button.click()")
    assert clicked.status == "ok", clicked.traceback
    assert "changed" in kernel.value("form.status.value")
    assert kernel.value("[form.run_button.disabled, 'other' in form._source.value]") == [True, True]
    assert kernel.value("list(form.fields)") == ["m"]
    kernel.run("form.fields['m'].widget.value = 'typed'; form.trust_button.click()")
    assert kernel.value("[form.run_button.disabled, form.trust_button.layout.display]") == [False, "none"]
    assert kernel.value("form.fields['m'].widget.value") == "typed"
    write_notebook(skills / "shifty.ipynb", cell("m: str = 'x'", "parameters"), cell("print('once more')"))
    kernel.run("form.trust_button.click()")  # refused: that is not what it shows
    assert kernel.value("['once more' in form._source.value, form.fields['m'].widget.value]") == [True, "typed"]


# What the form's thread asks of the server is held until the test lets it go.
HELD = """
import threading
from onyx_jupyter.magics.connection import ServerConnection
class Held:
    def __init__(self, method):
        self.method, self.answered, self.gate = method, threading.Event(), threading.Event()
        self.request = ServerConnection.request
    def __enter__(self):
        def request(connection, method, *args, **params):
            answer = self.request(connection, method, *args, **params)
            if method == self.method:
                self.answered.set()
                assert self.gate.wait(60)
            return answer
        ServerConnection.request = request
        return self
    def __exit__(self, *_):
        ServerConnection.request = self.request
"""
STOPPED_WHILE_HELD = """
with Held({method!r}) as held:
    form.run_button.click()
    assert held.answered.wait(60)
    form.stop_button.click()
    held.gate.set()
    assert form.wait(60)
"""


def test_stop_before_run_has_an_id_stops_it(kernel: Cells, skills: Path, peer: Peer) -> None:
    write_notebook(skills / "forever.ipynb", cell("import time\ntime.sleep(600)"))
    trust(peer, "forever")
    kernel.run(HELD + "import onyx_jupyter\nform = onyx_jupyter.skill_form('forever').form")

    # The server has begun it, and the form does not know its id yet.
    ran = kernel.run(STOPPED_WHILE_HELD.format(method="skills.run"))
    assert ran.status == "ok", ran.traceback
    assert "forever · stopped" in kernel.value("form.status.value")
    assert [run["status"] for run in peer.ask("skills.runs", name="forever")["runs"]] == ["stopped"]

    # The form has not even asked for it.
    ran = kernel.run(STOPPED_WHILE_HELD.format(method="client.shows"))
    assert ran.status == "ok", ran.traceback
    assert "Stopped before it started" in kernel.value("form.status.value")
    assert len(peer.ask("skills.runs", name="forever")["runs"]) == 1
    assert kernel.value("[form.run_button.disabled, form.stop_button.disabled]") == [False, True]


def test_memory_and_usage_are_shown(kernel: Cells, stage: Stage, lab: LabServer) -> None:
    lab.home.joinpath("workspace", "memory").mkdir(parents=True, exist_ok=True)
    lab.home.joinpath("workspace", "memory", "2026-02-03.md").write_text("Quokkas <b>smile</b>.", "utf-8")
    stage.play("Hello.")
    kernel.run("%onyx Hello")
    kernel.run("import onyx_jupyter\ntable = onyx_jupyter.usage()")

    def found() -> str:
        kernel.run("search = onyx_jupyter.memory_search('quokka')")
        return str(kernel.value("search.children[1].value"))

    until(lambda: "memory/2026-02-03.md:1" in found())  # once the change has been noticed
    assert "Quokkas &lt;b&gt;smile&lt;/b&gt;." in found()
    kernel.run("search.children[0].value = 'zebra'")
    assert "Nothing found in memory" in kernel.value("search.children[1].value")
    usage = kernel.value("table.value")
    assert "memory_and_usage_are_shown.ipynb" in usage
    assert "tokens in" in usage


def test_without_ipywidgets_message_says_what_to_install_and_magic_works(kernel: Cells) -> None:
    kernel.run("import sys\nsys.modules['ipywidgets'] = None\nimport onyx_jupyter")
    ran = kernel.run("onyx_jupyter.usage()")
    assert ran.ename == "MagicError"
    assert "pip install ipywidgets" in ran.traceback
    assert "%onyx" in kernel.run("%onyx help").markdown
