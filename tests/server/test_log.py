"""Onyx's lines in the server's log."""

import logging

from onyx_jupyter.security.secrets_filter import SecretsFilter
from onyx_jupyter.server.log import write_log_through


def test_no_secret_is_in_a_line_nor_in_the_traceback_below_it(capsys):
    write_log_through(SecretsFilter({"correct-horse-battery": "test-key"}).apply)
    log = logging.getLogger("onyx_jupyter.somewhere.below")
    try:
        raise ValueError("refused correct-horse-battery")
    except ValueError:
        log.exception("The key %s does not work", "correct-horse-battery")
    written = capsys.readouterr().err
    assert "does not work" in written
    assert "ValueError: refused [redacted:test-key]" in written
    assert "correct-horse-battery" not in written


def test_a_second_server_in_one_process_does_not_write_each_line_twice(capsys):
    for _ in range(2):
        write_log_through(lambda text: text)
    logging.getLogger("onyx_jupyter.somewhere").error("once")
    assert capsys.readouterr().err.count("once") == 1
