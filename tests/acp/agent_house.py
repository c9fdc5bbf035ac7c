"""A house whose sessions are answered by the scripted agent."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onyx_jupyter.app.features import FEATURES
from tests.runs.house import Event, House

SCRIPT = Path(__file__).with_name("scripted_agent.py")


def config(*options: str, silence_ms: int = 60_000, **more: Any) -> str:
    """`onyx.json` with an agent `scripted`, started with these options."""
    agent = {"command": sys.executable, "args": [str(SCRIPT), *options], **more.pop("agent", {})}
    return json.dumps({"acp": {"agents": {"scripted": agent}, "silenceTimeoutMs": silence_ms}, **more})


class AgentHouse(House):
    """`tools` says whether all of Onyx's own tools are there, or only the house's."""

    def __init__(self, folder: Path, *options: str, tools: bool = False, file: str | None = None, **more: Any) -> None:
        more.setdefault("features", FEATURES if tools else None)
        super().__init__(folder, config=file or config(*options), **more)

    async def __aenter__(self) -> "AgentHouse":
        await self.onyx.ready()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def agent_session(self) -> str:
        return await self.session(model="acp/scripted")

    async def do(self, key: str, *steps: str, **more: Any) -> Event:
        """Sends the steps and waits for the end."""
        return await self.run(key, "\n".join(steps), **more)

    def text(self) -> str:
        """All that was said."""
        return "".join(data["text"] for data in self.of("chat.delta"))

    def entries(self, key: str, role: str) -> Sequence[dict[str, Any]]:
        return [line for line in self.lines(key) if line["role"] == role]
