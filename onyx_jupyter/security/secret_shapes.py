"""The shapes of secrets that many people have: keys of providers, tokens, passwords in code. It knows no value.

Ordinary text stays whole: a hash, a UUID or a CSS class is no secret, and neither is a placeholder.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import replace
from itertools import pairwise

from onyx_jupyter.security.shape import Accepts, Run, Shape, Words

_PLACEHOLDER = re.compile(
    r"(?i)example|placeholder|your|change_?-?me|dummy|sample|insert|xxxx|1234567890|abcdefgh|password|passwd|secret\b"
    r"|redacted|\*\*\*|\.\.\.|^test"
)
_DOTTED_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_PATH = re.compile(r"~?\.{0,2}/|[A-Za-z]:[\\/]")
_QUOTES = "\"'`"


def _random(value: str) -> bool:
    """Letters and digits in turns, as no word or name has them."""
    characters = [character for character in value if character.isalnum()]
    classes = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in characters]
    changes = sum(left != right for left, right in pairwise(classes))
    return "d" in classes and len(set(classes)) > 1 and changes >= max(3, len(characters) // 6)


def _key_like(value: str, before: str, after: str) -> bool:
    """Has a longer piece in which letters are mixed with digits or with capitals: `sk-text-repr-fallback` has none."""
    return any(map(_is_mixed, re.split("[-_.]", value)))


def _is_mixed(piece: str) -> bool:
    if len(piece) < 10 or piece.isdigit():
        return False
    capitals = sum(character.isupper() for character in piece)
    return any(map(str.isdigit, piece)) or (len(piece) >= 20 and 5 <= capitals <= len(piece) - 5)


def _is_no_secret(value: str, before: str, after: str) -> bool:
    """A placeholder, a path, or code where a value would stand: `token = tokenizer(…)`, `password=$PASS`."""
    if _PATH.match(value) or _PLACEHOLDER.search(value):
        return True
    if before in tuple(_QUOTES):
        return False
    return after in ("(", "[", "{") or value[0] in "$%" or _DOTTED_NAME.fullmatch(value) is not None


def assigned_secret(value: str, before: str = '"', after: str = '"') -> bool:
    """Whether what is given to a name like `api_key` is a secret; unquoted, it must look more like one."""
    if len(value) < 16 or _is_no_secret(value, before, after):
        return False
    digits = sum(character.isdigit() for character in value)
    return _random(value) and (before in tuple(_QUOTES) or digits >= 2)


def assigned_password(value: str, before: str = '"', after: str = '"') -> bool:
    """Whether what is given to a name like `password` is one: three kinds of characters, or a random value."""
    if _is_no_secret(value, before, after):
        return False
    kinds = (str.islower, str.isupper, str.isdigit, lambda c: not c.isalnum())
    return sum(any(map(kind, value)) for kind in kinds) >= 3 or assigned_secret(value, before, after)


def _url_password(value: str, before: str, after: str) -> bool:
    return _PLACEHOLDER.search(value) is None and value.lower() not in ("pass", "pwd", "user", "pw", "secret", "token")


def _basic_credentials(value: str, before: str, after: str) -> bool:
    """Base64 of `name:password`; “Basic information” is none."""
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        return False


def _aws_id(value: str, before: str, after: str) -> bool:
    return "EXAMPLE" not in value


_TOKEN = "[A-Za-z0-9_-]"
_ALNUM = "[A-Za-z0-9]"
_WITHIN_A_WORD = "[A-Za-z][a-z]|[A-Z][A-Z]"
_PEM = ("", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ")
_PEM_BEGINNINGS = Words(
    (*(f"-----BEGIN {name}PRIVATE KEY-----" for name in _PEM), "-----BEGIN PGP PRIVATE KEY BLOCK-----")
)
_PEM_ENDS = Words((*(f"-----END {name}PRIVATE KEY-----" for name in _PEM), "-----END PGP PRIVATE KEY BLOCK-----"))
# Between name and value: closing quotes and brackets of the name, a sign, an opening quote (also escaped in JSON).
_ASSIGNED = (
    Run(r"[\\\"'`\]]", 0, 4),
    Run(r"[ \t]", 0, 3),
    Words((":=", "=>", "==", "=", ":")),
    Run(r"[ \t]", 0, 3),
    Run(r"[\\\"'`]", 0, 4),
)
_VALUE = Run(r"[A-Za-z0-9+/_=.~!@#$%^&*?-]", 8, 256, secret=True)
KEY_NAMES = (
    "api_key",
    "api-key",
    "apikey",
    "access_key",
    "accesskey",
    "account_key",
    "accountkey",
    "secret_key",
    "secretkey",
)
SECRET_NAMES = ("secret", "credential", "private_key", "privatekey", "sharedaccesskey", "signature")
PASSWORD_NAMES = ("password", "passwd", "passphrase", "pgpassword", "pwd")
SECRET_KEY_NAMES = tuple(name.replace("-", "_") for name in (*KEY_NAMES, *SECRET_NAMES, "token"))


def _prefixed(kind: str, texts: tuple[str, ...], run: Run) -> Shape:
    return Shape(kind, (Words(texts), run), _key_like)


def _named(kind: str, names: tuple[str, ...], password: bool = False) -> Shape:
    """`name = value`, where the name may end a longer one: `db_password`, `dbPassword`."""
    accepts = assigned_password if password else assigned_secret
    return Shape(kind, (Words(names), *_ASSIGNED, _VALUE), accepts, folded=True, bound=_WITHIN_A_WORD)


def _behind(kind: str, word: str, run: Run, accepts: Accepts) -> Shape:
    """What follows a word in any case; the word stays."""
    return Shape(kind, (Words((word,)), replace(run, secret=True)), accepts, folded=True)


_JWT_PART = Run(_TOKEN, 10, 4096)
_PEM_GAP = r"(?:\s|\\[nr]|[\"',+])"
_URL_USER = Run(r"[^\s/:@\"'<>\[\]{}$]", 0, 64)
_URL_PASSWORD = Run(r"[^\s/@\"'<>\[\]{}$*]", 3, 256, secret=True)

SHAPES: tuple[Shape, ...] = (
    _prefixed("anthropic-key", ("sk-ant-",), Run(_TOKEN, 16, 512)),
    _prefixed("openrouter-key", ("sk-or-",), Run(_TOKEN, 16, 512)),
    _prefixed("openai-key", ("sk-",), Run(_TOKEN, 16, 512)),
    _prefixed("onyx-key", ("onyx_sk_",), Run(_TOKEN, 16, 512)),
    _prefixed("google-key", ("AIza", "GOCSPX-", "ya29."), Run(_TOKEN, 20, 512)),
    Shape("aws-key-id", (Words(("AKIA", "ASIA", "ABIA", "ACCA")), Run("[A-Z0-9]", 16, 16)), _aws_id, whole=True),
    _prefixed("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), Run(_ALNUM, 30, 512)),
    _prefixed("github-token", ("github_pat_",), Run("[A-Za-z0-9_]", 30, 512)),
    _prefixed("gitlab-token", ("glpat-", "glptt-", "gldt-", "glrt-", "gloas-", "glcbt-"), Run(_TOKEN, 20, 512)),
    _prefixed("slack-token", (*(f"xox{letter}-" for letter in "abeoprs"), "xapp-"), Run("[A-Za-z0-9-]", 10, 512)),
    Shape("slack-webhook", (Words(("hooks.slack.com/services/",)), Run("[A-Za-z0-9/]", 20, 200, secret=True))),
    _prefixed("stripe-key", ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"), Run(_ALNUM, 16, 512)),
    _prefixed("huggingface-token", ("hf_",), Run(_ALNUM, 30, 512)),
    _prefixed("npm-token", ("npm_",), Run(_ALNUM, 30, 512)),
    _prefixed("pypi-token", ("pypi-",), Run(_TOKEN, 50, 512)),
    Shape("jwt", (Words(("eyJ",)), _JWT_PART, Words((".eyJ",)), _JWT_PART, Words((".",)), _JWT_PART), bound=_TOKEN),
    Shape("private-key", (_PEM_BEGINNINGS, Run(r"(?:[^-]|-(?!----))", 0, 16_000), _PEM_ENDS), bound=""),
    # One that was cut off has no end; only what can be nothing else is taken with it.
    Shape(
        "private-key",
        (_PEM_BEGINNINGS, Run(_PEM_GAP, 0, 20), Run(rf"(?:[A-Za-z0-9+/=]{{16,76}}+{_PEM_GAP}*+)", 1, 1_500)),
        bound="",
    ),
    Shape(
        "url-password",
        (Words(("://",)), _URL_USER, Words((":",)), _URL_PASSWORD, Words(("@",))),
        _url_password,
        bound="",
    ),
    _behind("bearer-token", "bearer ", Run(r"[A-Za-z0-9._~+/=-]", 16, 4096), _key_like),
    _behind("basic-credentials", "basic ", Run("[A-Za-z0-9+/=]", 8, 512), _basic_credentials),
    _named("password", PASSWORD_NAMES, password=True),
    _named("api-key", KEY_NAMES),
    _named("secret", SECRET_NAMES),
    _named("token", ("token",)),
)
