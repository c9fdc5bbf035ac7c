"""Secrets of every kind from a seeded generator, in the surroundings in which people have them. None opens anything."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable
from dataclasses import dataclass

_LETTERS = string.ascii_letters + string.digits
_WORDS = ("winter", "granite", "lantern", "meadow", "copper", "harbor", "velvet", "thunder")


@dataclass(frozen=True, slots=True)
class Seeded:
    """`text` holds the secret as one finds it; nobody may see any of `hidden`."""

    kind: str
    text: str
    hidden: tuple[str, ...]


def seeded(count: int, seed: int) -> list[Seeded]:
    """So many secrets, the kinds in turn, each with a value of its own."""
    dice = random.Random(seed)
    kinds = list(_KINDS)
    return [_one(kinds[number % len(kinds)], dice) for number in range(count)]


def _one(kind: str, dice: random.Random) -> Seeded:
    text, hidden = _KINDS[kind](dice)
    around = dice.choice(_AROUND_LINES if "\n" in text or kind in _WHOLE_LINES else _AROUND)
    hidden = (hidden,) if isinstance(hidden, str) else hidden
    return Seeded(kind, around(text), hidden)


def _mixed(dice: random.Random, size: int, characters: str = _LETTERS) -> str:
    """With letters and digits in turns, as keys have them."""
    return "".join(
        dice.choice(characters if place % 3 else string.digits if characters is _LETTERS else characters)
        for place in range(size)
    )


def _weak(dice: random.Random) -> str:
    return f"{dice.choice(_WORDS)}{dice.randrange(10**5, 10**6)}"


def _strong(dice: random.Random) -> str:
    return f"{dice.choice(_WORDS).title()}-{dice.randrange(10**5, 10**6)}!{_mixed(dice, 4)}"


def _hex(dice: random.Random, size: int) -> str:
    return _mixed(dice, size, "0123456789abcdef")


def _after(prefix: str, size: int) -> Callable[[random.Random], tuple[str, str]]:
    def make(dice: random.Random) -> tuple[str, str]:
        value = _mixed(dice, size)
        return prefix + value, value

    return make


def _in(form: str, value: Callable[[random.Random], str]) -> Callable[[random.Random], tuple[str, str]]:
    def make(dice: random.Random) -> tuple[str, str]:
        made = value(dice)
        return form.replace("%", made), made

    return make


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _private_key(dice: random.Random) -> tuple[str, tuple[str, ...]]:
    lines = tuple(_mixed(dice, 64) for _ in range(4))
    last = _mixed(dice, 10) + "=="
    name = dice.choice(("", "RSA ", "EC ", "OPENSSH "))
    text = "\n".join([f"-----BEGIN {name}PRIVATE KEY-----", *lines, last, f"-----END {name}PRIVATE KEY-----"])
    form = dice.choice((str, lambda whole: json.dumps({"private_key": whole}), lambda whole: whole.rpartition("\n")[0]))
    return form(text), lines


def _jwt(dice: random.Random) -> tuple[str, str]:
    signature = _mixed(dice, 40)
    return f"eyJhbGciOiJIUzI1NiJ9.eyJ{_mixed(dice, 24)}.{signature}", signature


def _aws_id(dice: random.Random) -> tuple[str, str]:
    value = _mixed(dice, 16, string.ascii_uppercase + "234567")
    return f"AKIA{value}", value


_KINDS: dict[str, Callable[[random.Random], tuple[str, str | tuple[str, ...]]]] = {
    "openai": _after("sk-proj-", 40),
    "anthropic": _after("sk-ant-api03-", 40),
    "openrouter": _after("sk-or-v1-", 40),
    "google": _after("AIza", 35),
    "aws id": _aws_id,
    "aws secret": _in("aws_secret_access_key = %", lambda dice: _mixed(dice, 40)),
    "github": _after("ghp_", 36),
    "github fine-grained": _after("github_pat_", 60),
    "gitlab": _after("glpat-", 24),
    "slack": _after("xoxb-123456789012-", 24),
    "slack webhook": _after("https://hooks.slack.com/services/T1234/B1234/", 24),
    "stripe": _after("sk_live_", 24),
    "hugging face": _after("hf_", 34),
    "npm": _after("npm_", 36),
    "pypi": _after("pypi-AgE", 60),
    "docker token": _after("dckr_pat_", 27),
    "groq": _after("gsk_", 48),
    "vault": _after("hvs.", 40),
    "databricks": _in("dapi%", lambda dice: _hex(dice, 32)),
    "digitalocean": _in("dop_v1_%", lambda dice: _hex(dice, 64)),
    "jwt": _jwt,
    "private key": _private_key,
    "url": _in("postgresql://ada:%@db.lab.org:5432/birds", _weak),
    "bearer": _in("Authorization: Bearer %", lambda dice: _mixed(dice, 40)),
    "basic": _in("Authorization: Basic %", lambda dice: _base64(f"ada:{_weak(dice)}")),
    "curl": _in("curl -u ada:% https://lab.org/api", _weak),
    "option": _in("wget --password=% https://lab.org/data", _weak),
    "netrc line": _in("machine lab.org login ada password %", _weak),
    "netrc": _in("machine lab.org\n  login ada\n  password %", _weak),
    "pgpass": _in("db.lab.org:5432:birds:ada:%", _weak),
    "docker auth": _in('{"auths": {"ghcr.io": {"auth": "%"}}}', lambda dice: _base64(f"ada:{_weak(dice)}")),
    "kubernetes key": _in("client-key-data: %", lambda dice: _base64(_mixed(dice, 60))),
    "kernel key": _in(
        '{"hb_port": 50, "ip": "127.0.0.1", "key": "%", "transport": "tcp", "signature_scheme": "hmac-sha256"}',
        lambda dice: f"{_hex(dice, 8)}-{_hex(dice, 24)}",
    ),
    "variable": _in("DB_PASSWORD=%", _weak),
    "variable secret": _in("export APP_SECRET=%", _weak),
    "variable token": _in("LAB_TOKEN=%", _weak),
    "yaml": _in("db:\n  host: lab.org\n  password: %", _weak),
    "json": _in('{"user": "ada", "password": "%"}', _weak),
    "python": _in("connect(user='ada', password='%')", _strong),
    "api key": _in('api_key = "%"', lambda dice: _mixed(dice, 32)),
    "query": _in("http://localhost:8888/lab?token=%", lambda dice: _hex(dice, 48)),
    "client secret": _in("clientSecret: %", lambda dice: _mixed(dice, 32)),
}
_WHOLE_LINES = frozenset({"pgpass"})
_AROUND_LINES: tuple[Callable[[str], str], ...] = (
    "# settings of the lab\n{}\n".format,
    "```\n{}\n```".format,
    lambda text: json.dumps({"cell_type": "code", "source": text + "\n"}),
    lambda text: "".join(f"{number:6}\t{line}\n" for number, line in enumerate(text.split("\n"), 1)),
)
_AROUND: tuple[Callable[[str], str], ...] = (
    *_AROUND_LINES,
    "The last line was `{}`.".format,
    "$ {}\nok".format,
    'Traceback (most recent call last):\n  File "a.py", line 3\nValueError: {}\n'.format,
    lambda text: json.dumps({"output_type": "stream", "name": "stdout", "text": [f"{text}\n", "done\n"]}),
    '<pre id="out">{}</pre>'.format,
)
