"""Puts the corpus where a person will see it: into conversations, notebooks, files and skills."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from nbformat import NotebookNode, from_dict
from nbformat.sign import NotebookNotary

from onyx_jupyter.magics.shown_data import output_data, text_data
from onyx_jupyter.magics.turn_view import MIME_TYPE
from tests.e2e.lab_server import PYTHON_3, LabServer
from tests.e2e.rendering.corpus import Payload

Output = dict[str, Any]
# In a trusted notebook this runs, which shows that nothing but what we put out keeps the rest from it.
CONTROL = {"text/html": "<img src='x:y' onerror='window.__onyxControl = true'>", "text/plain": "-"}


def parts(payloads: Sequence[Payload], size: int) -> Iterator[Sequence[Payload]]:
    """In order, so many at a time."""
    return (payloads[at : at + size] for at in range(0, len(payloads), size))


def write_session(lab: LabServer, title: str, answers: Iterable[str]) -> None:
    """A conversation on disk with each of these as the answer to a question."""
    key = title.replace(" ", "-")
    lines: list[dict[str, Any]] = [
        {"role": "system", "content": "", "meta": {"kind": "session", "agentId": "main", "title": title}}
    ]
    for number, answer in enumerate(answers):
        run = {"runId": f"{key}-{number}"}
        lines += [
            {"role": "user", "content": f"Question {number}", "meta": run},
            {"role": "assistant", "content": answer, "meta": run},
            {"role": "system", "content": "", "meta": {**run, "kind": "run_end", "outcome": "final"}},
        ]
    folder = lab.home / "sessions" / "main"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    written = [
        {
            "v": 1,
            "id": f"{key}-{number}",
            "parent": f"{key}-{number - 1}" if number else None,
            "ts": f"2026-03-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z",
            **line,
        }
        for number, line in enumerate(lines)
    ]
    (folder / f"{key}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in written), "utf-8")


def display(data: dict[str, Any]) -> Output:
    return {"output_type": "display_data", "data": data, "metadata": {}}


def card_output(payload: Payload) -> Output:
    """What `%onyx` puts below a cell, with the data for our own front end."""
    turn = {
        "schemaVersion": 1,
        "sessionKey": "gone",
        "runId": "gone",
        "status": "final",
        "parts": [{"kind": "text", "text": payload.text}],
        "problem": "",
    }
    return display({MIME_TYPE: turn, **text_data(payload.text)})


def plain_outputs(payload: Payload) -> Sequence[Output]:
    """What `%onyx` puts below a cell where nothing of ours is in the page: an answer, and a skill's output."""
    data = {"text/html": payload.text, "image/svg+xml": payload.text, "application/javascript": payload.text}
    return display(text_data(payload.text)), display(output_data(display(data))[0])


def write_trusted(lab: LabServer, name: str, outputs: Sequence[Output], per_cell: int = 40, source: str = "") -> None:
    """A notebook that has run on this machine with these outputs: JupyterLab sanitises none of them."""
    cells = [
        {
            "cell_type": "code",
            "id": f"cell-{at}",
            "metadata": {},
            "source": source,
            "execution_count": 1,
            "outputs": list(outputs[at : at + per_cell]),
        }
        for at in range(0, len(outputs), per_cell)
    ]
    notebook = {"cells": cells, "metadata": PYTHON_3, "nbformat": 4, "nbformat_minor": 5}
    (lab.files / name).write_text(json.dumps(notebook), "utf-8")
    node: NotebookNode = from_dict(notebook)
    data = lab.files.parent / "data"
    data.mkdir(exist_ok=True)
    NotebookNotary(data_dir=str(data)).sign(node)


@contextmanager
def without_our_front_end(lab: LabServer) -> Iterator[None]:
    """Pages that are opened meanwhile have nothing of ours."""
    place = lab.files.parent / "config" / "labconfig" / "page_config.json"
    former = place.read_text("utf-8")
    config = json.loads(former)
    config.setdefault("disabledExtensions", {})["onyx-jupyter"] = True
    place.write_text(json.dumps(config), "utf-8")
    yield
    place.write_text(former, "utf-8")


def by_group(payloads: Sequence[Payload]) -> dict[str, str]:
    """All payloads of a group in one text, by the group's name; without NUL, which no text file may hold."""
    texts: dict[str, str] = {}
    for payload in payloads:
        texts[payload.group] = f"{texts.get(payload.group, '')}{payload.text}\n\n".replace("\0", "")
    return texts
