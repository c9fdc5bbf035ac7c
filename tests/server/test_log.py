"""Onyx's lines in the server's log: on the console, and in a file of JSON lines."""

import json
import logging
from pathlib import Path

import pytest

from onyx_jupyter.config.schema import LoggingConfig
from onyx_jupyter.log_context import log_context
from onyx_jupyter.security.secret_redactor import SecretRedactor
from onyx_jupyter.server.log import Log
from tests.storage.full_disk import file_size_limit

SECRET = "correct-horse-battery"
redact_data = SecretRedactor({SECRET: "test-key"}).redact_data
log = logging.getLogger("onyx_jupyter.somewhere.below")


@pytest.fixture
def open_log(tmp_path):
    """Opens the log on a folder; every one is closed after the test."""
    opened = []

    def open_one(**config: object) -> Log:
        made = Log(tmp_path / "logs" / "onyx.jsonl", redact_data)
        made.configure(LoggingConfig.model_validate(config))
        opened.append(made)
        return made

    yield open_one
    for one in opened:
        one.close()


def lines(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "logs" / "onyx.jsonl").read_text("utf-8").splitlines()]


def test_log_lines_and_tracebacks_contain_no_secret(tmp_path, open_log, capsys):
    opened = open_log()
    try:
        raise ValueError(f"refused {SECRET}")
    except ValueError:
        log.exception("The key %s does not work", SECRET)
    opened.close()
    console = capsys.readouterr().err
    assert "does not work" in console
    assert "ValueError: refused [redacted:test-key]" in console
    (line,) = lines(tmp_path)
    assert line["message"] == "The key [redacted:test-key] does not work"
    assert line["stack"].endswith("ValueError: refused [redacted:test-key]")
    assert SECRET not in console + json.dumps(line)


def test_line_has_time_module_session_and_run(tmp_path, open_log):
    opened = open_log()
    with log_context(session="S1", operation="chat.send"), log_context(run="R1", operation="tool exec"):
        log.info("Grün %s\n%s", "😀", "second line")
    log.info("outside")
    opened.close()
    inside, outside = lines(tmp_path)
    assert inside["time"].endswith("Z")
    assert (inside["level"], inside["logger"]) == ("info", "onyx_jupyter.somewhere.below")
    assert inside["message"] == "Grün 😀\nsecond line"
    assert inside["context"] == {"session": "S1", "run": "R1", "operation": "tool exec"}
    assert outside["context"]["session"] is None
    assert outside["context"]["operation"].startswith("test_log.")
    assert "stack" not in inside


def test_warnings_go_to_console_and_lower_levels_only_to_file(tmp_path, open_log, capsys):
    opened = open_log(level="debug")
    log.debug("a detail")
    log.warning("a warning")
    opened.close()
    written = capsys.readouterr().err
    assert "a detail" not in written
    assert "Onyx] a warning" in written
    assert [line["message"] for line in lines(tmp_path)] == ["a detail", "a warning"]


def test_second_server_in_process_does_not_duplicate_lines(tmp_path, open_log, capsys):
    first, second = open_log(), open_log()
    log.error("once")
    second.configure(LoggingConfig())
    log.error("again")
    for opened in (first, second):
        opened.close()
    assert capsys.readouterr().err.count("once") == 1
    assert [line["message"] for line in lines(tmp_path)] == ["once", "again"]


def test_full_file_is_rotated_with_limited_private_backups(tmp_path, open_log):
    opened = open_log(maxBytes=10_000, files=2)
    for number in range(200):
        log.info("%d %s", number, "x" * 500)
    opened.close()
    files = sorted((tmp_path / "logs").iterdir())
    assert [file.name for file in files] == ["onyx.jsonl", "onyx.jsonl.1", "onyx.jsonl.2"]
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files)
    assert all(file.stat().st_size <= 10_000 for file in files)
    assert (tmp_path / "logs").stat().st_mode & 0o777 == 0o700
    kept = [json.loads(line)["message"] for file in reversed(files) for line in file.read_text().splitlines()]
    assert kept[-1].startswith("199 ")
    assert [int(message.split()[0]) for message in kept] == list(range(200 - len(kept), 200))


def test_full_disk_loses_only_log_lines(tmp_path, open_log, capsys):
    opened = open_log()
    log.info("before")
    opened.close()
    opened = open_log()
    with file_size_limit((tmp_path / "logs" / "onyx.jsonl").stat().st_size + 50):
        log.warning("during %s", "x" * 500)
        opened.close()
    assert "Traceback" not in capsys.readouterr().err
    opened = open_log()
    log.info("after")
    opened.close()
    written = (tmp_path / "logs" / "onyx.jsonl").read_text("utf-8").split("\n")
    assert json.loads(written[0])["message"] == "before"
    assert json.loads(written[-2])["message"] == "after"


def test_without_log_file_console_remains(tmp_path, capsys):
    (tmp_path / "logs").touch()
    opened = Log(tmp_path / "logs" / "below" / "onyx.jsonl", redact_data)
    opened.configure(LoggingConfig())
    log.warning("heard all the same")
    opened.close()
    written = capsys.readouterr().err
    assert "The log file could not be opened" in written
    assert "heard all the same" in written
