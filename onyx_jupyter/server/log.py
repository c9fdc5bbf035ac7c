"""Onyx's lines in the server's log, without secrets. It decides nothing about what is logged."""

from __future__ import annotations

import logging
from collections.abc import Callable

LOGGER = "onyx_jupyter"
FORMAT = "[%(levelname).1s %(asctime)s Onyx] %(message)s"


class RedactingFormatter(logging.Formatter):
    """Takes secrets out of the whole line, the traceback of an exception included."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__(FORMAT)
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))


def write_log_through(redact: Callable[[str], str]) -> None:
    """Gives the package's logger one handler, whose lines go through `redact`; a former one is replaced."""
    handler = logging.StreamHandler()
    handler.setFormatter(RedactingFormatter(redact))
    logger = logging.getLogger(LOGGER)
    logger.handlers = [handler]
    logger.propagate = False  # a root handler would write the same line again, with the secrets
