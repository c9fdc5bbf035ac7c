"""What is a secret, what is none, and what stands in its place."""

import base64
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from onyx_jupyter.messages import Attachment, ToolCall
from onyx_jupyter.security.known_secrets import environment_secrets, without_secrets
from onyx_jupyter.security.secret_redactor import SecretRedactor, marked
from tests.security.secret_samples import MIXED, ORDINARY, PEM, SECRETS, WEAK

SHAPES = SecretRedactor({})
VALUE = 'pa"ss/wörd+1&x'
KNOWN = SecretRedactor({VALUE: "lab-key"}, shapes=False)


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("around", ["{}", "see {} there", '"{}"', "\n{}\n", "({})"])
def test_every_pattern_is_redacted_and_named(kind, around):
    text, hidden = SECRETS[kind]
    result = SHAPES.apply(around.format(text))
    assert f"[redacted:{kind}]" in result
    assert hidden not in result
    assert result.replace(f"[redacted:{kind}]", "").strip('"() \n') != text


@pytest.mark.parametrize(("text", "hidden", "kind"), WEAK)
def test_weak_secret_is_recognized_by_context_and_redacted_alone(text, hidden, kind):
    assert SHAPES.apply(text) == text.replace(hidden, f"[redacted:{kind}]")


@pytest.mark.parametrize("code", ["&rm -rf x&y", ";id", "|sh", "$(id)", "`id`", "<(id)", ">out", "&&id", "${x}", " id"])
@pytest.mark.parametrize(
    "name", ["DB_PASSWORD=", "password=", "token = ", "export API_KEY=", 'secret: "', "PASSWORD='"]
)
def test_code_after_a_secret_is_never_hidden(name, code):
    value = "aB3kd93jfK30dkfj39dkfQ2w"
    assert SHAPES.apply(f"{name}{value}{code}").endswith(code)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_unchanged(text):
    assert SHAPES.apply(text) == text


def test_nothing_in_our_sources_is_mistaken_for_a_secret():
    package = Path(__file__).parents[2] / "onyx_jupyter"
    for path in package.rglob("*.py"):
        text = path.read_text("utf-8")
        assert SHAPES.apply(text) == text, path


@pytest.mark.parametrize(
    "spelling",
    [
        VALUE,
        quote(VALUE, safe=""),
        json.dumps(VALUE)[1:-1],
        json.dumps(VALUE, ensure_ascii=False)[1:-1],
        base64.b64encode(VALUE.encode()).decode().rstrip("="),
        base64.urlsafe_b64encode(VALUE.encode()).decode().rstrip("="),
    ],
)
def test_known_value_is_redacted_in_every_encoding(spelling):
    assert KNOWN.apply(f"x{spelling}y").startswith("x[redacted:lab-key]")
    assert spelling not in KNOWN.apply(f"<{spelling}>")


@pytest.mark.parametrize("user", ["a", "ab", "abc", "ada"])
def test_known_value_is_redacted_in_base64_credentials(user):
    secret = "korrekt-horse-battery"
    header = base64.b64encode(f"{user}:{secret}".encode()).decode()
    result = SecretRedactor({secret: "lab-key"}, shapes=False).apply(header)
    assert "[redacted:lab-key]" in result
    assert len(result.replace("[redacted:lab-key]", "")) <= 12


def test_overlapping_secrets_are_both_redacted():
    known = SecretRedactor({f"{MIXED} and more words": "lab-key"})
    assert known.apply(f"key sk-proj-{MIXED} and more words.") == "key [redacted:openai-key]."


def test_truncated_key_is_redacted():
    cut = PEM[: PEM.index("-----END")]
    assert SHAPES.apply(f"{cut}… 3 lines left out") == "[redacted:private-key]\n… 3 lines left out"


HEADERS = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,1C2D3E4F5A6B7C8D\n\n"
LINES = ["MIIEowIBAAKCAQEA0Z3VS5JJcds3xfnMIIEowIBAAKCAQEA0Z3VS5JJcds3xfn+/"] * 3
LAST = "Zs3xfn=="
BEGIN, END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
WHOLE = "\n".join([BEGIN, *LINES, LAST, END])
ARMOR = (
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2 (GNU/Linux)\nComment: of the lab, https://lab.org\n\n"
    + "\n".join([*LINES, LAST, "=aB3d", "-----END PGP PRIVATE KEY BLOCK-----"])
)


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        WHOLE.replace("\n", "\r\n"),
        json.dumps(WHOLE)[1:-1],
        json.dumps(json.dumps(WHOLE)[1:-1])[1:-1],
        WHOLE.replace("\n", "\n    "),
        WHOLE.replace("\n", '\\n"\n    "'),
        WHOLE.replace("\n", "\n> "),
        WHOLE.replace("\n", "\nid.pem:7:"),
        "".join(f"{line}\n{number:6}\t" for number, line in enumerate(WHOLE.split("\n"), 2)).rpartition("\n")[0],
        WHOLE.replace(BEGIN, f"{BEGIN}\n{HEADERS}"),
        ARMOR,
    ],
)
def test_private_key_is_redacted_completely_in_any_format(text):
    assert SHAPES.apply(f"x {text} y") == "x [redacted:private-key] y"


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.system('id')", "Comment: x = os.system('id')", "Version: exec(x)", "x = 1", "!rm -rf x", "%cd x",
        "'); run('", "exec", "open -a x", "DEK-Info: $(id)", "Proc-Type: `id`",
    ],
)  # fmt: skip
def test_only_key_material_inside_key_markers_is_hidden(code):
    assert code in SHAPES.apply(f"{BEGIN}\n{code}\n{END}")
    damaged = SHAPES.apply("\n".join([BEGIN, LINES[0], code, *LINES, END]))
    assert code in damaged
    assert damaged.startswith("[redacted:private-key]")
    assert LINES[0] not in damaged.partition(code)[0]


def test_short_or_ordinary_value_is_not_redacted():
    text = "lm-studio and EMPTY are words"
    assert SecretRedactor({"lm-studio": "lab-key", "EMPTY": "x-key"}).apply(text) == text


def test_environment_yields_secret_looking_values_but_no_paths():
    names = {
        "GITHUB_TOKEN": "word-with-dashes", "PGPASSWORD": "correct horse", "SIGN_KEY": MIXED, "MAIN_KEY": "customer",
        "GOOGLE_APPLICATION_CREDENTIALS": "/home/ada/key.json", "HOME": "/home/ada", "TOKENIZERS_PARALLELISM": "false",
    }  # fmt: skip
    assert set(environment_secrets(names)) == {"word-with-dashes", "correct horse", MIXED}
    assert set(without_secrets(names)) == {
        "MAIN_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "HOME", "TOKENIZERS_PARALLELISM",
    }  # fmt: skip


def test_nested_data_is_redacted_also_by_key_name():
    data = {
        "headers": [{"Authorization": f"Bearer {MIXED}"}],
        "db": {"password": "Winter-2031x", "port": 5432},
        "n": None,
    }
    assert SHAPES.redact_data(data) == {
        "headers": [{"Authorization": "Bearer [redacted:bearer-token]"}],
        "db": {"password": "[redacted:password]", "port": 5432},
        "n": None,
    }
    assert SHAPES.redact_data({f"sk-proj-{MIXED}": 1}) == {"[redacted:openai-key]": 1}
    assert KNOWN.redact_data({"password": "Winter-2031x"}) == {"password": "Winter-2031x"}


def test_attached_text_is_redacted_and_image_is_not():
    text = base64.b64encode(f"key=sk-proj-{MIXED}".encode()).decode()
    attached = SHAPES.redact_attachment(Attachment("file", "text/plain", text, "a.txt"))
    assert base64.b64decode(attached.data) == b"key=[redacted:openai-key]"
    picture = Attachment("image", "image/png", text)
    assert SHAPES.redact_attachment(picture) == picture
    stored = SHAPES.redact_data({"attachments": [{"mimeType": "text/plain", "data": text}]})
    assert base64.b64decode(stored["attachments"][0]["data"]) == b"key=[redacted:openai-key]"


def test_call_is_redacted_even_if_not_json():
    call = SHAPES.redact_call(ToolCall("c1", "exec", {"command": f"use sk-proj-{MIXED}"}, f'{{"a": "sk-proj-{MIXED}'))
    assert call.arguments == {"command": "use [redacted:openai-key]"}
    assert call.malformed == '{"a": "[redacted:openai-key]'


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ({"source": "x = '[redacted:openai-key]'"}, "source"),
        ({"edits": [{"oldText": "a"}, {"oldText": "[REDACTED:x]"}]}, "edits.1.oldText"),
        ({"env": {"[redacted:token]": "x"}}, "env.[redacted:token]"),
        ({"source": "redacted: nothing", "n": 3, "list": [None, "["]}, None),
    ],
)
def test_redaction_mark_is_found_anywhere(data, place):
    assert marked(data) == place


def test_redaction_is_idempotent():
    for text, _ in SECRETS.values():
        once = SHAPES.apply(text)
        assert SHAPES.apply(once) == once
