"""A real SearX (Debian's package) in its own process, whose one engine is a server of the test."""

import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.free_port import free_port

COMMAND = "searx-run"
RESOURCES = Path("/usr/share/python3-searx")
START_S = 60.0


def find_searx() -> str | None:
    """Its path, or None where it is not installed."""
    return shutil.which(COMMAND) if RESOURCES.is_dir() else None


@contextmanager
def real_searx(folder: Path, engine_url: str) -> Iterator[str]:
    """Its address. `engine_url` answers `/find?q=` with JSON: `{"results": [{"url", "title", "content"}]}`."""
    command = find_searx()
    assert command is not None
    port = free_port()
    settings = folder / "searx.yml"
    settings.write_text(json.dumps(_settings(port, engine_url)))  # JSON is YAML
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment |= {"SEARX_SETTINGS_PATH": str(settings), "no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}
    log = folder / "searx.log"
    with log.open("wb") as output:
        process = subprocess.Popen([command], stdout=output, stderr=output, env=environment, cwd=folder)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait(url, process, log)
        yield url
    finally:
        process.terminate()
        process.wait(START_S)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        try:
            with opener.open(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)  # another process tells
    raise TimeoutError(log.read_text())


def _settings(port: int, engine_url: str) -> dict[str, Any]:
    """All that SearX 1.1 insists on, and one engine."""
    engine = {
        "name": "otters",
        "engine": "json_engine",
        "shortcut": "ot",
        "search_url": f"{engine_url}/find?q={{query}}",
        "results_query": "results",
        "url_query": "url",
        "title_query": "title",
        "content_query": "content",
        "categories": "general",
        "enable_http": True,
        "timeout": 10.0,
    }
    links = ("git_url", "git_branch", "issue_url", "docs_url", "public_instances", "wiki_url", "twitter_url")
    return {
        "general": {"debug": False, "instance_name": "test", "contact_url": False, "enable_stats": False},
        "brand": dict.fromkeys(links, ""),
        "search": {
            "safe_search": 0,
            "autocomplete": "",
            "default_lang": "",
            "ban_time_on_fail": 0,
            "max_ban_time_on_fail": 0,
            "formats": ["html", "json"],
        },
        "server": {
            "port": port,
            "bind_address": "127.0.0.1",
            "secret_key": "only-a-test",
            "base_url": False,
            "image_proxy": False,
            "http_protocol_version": "1.0",
            "method": "GET",
            "default_http_headers": {},
        },
        "ui": {
            "static_path": str(RESOURCES / "static"),
            "templates_path": str(RESOURCES / "templates"),
            "default_theme": "oscar",
            "default_locale": "",
            "theme_args": {"oscar_style": "logicodev"},
        },
        "outgoing": {"request_timeout": 10.0, "useragent_suffix": ""},
        "engines": [engine],
        "locales": {"en": "English"},
        "doi_resolvers": {"doi.org": "https://doi.org/"},
        "default_doi_resolver": "doi.org",
    }
