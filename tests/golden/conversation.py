"""A conversation that uses most of the socket: questions, approvals, denials, answers, stops, queued messages."""

import json
import re
from pathlib import Path
from typing import Any

from onyx_jupyter.testing.script import Call, Hang, HttpError, Say, Think
from tests.server.client import Client
from tests.skills.notebooks import cell, write_notebook

REPLIES = [
    [Say("Hello there.", chunk_chars=6)],
    [Think("First look around."), Call("list", {"path": "."}), Call("exec", {"command": "mkdir made"})],
    "It is made.",
    [Call("exec", {"command": "touch never"})],
    "Then not.",
    [Call("ask_user", {"question": "Which one?", "choices": ["a", "b"]})],
    "b it is.",
    [Call("memory_write", {"content": "- The year starts in April"})],
    "Noted.",
    [Call("notebook_insert_cell", {"path": "book.ipynb", "cellType": "code", "source": "1 + 1"})],
    "A cell more.",
    [Call("remember", {"fact": "The fiscal year starts in April.", "category": "work"})],
    "I keep it.",
    [HttpError(400, "nothing of the kind")],
    [Say("Once upon a time "), Hang()],
    "From a cell, then.",
    [Call("exec", {"command": "touch waits"})],
]
"""What the model answers, in order."""

BOOK = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
RULES = "Answer in one sentence."
KEPT = ("sessions.get", "chat.history", "approvals.list")
"""What is asked of the session in the end; a later version answers the same of the same files."""
KEPT_OF_ALL = ("sessions.list", "grants.list", "questions.list", "project.files", "memory.files")


def prepare(root: Path, home: Path) -> None:
    """What lies there before the first word."""
    (root / "book.ipynb").write_text(json.dumps(BOOK))
    (root / "AGENTS.md").write_text(RULES)
    write_notebook(home / "skills" / "count.ipynb", cell("n = 1", "parameters"), cell("print(n)"))


class Wire:
    """A client whose answers are written down as they are asked for."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.answers: list[dict[str, Any]] = []

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        result = await self._client.ask(method, **params)
        self.answers.append({"method": method, "params": params, "result": result})
        return result

    async def until(self, name: str, **facts: Any) -> dict[str, Any]:
        return await self._client.event(name, **facts)

    async def send(self, key: str, message: str, **more: Any) -> str:
        return (await self.ask("chat.send", sessionKey=key, message=message, **more))["runId"]

    async def end(self, run_id: str) -> None:
        await self._client.end(run_id)

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The answers, then the events of sessions: what every connection hears comes at no certain moment."""
        events = [frame for frame in self._client.frames if "event" in frame and "seq" in frame["data"]]
        return [*self.answers, *events]


async def converse(wire: Wire) -> str:
    """The session's key. Its last message waits for a yes when this returns."""
    key = (await wire.ask("sessions.create", title="A golden one"))["sessionKey"]
    await wire.end(await wire.send(key, "Hi", typed=True))
    run_id = await wire.send(key, "Make a folder", mode="agent")
    request = await wire.until("exec.approval_request", runId=run_id)
    await wire.ask("exec.approve", approvalId=request["approvalId"], scope="always")
    await wire.end(run_id)
    run_id = await wire.send(key, "And touch a file")
    request = await wire.until("exec.approval_request", runId=run_id)
    await wire.ask("exec.deny", approvalId=request["approvalId"], reason="Not here")
    await wire.end(run_id)
    run_id = await wire.send(key, "Choose")
    question = await wire.until("chat.question", runId=run_id)
    await wire.ask("questions.answer", questionId=question["questionId"], answer="b")
    await wire.end(run_id)
    for message in ("Note it", "Add a cell", "Remember it"):
        run_id = await wire.send(key, message)
        request = await wire.until("exec.approval_request", runId=run_id)
        await wire.ask("exec.approve", approvalId=request["approvalId"])
        await wire.end(run_id)
    await wire.end(await wire.send(key, "Fail"))
    run_id = await wire.send(key, "Never end")
    await wire.until("chat.delta", runId=run_id)
    await wire.ask("chat.abort", runId=run_id)
    await wire.end(run_id)
    await wire.end(await wire.send(key, "Asked in a cell", fromKernel={"kernelId": "k-1", "name": "book"}))
    await trust(wire)
    run_id = await wire.send(key, "And wait", typed=True)
    await wire.until("exec.approval_request", runId=run_id)
    await wire.send(key, "This waits for the other", whenBusy="followup")
    return key


async def trust(wire: Wire) -> None:
    """The skill and the project's instructions."""
    skill = (await wire.ask("skills.get", name="count"))["skill"]
    await wire.ask("skills.trust", name="count", hash=skill["hash"])
    (file,) = (await wire.ask("project.files"))["files"]
    await wire.ask("project.trust", path=file["path"], digest=file["digest"])


async def look(wire: Wire, key: str) -> None:
    """Asks for everything that was kept."""
    for method in KEPT:
        await wire.ask(method, sessionKey=key)
    for method in KEPT_OF_ALL:
        await wire.ask(method)
    await wire.ask("skills.get", name="count")
    for path in ("memory/facts.jsonl", "MEMORY.md"):
        await wire.ask("memory.read", path=path)
        await wire.ask("memory.versions", path=path)


def normal(text: str, places: dict[str, Path]) -> str:
    """Without what differs from run to run: ids by their order, times, durations, random words, folders, people."""
    for name, place in places.items():
        text = text.replace(str(place), f"<{name}>")
    ids: dict[str, str] = {}
    text = re.sub(
        r"\b(?:[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{12})\b",
        lambda found: ids.setdefault(found[0], f"<id {len(ids) + 1}>"),
        text,
    )
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)", "<time>", text)
    text = re.sub(r"\d{4}-\d\d-\d\d(?=\.md)", "<day>", text)
    text = re.sub(r'("(?:expiresAt|version)": )"<id \d+>"', r'\1"<new>"', text)
    text = re.sub(r"(<<<(?:end )?onyx-external )[A-Za-z0-9]+", r"\1<word>", text)
    text = re.sub(r"\b\d+(\.\d+)? (m?s)\b", r"<n> \2", text)
    text = re.sub(
        r'("(?:seconds|inputTokens|tokenCount|durationMs|estimate|versions|confidence)": )[\d.]+', r"\1<n>", text
    )
    text = re.sub(r'("indexed": )(?:true|false)', r"\1<when there was time>", text)
    text = re.sub(r"\b[0-9a-f]{64}\b", "<checksum>", text)
    return re.sub(r"Anonymous \w+", "<person>", text)


def as_lines(lines: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
