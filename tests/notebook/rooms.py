"""A live collaboration room of a Jupyter server under test, as a front end makes it: by connecting to it."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tornado.websocket import websocket_connect

from tests.waiting import until

EXTENSIONS = {"jupyter_server_fileid": True, "jupyter_server_ydoc": True}


def room_config(folder: Path) -> dict[str, Any]:
    """A server with collaboration, whose own files stay apart from the notebooks; a room saves itself at once."""
    return {
        "ServerApp": {"jpserver_extensions": EXTENSIONS},
        "SQLiteYStore": {"db_path": str(folder / "rtc.db")},
        "BaseFileIdManager": {"db_path": str(folder / "ids.db"), "db_journal_mode": "OFF"},
        "YDocExtension": {"document_save_delay": 0.05, "session_store_path": str(folder / "sessions.json")},
    }


async def open_room(server: Any, fetch: Callable[..., Awaitable[Any]], path: str) -> Any:
    """The connection of somebody who has the notebook open; the room has loaded it. `fetch` is `jp_fetch`."""
    body = json.dumps({"format": "json", "type": "notebook"})
    answer = await fetch("api", "collaboration", "session", path, method="PUT", body=body)
    session = json.loads(answer.body)
    room_id = f"json:notebook:{session['fileId']}"
    address = f"{answer.request.url.partition('/api/')[0].replace('http', 'ws', 1)}/api/collaboration/room/{room_id}"
    query = urlencode({"sessionId": session["sessionId"], "token": server.identity_provider.token})
    person = await websocket_connect(f"{address}?{query}")
    (app,) = server.extension_manager.extension_apps["jupyter_server_ydoc"]
    await until(lambda: getattr(app.ywebsocket_server.rooms.get(room_id), "ready", False))
    return person
