"""Whether a value in a secret's place is a secret: placeholders, code and plain words are not."""

from __future__ import annotations

import base64
import re

_PLACEHOLDERS = (
    "example", "placeholder", "your", "changeme", "change-me", "change_me", "dummy", "sample", "insert", "xxxx",
    "1234567890", "abcdefgh", "password", "passwd", "redacted", "***", "...",
)  # fmt: skip
_SECRET_WORD = re.compile(r"secret\b")
_PLAIN_WORDS = frozenset((
    "true", "false", "none", "null", "nil", "undefined", "empty", "required", "optional", "string", "bytes",
    "object", "hidden", "unset", "todo", "prompt", "stdin", "secretstr", "default", "disabled", "enabled",
    "invalid", "missing", "value", "input", "user", "pass", "pwd", "token", "secret",
))  # fmt: skip
_DOTTED_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_PATH = re.compile(r"~?\.{0,2}/|[A-Za-z]:[\\/]")
_QUOTES = frozenset("\"'`")
_LINE_ENDS = frozenset(("", "\n", "\r", "\\", '"', "'", "`"))  # also the end of a line inside a literal
_WORD_ENDS = frozenset("\"'`\\;&|<>$ \t\n\r") | {""}
_FIELD_ENDS = frozenset(" \t\n\r\"'`\\),;") | {""}
_LONG_PIECE = re.compile(r"[^-_.]{10,}")
_CLASSES = {
    **dict.fromkeys(range(128)),
    **{ord(c): "d" for c in "0123456789"},
    **{ord(c): "l" for c in "abcdefghijklmnopqrstuvwxyz"},
    **{ord(c): "u" for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"},
}
_CLASS_RUN = re.compile("d+|u+|[^du]+")
_HAS_DIGIT, _HAS_LETTER = re.compile("[0-9]"), re.compile("[A-Za-z]")
_KINDS = tuple(map(re.compile, ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9]")))
_GROUP = re.compile("[0-9a-fA-F]{1,4}")
_JUDGED_CHARS = 1024


def key_like(value: str, before: str = "", after: str = "") -> bool:
    """Contains a longer piece that mixes letters with digits or capitals: `sk-text-repr-fallback` has none.

    If this is false for a value, it is false for all its endings.
    """
    return any(_is_mixed(found[0]) for found in _LONG_PIECE.finditer(value))


def assigned_secret(value: str, before: str = '"', after: str = '"') -> bool:
    """Whether the value of a name like `api_key` is a secret; unquoted, it must look more like one."""
    value = value[:_JUDGED_CHARS]
    if len(value) < 16 or not _HAS_DIGIT.search(value) or _is_no_secret(value, before, after):
        return False
    return _random(value) and (_is_quoted(before) or len(_HAS_DIGIT.findall(value)) >= 2)


def assigned_password(value: str, before: str = '"', after: str = '"') -> bool:
    """Whether the value of a name like `password` is a secret.

    It needs three kinds of characters or a random value; in quotes, or up to the end of its line, letters and digits
    suffice.
    """
    value = value[:_JUDGED_CHARS]
    if _is_no_secret(value, before, after):
        return False
    kinds = sum(kind.search(value) is not None for kind in _KINDS)
    if kinds >= 3 and (len(value) >= 8 or _is_quoted(before)):
        return True
    quoted = _is_quoted(before) and after in ('"', "'", "`", "\\")
    line = after in _LINE_ENDS and not _is_quoted(before) and (":" in before or before.endswith("="))
    return ((quoted or line) and _is_weak(value)) or assigned_secret(value, before, after)


def variable_secret(value: str, before: str = '"', after: str = '"') -> bool:
    """Whether the value of a variable like `DB_PASSWORD` is a secret: not a placeholder, a plain word or code."""
    value = value[:_JUDGED_CHARS]
    ended = after in ('"', "'", "`", "\\") if _is_quoted(before) else after in _WORD_ENDS
    if len(value) < 4 or not ended or value[0] == "=" or value.lower() in _PLAIN_WORDS:
        return False
    return not _is_no_secret(value, before, after)


def variable_token(value: str, before: str = '"', after: str = '"') -> bool:
    """Like `variable_secret`, for `…TOKEN`, which may also be a number of tokens."""
    return not value.isdigit() and variable_secret(value, before, after)


def option_password(value: str, before: str = "", after: str = "") -> bool:
    """Whether the value of an option like `--password` is a secret; after a blank it may be a word of prose."""
    if value[0] == "-" or (before.endswith((" ", "\t")) and not _HAS_DIGIT.search(value)):
        return False
    return variable_secret(value, "", after if not _is_quoted(before) else "")


def url_password(value: str, before: str = "", after: str = "") -> bool:
    """Whether the text between `user:` and `@` in a URL is a password."""
    return not _is_placeholder(value) and value.lower() not in _PLAIN_WORDS and value.lower() != "pw"


def login_password(value: str, before: str = "", after: str = "") -> bool:
    """Whether the text after `-u name:` is a password; a group (`-u 1000:1000`, `--user app:staff`) is not."""
    if _is_placeholder(value) or value.isdigit() or value.lower() in _PLAIN_WORDS or _PATH.match(value):
        return False
    return not (value.islower() and value.replace("-", "").replace("_", "").isalpha() and len(value) < 12)


def file_password(value: str, before: str = "", after: str = "") -> bool:
    """Whether the password field of a password file holds one."""
    return not _is_placeholder(value) and value[0] not in "<$" and value.lower() not in _PLAIN_WORDS


def pgpass_password(value: str, before: str = "", after: str = "") -> bool:
    """The last of five fields, as in `.pgpass`; in an IPv6 address it is a short group."""
    return after in _FIELD_ENDS and _GROUP.fullmatch(value) is None and file_password(value, before, after)


def basic_credentials(value: str, before: str = "", after: str = "") -> bool:
    """Base64 of `name:password`; “Basic information” is not."""
    try:
        text = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except ValueError:  # a case-insensitive match may include letters that are not ASCII
        return False
    return b":" in text


def docker_auth(value: str, before: str = "", after: str = "") -> bool:
    """Base64 of `name:password` in characters that can be typed."""
    if not basic_credentials(value):
        return False
    return base64.b64decode(value + "=" * (-len(value) % 4)).decode("latin-1").isprintable()


def aws_id(value: str, before: str = "", after: str = "") -> bool:
    return "EXAMPLE" not in value


def private_key(value: str, before: str = "", after: str = "") -> bool:
    """A whole key; or a truncated one, if what follows its first line can be nothing else."""
    return "-----END" in value[-60:] or key_like(value.partition("KEY")[2][:400].replace("+", "").replace("/", ""))


def _is_mixed(piece: str) -> bool:
    if piece.isdigit():
        return False
    if _HAS_DIGIT.search(piece):
        return True
    capitals = sum(map(str.isupper, piece)) if len(piece) >= 20 else 0
    return 5 <= capitals <= len(piece) - 5


def _is_quoted(before: str) -> bool:
    return before[-1:] in _QUOTES


def _is_weak(value: str) -> bool:
    return len(value) >= 6 and _HAS_DIGIT.search(value) is not None and _HAS_LETTER.search(value) is not None


def _random(value: str) -> bool:
    """Letters and digits alternate more than in any word or name."""
    classes = value.translate(_CLASSES)
    runs = _CLASS_RUN.findall(classes)
    return "d" in classes and len({run[0] for run in runs}) > 1 and len(runs) - 1 >= max(3, len(classes) // 6)


def _is_no_secret(value: str, before: str, after: str) -> bool:
    """A placeholder, a path, or code in a value's place: `token = tokenizer(…)`, `password=$PASS`."""
    if _PATH.match(value) or _is_placeholder(value):
        return True
    if _is_quoted(before):
        return False
    return after in ("(", "[", "{") or value[:1] in ("$", "%", "!") or _DOTTED_NAME.fullmatch(value) is not None


def _is_placeholder(value: str) -> bool:
    lower = value.lower()
    for word in _PLACEHOLDERS:  # a loop, since this runs for every candidate
        if word in lower:
            return True
    return lower.startswith("test") or ("secret" in lower and _SECRET_WORD.search(lower) is not None)
