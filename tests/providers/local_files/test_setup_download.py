"""The download during set-up: a model for all users, which never makes set-up fail silently."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from onyx_jupyter.providers.local_files import setup_download
from onyx_jupyter.providers.local_files.catalogue import CATALOGUE
from tests.providers.local_files.file_server import FileServer
from tests.providers.local_files.rows import CONTENT, OTHER, file_path, row

ROWS = (row(name="tried"), row(OTHER, name="other-0.5b"))


@pytest.fixture
def server(monkeypatch):
    with FileServer({"tried.gguf": CONTENT}) as server:
        monkeypatch.setenv("ONYX_LOCAL__MODELSURL", server.url)
        monkeypatch.setenv("OLLAMA_MODELS", "/nowhere")
        yield server


def test_model_is_installed_once_and_readable_by_all(tmp_path, server, capsys):
    folder = tmp_path / "share" / "models"
    arguments = ["local/tried", "--into", str(folder)]
    assert setup_download.main(arguments, ROWS) == 0
    assert file_path(folder).read_bytes() == CONTENT
    assert file_path(folder).stat().st_mode & 0o777 == 0o644
    assert "Tried 1B is ready (3 MB" in capsys.readouterr().out
    assert setup_download.main(arguments, ROWS) == 0
    assert capsys.readouterr().out == ""
    assert len(server.ranges) == 1


def test_without_network_one_line_is_printed_and_it_succeeds(tmp_path, server, capsys):
    assert setup_download.main(["0.5b", "--into", str(tmp_path)], ROWS) == 1
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert said.startswith("Local model: Other-0.5b 1B could not be downloaded")
    assert "download it later from the sidebar" in said


def test_nothing_is_downloaded_if_disabled(tmp_path, server):
    assert setup_download.main(["none", "--into", str(tmp_path)], ROWS) == 0
    assert server.ranges == []


def test_unknown_model_lists_existing_ones(tmp_path, capsys):
    assert setup_download.main(["7b", "--into", str(tmp_path)]) == 2
    assert 'no model "7b". There are: 1.5b, 0.5b, none.' in capsys.readouterr().out


def test_make_downloads_first_of_catalogue_with_matching_stamp():
    makefile = Path(__file__).parents[3].joinpath("Makefile").read_text("utf-8")
    assert f"\nONYX_SETUP_MODEL ?= {CATALOGUE[0].name.rpartition('-')[2]}\n" in makefile


def test_no_server_or_heavy_library_is_needed(tmp_path):
    """It runs before the package is installed, beside the build of the front end."""
    module = "onyx_jupyter.providers.local_files.setup_download"
    code = f"import sys, {module}; print(*{{n.partition('.')[0] for n in sys.modules}})"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert not {"jupyter_server", "tornado", "litellm", "numpy", "xllamacpp"} & set(said.stdout.split())
