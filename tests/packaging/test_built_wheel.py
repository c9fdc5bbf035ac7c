"""The wheel in dist/ installs into a plain environment with both halves enabled."""

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import onyx_jupyter

pytestmark = [pytest.mark.packaging, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
UV = ROOT / ".uv/bin/uv"
START_TIMEOUT_S = 60


@pytest.fixture(scope="module")
def wheel() -> Path:
    wheels = sorted(ROOT.joinpath("dist").glob("*.whl"))
    assert len(wheels) == 1, "run this with `make check-wheel`, which builds the wheel first"
    return wheels[0]


@pytest.fixture(scope="module", params=["oldest", "locked"])
def plain_environment(
    request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A new environment (its folder) with the wheel, what the wheel requires, and nothing else.

    Once with the oldest versions that the wheel says it can live with, once with those of development.
    """
    folder = tmp_path_factory.mktemp(request.param) / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = str(folder / "bin/python")
    constraints = folder / "constraints.txt"
    if request.param == "oldest":
        constraints.write_text(oldest_versions(), "utf-8")
    else:
        # Without the hashes: pip takes none in a constraints file.
        lock = ROOT.joinpath("requirements/dev.lock").read_text("utf-8")
        constraints.write_text("\n".join(re.findall(r"^\S+==[^\\\n]+", lock, re.MULTILINE)), "utf-8")
    installer = [str(UV), "pip", "install", "--python", python] if UV.exists() else [python, "-m", "pip", "install"]
    subprocess.run([*installer, "--quiet", "--constraint", str(constraints), str(wheel)], check=True)
    yield folder
    shutil.rmtree(folder)


def oldest_versions() -> str:
    """Pins of the lower bounds in pyproject.toml; pip cannot find them out, uv can."""
    if not UV.exists():
        pytest.skip("the oldest versions can only be resolved by uv, which is not installed")
    command = [str(UV), "pip", "compile", "--quiet", "--resolution", "lowest-direct", "--no-annotate", "--no-header"]
    resolved = subprocess.run(
        [*command, "--python", sys.executable, "pyproject.toml"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return resolved.stdout


@pytest.fixture
def environment(plain_environment: Path, tmp_path: Path) -> dict[str, str]:
    """Variables for a program of the plain environment that sees nobody's settings."""
    places = ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "ONYX_HOME")
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "ONYX", "PYTHON"))
    }
    return {
        **inherited,
        **{name: str(tmp_path / name.lower()) for name in places},
        "PATH": f"{plain_environment / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }


def printed_by(command: list[str], environment: dict[str, str]) -> str:
    """Everything that the command printed, without the colours."""
    completed = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=True
    )
    return re.sub(r"\x1b\[\d*m", "", completed.stdout)


def test_wheel_contains_front_end_once_and_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert len([name for name in names if "/static/remoteEntry." in name]) == 1
    assert [name for name in names if "node_modules" in name or name.startswith(("tests/", "benchmarks/"))] == []


def test_server_extension_is_enabled_and_valid(environment: dict[str, str]) -> None:
    listing = printed_by(["jupyter", "server", "extension", "list"], environment)
    assert re.search(r"^\s*onyx_jupyter\s+enabled$", listing, re.MULTILINE), listing
    assert re.search(rf"^\s*onyx_jupyter {re.escape(onyx_jupyter.__version__)}\s+OK$", listing, re.MULTILINE), listing


def test_front_end_extension_is_enabled_and_compatible(environment: dict[str, str]) -> None:
    listing = printed_by(["jupyter", "labextension", "list"], environment)
    assert re.search(r"^\s*onyx-jupyter v\S+\s+enabled\s+OK", listing, re.MULTILINE), listing
    assert "not compatible" not in listing, listing


@pytest.mark.parametrize(("source", "name"), [("workspace", "workspace"), ("notebooks/skills", "skills")])
def test_default_workspace_and_packaged_skills_are_installed(plain_environment: Path, source: str, name: str) -> None:
    folder = plain_environment / "share/onyx_jupyter" / name
    shipped = {path.relative_to(ROOT / source) for path in ROOT.joinpath(source).rglob("*") if path.is_file()}
    installed = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    assert shipped
    assert installed == shipped


def test_server_starts_and_reports_its_health(environment: dict[str, str], tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path / "server.log"
    arguments = [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=plain"]
    root = tmp_path / "root"
    root.mkdir()
    with log.open("wb") as output:
        server = subprocess.Popen(
            ["jupyter", "lab", "--no-browser", "--allow-root", f"--ServerApp.root_dir={root}", *arguments],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        health = wait_for_health(f"http://127.0.0.1:{port}/onyx/health", server)
    except AssertionError as error:
        pytest.fail(f"{error}\n{log.read_text('utf-8', 'replace')}")
    finally:
        server.terminate()
        server.wait(timeout=30)
    assert health["version"] == onyx_jupyter.__version__
    # A model comes by a word of the user, so a plain environment has none that answers.
    ailing = {name for name, component in health["components"].items() if not component["ok"]}
    assert ailing == {"model"}, health
    assert "No model is set up yet" in health["components"]["model"]["message"]


def wait_for_health(url: str, server: subprocess.Popen[bytes]) -> dict[str, Any]:
    request = urllib.request.Request(url, headers={"Authorization": "token plain"})
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        assert server.poll() is None, f"the server ended with {server.returncode}"
        try:
            with urllib.request.urlopen(request, timeout=5) as response:
                return dict(json.load(response))
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{url} answered {error.code}") from error
        except urllib.error.URLError:
            time.sleep(0.2)  # nobody listens yet
    raise AssertionError(f"no answer from the server within {START_TIMEOUT_S} s")


def test_packaged_skills_match_install_record(plain_environment: Path, environment: dict[str, str]) -> None:
    look = "import json; from onyx_jupyter.skills.packaged import recorded_hashes; print(json.dumps(recorded_hashes()))"
    recorded = json.loads(printed_by([str(plain_environment / "bin/python"), "-c", look], environment))
    folder = ROOT / "notebooks/skills"
    shipped = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert recorded == {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in shipped.items()}


EMBED = """
import asyncio, socket
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.providers.embedders.settings import EmbeddingSettings
from onyx_jupyter.providers.embedders.sources import open_embeddings

def no_network(*_):
    raise OSError("there is no network")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = no_network

async def main():
    embeddings = open_embeddings(EmbeddingSettings(), clock=SystemClock(), redact=str)
    identity = await embeddings.current()
    assert identity is not None, embeddings.problem
    asked, near, far = await embeddings.embed(["a dog", "a hound", "income tax"], "query", identity=identity)
    await embeddings.close()
    print(identity.provider, asked @ near > asked @ far)

asyncio.run(main())
"""


def test_semantic_search_works_without_network_or_setup(plain_environment: Path, environment: dict[str, str]) -> None:
    said = printed_by([str(plain_environment / "bin/python"), "-W", "error", "-c", EMBED], environment)
    assert said.splitlines()[-1] == "local True", said
