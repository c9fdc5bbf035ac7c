"""The shapes of common secrets: keys of providers, tokens, passwords in code.

Ordinary text stays intact: hashes, UUIDs, CSS classes and placeholders are not secrets.
"""

from __future__ import annotations

from onyx_jupyter.security.pattern_parts import Literals, Part, Repeat, Run, Value
from onyx_jupyter.security.private_key_pattern import PRIVATE_KEY
from onyx_jupyter.security.secret_pattern import Accepts, SecretPattern
from onyx_jupyter.security.secret_values import (
    assigned_password,
    assigned_secret,
    aws_id,
    basic_credentials,
    docker_auth,
    file_password,
    key_like,
    login_password,
    option_password,
    pgpass_password,
    url_password,
    variable_secret,
    variable_token,
)

_TOKEN = "[A-Za-z0-9_-]"
_ALNUM = "[A-Za-z0-9]"
_BASE64 = "[A-Za-z0-9+/=]"
_QUOTE = r"[\\\"'`]"
_BLANK = r"[ \t]"
# Between name and value: closing quotes and brackets of the name, a sign, an opening quote (also escaped in JSON).
_ASSIGNED = (
    Run(r"[\\\"'`\]]", 0, 4),
    Run(_BLANK, 0, 3),
    Literals((":=", "=>", "==", "=", ":")),
    Run(_BLANK, 0, 3),
    Run(_QUOTE, 0, 4),
)
_CHARACTERS = "[A-Za-z0-9+/_.~!@#%^*?-]"
_SHELL_CHARACTERS = "[A-Za-z0-9+/_.~!@#%^*?:-]"
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
VARIABLE_PASSWORD_NAMES = ("PASSWORD", "PASSWD", "PASSPHRASE", "PWD")
VARIABLE_KEY_NAMES = ("API_KEY", "APIKEY", "SECRET_KEY", "ACCESS_KEY", "SECRET")
VARIABLE_TOKEN_NAMES = ("TOKEN",)


def _prefixed(kind: str, texts: tuple[str, ...], run: str, least: int) -> SecretPattern:
    return SecretPattern(kind, (Literals(texts), Run(run, least, None)), key_like)


def _named(kind: str, names: tuple[str, ...], accepts: Accepts, least: int) -> SecretPattern:
    """`name = value`; the name may be the end of a longer one: `db_password`, `dbPassword`."""
    return SecretPattern(
        kind, (Literals(names), *_ASSIGNED, Value(_CHARACTERS, least)), accepts, folded=True, word=True
    )


def _variable(kind: str, names: tuple[str, ...], accepts: Accepts) -> SecretPattern:
    """`DB_NAME=value`, as in a shell or a settings file."""
    parts = (Literals(names), Literals(("=",)), Run(_QUOTE, 0, 3), Value(_SHELL_CHARACTERS, 4))
    return SecretPattern(kind, parts, accepts, bound="[a-z]")


def _behind(kind: str, word: str, run: Run, accepts: Accepts) -> SecretPattern:
    """What follows a word in any case; the word itself is kept."""
    return SecretPattern(kind, (Literals((word,)), run), accepts, folded=True)


_JWT_PART = Run(_TOKEN, 10, None)

_KEYS: tuple[SecretPattern, ...] = (
    _prefixed("anthropic-key", ("sk-ant-",), _TOKEN, 16),
    _prefixed("openrouter-key", ("sk-or-",), _TOKEN, 16),
    _prefixed("openai-key", ("sk-",), _TOKEN, 16),
    _prefixed("onyx-key", ("onyx_sk_",), _TOKEN, 16),
    _prefixed("google-key", ("AIza", "GOCSPX-"), _TOKEN, 20),
    _prefixed("google-key", ("ya29.",), _TOKEN, 20),
    SecretPattern(
        "aws-key-id", (Literals(("AKIA", "ASIA", "ABIA", "ACCA")), Run("[A-Z0-9]", 16, 16)), aws_id, whole=True
    ),
    _prefixed("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _ALNUM, 30),
    _prefixed("github-token", ("github_pat_",), "[A-Za-z0-9_]", 30),
    _prefixed("gitlab-token", ("glpat-", "glptt-", "gldt-", "glrt-", "gloas-", "glcbt-"), _TOKEN, 20),
    _prefixed("slack-token", (*(f"xox{letter}-" for letter in "abeoprs"), "xapp-"), "[A-Za-z0-9-]", 10),
    SecretPattern(
        "slack-webhook", (Literals(("hooks.slack.com/services/",)), Run("[A-Za-z0-9/]", 20, 200, secret=True))
    ),
    _prefixed("stripe-key", ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"), _ALNUM, 16),
    _prefixed("huggingface-token", ("hf_",), _ALNUM, 30),
    _prefixed("npm-token", ("npm_",), _ALNUM, 30),
    _prefixed("pypi-token", ("pypi-",), _TOKEN, 50),
    _prefixed("docker-token", ("dckr_pat_",), _TOKEN, 20),
    _prefixed("groq-key", ("gsk_",), _ALNUM, 30),
    _prefixed("vault-token", ("hvs.",), _TOKEN, 20),
    _prefixed("databricks-token", ("dapi",), "[a-f0-9]", 32),
    _prefixed("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), "[a-f0-9]", 40),
    SecretPattern(
        "jwt",
        (Literals(("eyJ",)), _JWT_PART, Literals((".eyJ",)), _JWT_PART, Literals((".",)), _JWT_PART),
        bound=_TOKEN,
    ),
    PRIVATE_KEY,
)

_LOGIN_WORD = Run(r"[^\s\"'\\,]", 1, 256)
# `read` puts a number and a tab in front of every line.
_APART = (Run(r"(?:[\s,]|\\|(?<=\\)[nrt])", 1, 64), Repeat((Run("[0-9]", 1, 7), Literals(("\t",)), Run(_BLANK, 0, 64))))
_PORTS = tuple(f":{digit}" for digit in range(1, 10))
_NO_HOST = r"[^A-Za-z0-9.*_\]-]"
_NO_GAP = r"[^\s\"'(\[,]"
_OPTIONS = ("--http-password", "--ftp-password", "--proxy-password", "--password", "--passwd", "--passphrase")


def _netrc(head: str, *host: Part) -> SecretPattern:
    """`machine h login u password p`, on one line or several."""
    login = Repeat((Literals(("login", "account")), *_APART, _LOGIN_WORD, *_APART), 0, 2)
    password = Run(r"[^\s\"'\\`]", 3, 256, secret=True)
    return SecretPattern(
        "netrc", (Literals((head,)), *_APART, *host, login, Literals(("password",)), *_APART, password), file_password
    )


def _pgpass(*port: Part) -> SecretPattern:
    """`host:port:database:user:password`, a whole line from the port on."""
    user = (Run("[A-Za-z_*]", 1, 1), Run(r"[^\s:\\\"'/]", 0, 63), Literals((":",)))
    password = Run(r"[^\s:\\\"'`]", 4, 128, secret=True)
    parts = (*port, Run(r"[^\s:\\\"'/]", 1, 64), Literals((":",)), *user, password)
    return SecretPattern("pgpass", parts, pgpass_password, bound=_NO_HOST)


_FILES: tuple[SecretPattern, ...] = (
    _netrc("machine", _LOGIN_WORD, *_APART),
    _netrc("default"),
    _pgpass(Literals((":*:",))),
    _pgpass(Literals(_PORTS), Run("[0-9]", 3, 4), Literals((":",))),
    # ~/.docker/config.json and .npmrc
    SecretPattern("docker-auth", (Literals(("auth",)), *_ASSIGNED, Run(_BASE64, 8, 512, secret=True)), docker_auth),
    # A kubeconfig's client key; its certificate is public.
    SecretPattern("kubernetes-key", (Literals(("client-key-data",)), *_ASSIGNED, Run(_BASE64, 16, None, secret=True))),
    # Kernel connection files: with the key one can run code in the kernel.
    SecretPattern(
        "kernel-key",
        (
            Literals(("hb_port",)),
            Run(r"(?:[^{}\"'\\h]|h(?!b_port)|[\"'\\](?!key[\"'\\]))", 0, 400),
            Literals(('"key', "'key")),
            Run(r"[\\\"']", 1, 4),
            Run(r"\s", 0, 4),
            Literals((":",)),
            Run(r"\s", 0, 4),
            Run(r"[\\\"']", 1, 4),
            Run(_TOKEN, 8, 128, secret=True),
        ),
    ),
)

_URL_USER = Run(r"[^\s/:@\"'<>\[\]{}$]", 0, 64)
_URL_PASSWORD = Run(r"[^\s/@\"'<>\[\]{}$*]", 3, 256, secret=True)
_OPTION_VALUE = Value(_SHELL_CHARACTERS, 4)
_CREDENTIALS: tuple[SecretPattern, ...] = (
    SecretPattern(
        "url-password",
        (Literals(("://",)), _URL_USER, Literals((":",)), _URL_PASSWORD, Literals(("@",))),
        url_password,
        bound="",
    ),
    _behind("bearer-token", "bearer ", Run(r"[A-Za-z0-9._~+/=-]", 16, 4096, secret=True), key_like),
    _behind("basic-credentials", "basic ", Run(_BASE64, 8, 512, secret=True), basic_credentials),
    SecretPattern(
        "login-password",  # curl -u name:password
        (
            Literals(("--user", "--proxy-user", "-u", "-U")),
            Run(r"[\s\"',=\\]", 0, 6),
            Run("[A-Za-z0-9._@%+-]", 1, 64),
            Literals((":",)),
            _OPTION_VALUE,
        ),
        login_password,
        bound=_NO_GAP,
    ),
    SecretPattern(
        "password", (Literals(_OPTIONS), Run(r"[\s\"',=\\]", 1, 6), _OPTION_VALUE), option_password, bound=_NO_GAP
    ),
)

_ASSIGNMENTS: tuple[SecretPattern, ...] = (
    _named("password", PASSWORD_NAMES, assigned_password, 6),
    _variable("password", VARIABLE_PASSWORD_NAMES, variable_secret),
    _named("api-key", KEY_NAMES, assigned_secret, 16),
    _named("secret", SECRET_NAMES, assigned_secret, 16),
    _variable("secret", VARIABLE_KEY_NAMES, variable_secret),
    _named("token", ("token",), assigned_secret, 16),
    _variable("token", VARIABLE_TOKEN_NAMES, variable_token),
)

SHAPES: tuple[SecretPattern, ...] = (*_KEYS, *_FILES, *_CREDENTIALS, *_ASSIGNMENTS)
