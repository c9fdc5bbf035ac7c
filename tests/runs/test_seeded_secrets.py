"""A thousand secrets on every way into a conversation: none is in anything that leaves it."""

import base64
import json
import logging
from collections import Counter

import pytest

from onyx_jupyter.config.schema import LoggingConfig
from onyx_jupyter.errors import ToolError
from onyx_jupyter.messages import Attachment, ToolResult
from onyx_jupyter.server.log import LOGGER, Log
from onyx_jupyter.testing.script import Call, Say
from tests.runs.house import House
from tests.security.seeded_secrets import seeded

COUNT, TURNS = 1_000, 20
WAYS = ("message", "context", "answer", "call", "refused call", "result", "attachment", "progress", "failure", "log")


@pytest.mark.timeout(300)
async def test_none_of_a_thousand_secrets_reaches_requests_disk_or_socket(tmp_path):
    secrets = seeded(COUNT, seed=20)
    kinds = Counter(secret.kind for secret in secrets)
    assert len(kinds) >= 30
    turns = [secrets[turn::TURNS] for turn in range(TURNS)]
    bundles = [{way: _joined(turn[place :: len(WAYS)]) for place, way in enumerate(WAYS)} for turn in turns]
    house = House(tmp_path, [reply for bundle in bundles for reply in _replies(bundle)])
    log = Log(house.home.log_file, house.onyx.configured.redact_data)
    kept = logging.getLogger(LOGGER).handlers, logging.getLogger(LOGGER).propagate
    log.configure(LoggingConfig(level="debug"))
    current: dict[str, str] = {}

    async def peek(arguments, context):
        context.progress(current["progress"])
        logging.getLogger(LOGGER).error("It failed: %s", current["log"])
        if arguments.word.startswith("fail"):
            raise ToolError(current["failure"])
        data = base64.b64encode(current["attachment"].encode()).decode()
        return ToolResult(current["result"], attachments=(Attachment("file", "text/plain", data),))

    house.peek.call = peek
    key = await house.session()
    for bundle in bundles:
        current = bundle
        context = [{"type": "cell", "path": "a.ipynb", "text": bundle["context"]}]
        await house.run(key, bundle["message"], context=context)
    log.close()
    logging.getLogger(LOGGER).handlers, logging.getLogger(LOGGER).propagate = kept
    sinks = {
        "requests": repr(house.model.requests),
        "socket": json.dumps([event for event in house.events if event[0] != "exec.approval_request"]),
        "transcript": house.file(key).read_text("utf-8"),
        "audit": house.home.audit_file.read_text("utf-8"),
        "log": house.home.log_file.read_text("utf-8"),
        "all files": "\n".join(
            path.read_bytes().decode("utf-8", "replace") for path in tmp_path.rglob("*") if path.is_file()
        ),
    }
    assert len(house.model.requests) >= 3 * TURNS
    for name, text in sinks.items():
        assert len(text) > 10_000, name
        assert "[redacted:" in text, name
        text += _unpacked(text)
        found = Counter(secret.kind for secret in secrets if any(piece[:12] in text for piece in secret.hidden))
        assert found == Counter(), name


def _joined(secrets) -> str:
    return "\n\n".join(secret.text for secret in secrets)


def _replies(bundle: dict[str, str]):
    yield [
        Say(bundle["answer"], chunk_chars=7),
        Call("peek", {"word": bundle["call"]}),
        Call("touch", {"word": bundle["refused call"]}),
    ]
    yield [Say("Again."), Call("peek", {"word": "fail"})]
    yield [Say("Done.")]


def _unpacked(text: str) -> str:
    """What stands in attached texts, which are stored in base64."""
    found = []
    for piece in text.replace("\\", " ").replace('"', " ").replace("'", " ").split():
        if len(piece) > 200 and len(piece) % 4 == 0:
            try:
                found.append(base64.b64decode(piece, validate=True).decode("utf-8", "replace"))
            except ValueError:
                continue
    return "\n".join(found)
