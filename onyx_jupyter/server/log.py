"""Onyx's log: JSON lines in a file that rotates when full, and warnings on the server's console.

Secrets are removed from both.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path
from queue import SimpleQueue
from types import FrameType
from typing import Any

from pythonjsonlogger.json import JsonFormatter

from onyx_jupyter.clock import timestamp
from onyx_jupyter.config.schema import LoggingConfig
from onyx_jupyter.errors import StorageError
from onyx_jupyter.log_context import logged_facts
from onyx_jupyter.storage.atomic_write import PRIVATE_FILE, make_private_folder

LOGGER = "onyx_jupyter"
CONSOLE_FORMAT = "[%(levelname).1s %(asctime)s Onyx] %(message)s"


class Log:
    """The package's logger and its two handlers, replacing earlier ones; `close` closes the file."""

    def __init__(self, path: Path, redact_data: Callable[[Any], Any]) -> None:
        self._path = path
        self._redact_data = redact_data
        self._listener: QueueListener | None = None
        self._file: _PrivateRotatingFile | None = None
        console = logging.StreamHandler()
        console.setLevel(logging.WARNING)
        console.setFormatter(_ConsoleLine(redact_data))
        self._console = console
        logger = logging.getLogger(LOGGER)
        logger.handlers = [console]
        logger.propagate = False  # a root handler would write the line again, including the secrets
        logger.setLevel(logging.WARNING)

    def configure(self, config: LoggingConfig) -> None:
        """Starts logging to the file as configured. If the disk refuses, only the file is lost."""
        self.close()
        try:
            make_private_folder(self._path.parent)
        except StorageError as error:
            logging.getLogger(__name__).warning("The log file could not be opened: %s", error)
            return
        queue: SimpleQueue[logging.LogRecord] = SimpleQueue()
        lines = QueueHandler(queue)
        lines.setLevel(config.level.upper())
        lines.setFormatter(_JsonLine(self._redact_data))  # here and not in the thread: the context is the caller's
        self._file = _PrivateRotatingFile(self._path, config)
        self._listener = QueueListener(queue, self._file)
        self._listener.start()
        logger = logging.getLogger(LOGGER)
        logger.handlers = [self._console, lines]
        logger.setLevel(min(lines.level, logging.WARNING))

    def close(self) -> None:
        """Writes pending lines and closes the file; the console stays."""
        if self._listener is not None and self._file is not None:
            logger = logging.getLogger(LOGGER)
            logger.handlers = [handler for handler in logger.handlers if not isinstance(handler, QueueHandler)]
            self._listener.stop()
            self._file.close()
            self._listener = self._file = None


class _ConsoleLine(logging.Formatter):
    """Removes secrets from the whole line, including an exception's traceback."""

    def __init__(self, redact_data: Callable[[Any], Any]) -> None:
        super().__init__(CONSOLE_FORMAT)
        self._redact_data = redact_data

    def format(self, record: logging.LogRecord) -> str:
        return str(self._redact_data(super().format(record)))


class _JsonLine(JsonFormatter):
    """time, level, logger, message, context {session, run, operation}, and for an error its stack."""

    def __init__(self, redact_data: Callable[[Any], Any]) -> None:
        super().__init__(json_ensure_ascii=False)
        self._redact_data = redact_data

    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]) -> None:
        facts = logged_facts()
        line = {
            "time": timestamp(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "context": {
                "session": facts.get("session"),
                "run": facts.get("run"),
                "operation": facts.get("operation", f"{record.module}.{record.funcName}"),
            },
        }
        if record.exc_info or record.levelno >= logging.ERROR:
            line["stack"] = self._stack(record)
        log_data.update(self._redact_data(line))

    def _stack(self, record: logging.LogRecord) -> str:
        """The stack of the exception, or else of the logging call."""
        if record.exc_info and record.exc_info[0] is not None:
            return "".join(self.formatException(record.exc_info))
        frame: FrameType | None = sys._getframe()
        while frame is not None and frame.f_code.co_filename != record.pathname:
            frame = frame.f_back
        return "".join(traceback.format_stack(frame))


class _PrivateRotatingFile(RotatingFileHandler):
    """Readable only by the owner. A line that cannot be written is dropped: no work fails because of its log."""

    def __init__(self, path: Path, config: LoggingConfig) -> None:
        super().__init__(path, maxBytes=config.max_bytes, backupCount=config.files, delay=True)
        self.setFormatter(logging.Formatter("%(message)s"))

    def _open(self) -> io.TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_RDWR | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            os.write(descriptor, b"\n")  # a kill or a full disk cut the last line: start a new one
        # Half a surrogate pair, which UTF-8 cannot hold, becomes JSON's own escape.
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        """The line is lost; if it matters, it is on the console. The file is reopened for the next line."""
        self.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):  # what could not be written before cannot be written now
            super().close()
