"""What a kernel knows of itself, by what its front end told it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from onyx_jupyter.magics.kernel_facts import SESSION_NAME, VSCODE_NAME, kernel_facts


def shell(connection_file: str = "", **names: Any) -> Any:
    return SimpleNamespace(
        user_ns=names, kernel=SimpleNamespace(parent=SimpleNamespace(connection_file=connection_file))
    )


def test_vs_code_sets_notebook_path_in_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    notebook = tmp_path / "work" / "sales.ipynb"
    facts = kernel_facts(shell(**{VSCODE_NAME: str(notebook)}), {})
    assert facts.notebook == facts.place == notebook  # and not the folder that the kernel runs in
    assert facts.title == "sales.ipynb"
    assert facts.as_sender == {"kernelId": facts.kernel_id, "name": "sales.ipynb"}


def test_jupyter_session_name_takes_precedence_over_vs_code(tmp_path: Path) -> None:
    names = {VSCODE_NAME: str(tmp_path / "other.ipynb")}
    facts = kernel_facts(shell(**names), {SESSION_NAME: f"RTC:{tmp_path}/mine.ipynb"})
    assert facts.notebook == tmp_path / "mine.ipynb"


@pytest.mark.parametrize("told", [{}, {VSCODE_NAME: ""}, {VSCODE_NAME: None}])
def test_without_notebook_location_is_the_folder(
    told: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    facts = kernel_facts(shell(**told), {})
    assert (facts.notebook, facts.place, facts.title) == (None, tmp_path, f"Cells in {tmp_path.name}")
    assert facts.as_sender == {"kernelId": facts.kernel_id}


def test_server_kernel_has_its_id_and_others_a_generated_one() -> None:
    assert kernel_facts(shell("/run/kernel-4f2a-77.json"), {}).kernel_id == "4f2a-77"
    own = kernel_facts(shell("/tmp/tmpx1.json"), {}).kernel_id  # as VS Code starts one
    assert own
    assert own == kernel_facts(SimpleNamespace(user_ns={}), {}).kernel_id
