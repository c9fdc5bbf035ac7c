"""Loading Onyx into a server is cheap: heavy libraries are imported on first use."""

import json
import os
import subprocess
import sys
from pathlib import Path

# By name, so that the list also guards libraries that a later part brings in.
HEAVY_LIBRARIES = {
    "acp",
    "ddgs",
    "lancedb",
    "litellm",
    "lxml",
    "numpy",
    "onnxruntime",
    "openai",
    "pandas",
    "pyarrow",
    "pypdf",
    "tokenizers",
    "trafilatura",
    "xllamacpp",
}

# In an interpreter of its own: the test process has imported half of the world already.
IMPORT_PACKAGE = """
import json, sys
import onyx_jupyter
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names))))
"""
LOAD_EXTENSION = """
import json, sys
from jupyter_server.serverapp import ServerApp

app = ServerApp()
app.initialize(
    ["--ServerApp.jpserver_extensions={'onyx_jupyter': True}", "--ServerApp.root_dir=.", "--allow-root"],
    find_extensions=False,
    new_httpserver=False,
)
assert app.extension_manager.extension_apps["onyx_jupyter"], "the extension was not loaded"
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def imported_by(source: str, folder: Path) -> set[str]:
    """The top-level modules that are there after `source` ran with its state and settings in `folder`."""
    places = {name: str(folder / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "ONYX_HOME")}
    completed = subprocess.run(
        [sys.executable, "-c", source],
        cwd=folder,
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    return set(json.loads(completed.stdout.splitlines()[-1]))


def test_importing_the_package_imports_nothing_else(tmp_path: Path) -> None:
    before_our_import = {"_distutils_hack", "_virtualenv", "onyx_jupyter", "sitecustomize"}
    others = imported_by(IMPORT_PACKAGE, tmp_path) - before_our_import
    assert {name for name in others if not name.startswith("_")} == set()


def test_loading_extension_imports_no_heavy_library(tmp_path: Path) -> None:
    imported = imported_by(LOAD_EXTENSION, tmp_path)
    assert "onyx_jupyter" in imported
    assert imported & HEAVY_LIBRARIES == set()


ASK_A_SERVER_OF_ONES_OWN = """
import asyncio, json, sys
from onyx_jupyter.messages import Message
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.testing.scripted_server import ScriptedServer

async def main(url):
    models = ProviderModels(ModelsSettings({"mine": ProviderSettings(base_url=url)}, default_model="mine/model"))
    await models.warm()
    said = [event async for event in models.open("mine/model").stream(ModelRequest("", [Message("user", "Hello")]))]
    await models.close()
    assert len(said) > 1, said

with ScriptedServer(["Hello."]) as server:
    asyncio.run(main(server.base_url))
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def test_answer_from_custom_server_needs_no_heavy_library(tmp_path: Path) -> None:
    assert imported_by(ASK_A_SERVER_OF_ONES_OWN, tmp_path) & HEAVY_LIBRARIES == set()


CONNECT_AS_THE_SIDEBAR_DOES = """
import asyncio, json, os, sys
from pathlib import Path
from jupyter_server.serverapp import ServerApp
from onyx_jupyter.operations.keys import INDEX_PROCESS

home = Path(os.environ["ONYX_HOME"])
home.mkdir(mode=0o700)
home.joinpath("onyx.json").write_text(json.dumps({
    "agents": {"defaults": {"model": "anthropic/claude-sonnet-4-5"}},
    "providers": {"anthropic": {"apiKey": "sk-nobodys"}},
}))
app = ServerApp()
app.initialize(
    ["--ServerApp.jpserver_extensions={'onyx_jupyter': True}", "--ServerApp.root_dir=.", "--allow-root"],
    find_extensions=False,
    new_httpserver=False,
)
extension = next(iter(app.extension_manager.extension_apps["onyx_jupyter"]))
asked = {
    "models.list": {"refresh": False},
    "agents.list": {},
    "health.check": {},
    "sessions.list": {"limit": 50},
    "skills.list": {},
    "knowledge.list": {},
}

async def main():
    service = await extension.service()
    answers = {}
    def take(frame):
        answer = json.loads(frame)
        if "id" in answer:
            answers[answer["id"]] = answer
    connection = service.connect(take, "somebody")
    for method, params in asked.items():
        await connection.receive(json.dumps({"id": method, "method": method, "params": params}))
    await service.warmed()
    while answers.keys() != asked.keys():
        await asyncio.sleep(0.05)
    assert all("result" in answer for answer in answers.values()), answers
    loaded = sorted({name.partition(".")[0] for name in sys.modules})
    process = service.onyx.get(INDEX_PROCESS).process_id
    connection.close()
    await service.close()
    return loaded, process

loaded, process = asyncio.run(main())
assert process is None, "the index's process runs"
print(json.dumps(loaded))
"""


def test_open_sidebar_needs_no_heavy_library_or_process(tmp_path: Path) -> None:
    imported = imported_by(CONNECT_AS_THE_SIDEBAR_DOES, tmp_path)
    assert "pydantic" in imported
    assert imported & HEAVY_LIBRARIES == set()


LOAD_MAGICS = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
before = set(sys.modules)
shell.run_line_magic("load_ext", "onyx_jupyter")
assert shell.find_line_magic("onyx"), "there is no %onyx"
print(json.dumps(sorted({name.partition(".")[0] for name in set(sys.modules) - before})))
"""


def test_loading_magics_imports_no_heavy_library_or_server(tmp_path: Path) -> None:
    imported = imported_by(LOAD_MAGICS, tmp_path)
    assert "websocket" in imported
    assert imported & (HEAVY_LIBRARIES | {"fastjsonschema", "jupyter_server", "pydantic", "tornado"}) == set()
