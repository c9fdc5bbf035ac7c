"""jupyter-collaboration in tests: off unless a test asks for it, even if it is installed."""

import json
from pathlib import Path

SERVER_EXTENSIONS = ("jupyter_server_fileid", "jupyter_server_ydoc")
LAB_EXTENSIONS = ("@jupyter/collaboration-extension", "@jupyter/docprovider-extension")


def without_collaboration(config_folder: Path) -> None:
    """Switches jupyter-collaboration off in a server with this folder of configuration."""
    server = {"ServerApp": {"jpserver_extensions": dict.fromkeys(SERVER_EXTENSIONS, False)}}
    page = {"disabledExtensions": dict.fromkeys(LAB_EXTENSIONS, True)}
    for name, values in {"jupyter_server_config.json": server, "labconfig/page_config.json": page}.items():
        path = config_folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), "utf-8")
