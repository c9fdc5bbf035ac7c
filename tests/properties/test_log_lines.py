"""Log lines over any message, logger, context and level."""

import json
import logging
from datetime import datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.config.schema import LoggingConfig
from onyx_jupyter.log_context import log_context
from onyx_jupyter.security.secret_redactor import SecretRedactor
from onyx_jupyter.server.log import Log

LEVELS = ("debug", "info", "warning", "error")
NAMES = st.lists(st.sampled_from(["agent", "loop", "server", "x1"]), max_size=3).map(
    lambda parts: ".".join(["onyx_jupyter", *parts])
)
ANY_TEXT = st.text(st.characters(codec=None), max_size=200)  # halves of surrogate pairs, control characters, all of it
ENTRIES = st.tuples(st.sampled_from(LEVELS), NAMES, ANY_TEXT, st.booleans())
IDS = st.none() | st.text(max_size=20)
redact_data = SecretRedactor({}).redact_data


def written(folder: Path, entries, level="debug", session=None, operation=None) -> list[dict]:
    """The lines of the file after these (level, logger, message, while an exception is handled) were logged."""
    log = Log(folder / "onyx.jsonl", redact_data)
    log.configure(LoggingConfig(level=level))
    try:
        with log_context(session=session, operation=operation):
            for name, logger, message, failing in entries:
                if failing:
                    try:
                        raise RuntimeError(message)
                    except RuntimeError:
                        logging.getLogger(logger).log(logging.getLevelName(name.upper()), message, exc_info=True)
                else:
                    logging.getLogger(logger).log(logging.getLevelName(name.upper()), "%s", message)
    finally:
        log.close()
    path = folder / "onyx.jsonl"
    raw = path.read_bytes().decode("utf-8") if path.exists() else ""
    return [json.loads(line) for line in raw.split("\n") if line]


@given(st.lists(ENTRIES, max_size=6), IDS, IDS)
def test_every_line_is_json_with_its_fields(tmp_path_factory, entries, session, operation):
    """Property 23: For any log entry, the output SHALL be valid JSON containing timestamp, level, message, and context
    fields."""
    lines = written(tmp_path_factory.mktemp("log"), entries, "debug", session, operation)
    assert len(lines) == len(entries)
    for line, (level, logger, message, _) in zip(lines, entries, strict=True):
        assert datetime.fromisoformat(line["time"]).utcoffset() is not None
        assert (line["level"], line["logger"]) == (level, logger)
        assert line["message"] == redact_data(message)
        assert set(line["context"]) == {"session", "run", "operation"}
        assert line["context"]["session"] == redact_data(session)


@given(st.lists(ENTRIES, max_size=10), st.sampled_from(LEVELS))
def test_only_lines_at_or_above_level_are_written(tmp_path_factory, entries, level):
    """Property 24: For any log entry, it SHALL only be written if its level is at or above the configured minimum level
    (error > warn > info > debug)."""
    lines = written(tmp_path_factory.mktemp("log"), entries, level)
    wanted = [entry for entry in entries if LEVELS.index(entry[0]) >= LEVELS.index(level)]
    assert [(line["level"], line["logger"]) for line in lines] == [(entry[0], entry[1]) for entry in wanted]


@given(st.lists(ENTRIES, min_size=1, max_size=4), st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
def test_every_error_has_traceback_session_and_operation(tmp_path_factory, entries, session, operation):
    """Property 25: For any error log entry, the output SHALL include a stack trace and relevant context (session ID,
    operation name)."""
    errors = [("error", *entry[1:]) for entry in entries]
    for line, (_, _, _, failing) in zip(
        written(tmp_path_factory.mktemp("log"), errors, "error", session, operation), errors, strict=True
    ):
        assert line["context"]["session"] == redact_data(session)
        assert line["context"]["operation"] == redact_data(operation)
        assert "test_log_lines.py" in line["stack"]
        assert ("RuntimeError" in line["stack"]) is failing
