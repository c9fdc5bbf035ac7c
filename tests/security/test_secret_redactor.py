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
def test_every_shape_is_taken_out_and_named(kind, around):
    text, hidden = SECRETS[kind]
    result = SHAPES.apply(around.format(text))
    assert f"[redacted:{kind}]" in result
    assert hidden not in result
    assert result.replace(f"[redacted:{kind}]", "").strip('"() \n') != text


@pytest.mark.parametrize(("text", "hidden", "kind"), WEAK)
def test_a_weak_secret_is_known_by_its_place_and_alone_taken_out(text, hidden, kind):
    assert SHAPES.apply(text) == text.replace(hidden, f"[redacted:{kind}]")


@pytest.mark.parametrize("code", ["&rm -rf x&y", ";id", "|sh", "$(id)", "`id`", "<(id)", ">out", "&&id", "${x}", " id"])
@pytest.mark.parametrize(
    "name", ["DB_PASSWORD=", "password=", "token = ", "export API_KEY=", 'secret: "', "PASSWORD='"]
)
def test_code_behind_a_secret_is_never_hidden(name, code):
    value = "aB3kd93jfK30dkfj39dkfQ2w"
    assert SHAPES.apply(f"{name}{value}{code}").endswith(code)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_whole(text):
    assert SHAPES.apply(text) == text


def test_nothing_in_the_projects_own_sources_is_taken_for_a_secret():
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
def test_an_exact_value_is_taken_out_in_every_spelling(spelling):
    assert KNOWN.apply(f"x{spelling}y").startswith("x[redacted:lab-key]")
    assert spelling not in KNOWN.apply(f"<{spelling}>")


@pytest.mark.parametrize("user", ["a", "ab", "abc", "ada"])
def test_an_exact_value_is_taken_out_of_credentials_in_base64(user):
    secret = "korrekt-horse-battery"
    header = base64.b64encode(f"{user}:{secret}".encode()).decode()
    result = SecretRedactor({secret: "lab-key"}, shapes=False).apply(header)
    assert "[redacted:lab-key]" in result
    assert len(result.replace("[redacted:lab-key]", "")) <= 12


def test_where_two_secrets_overlap_both_are_gone():
    known = SecretRedactor({f"{MIXED} and more words": "lab-key"})
    assert known.apply(f"key sk-proj-{MIXED} and more words.") == "key [redacted:openai-key]."


def test_a_key_that_was_cut_off_is_taken_out_too():
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
def test_a_private_key_is_taken_out_as_a_whole_however_it_is_written(text):
    assert SHAPES.apply(f"x {text} y") == "x [redacted:private-key] y"


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.system('id')", "Comment: x = os.system('id')", "Version: exec(x)", "x = 1", "!rm -rf x", "%cd x",
        "'); run('", "exec", "open -a x", "DEK-Info: $(id)", "Proc-Type: `id`",
    ],
)  # fmt: skip
def test_between_the_lines_of_a_key_nothing_else_is_hidden(code):
    assert code in SHAPES.apply(f"{BEGIN}\n{code}\n{END}")
    damaged = SHAPES.apply("\n".join([BEGIN, LINES[0], code, *LINES, END]))
    assert code in damaged
    assert damaged.startswith("[redacted:private-key]")
    assert LINES[0] not in damaged.partition(code)[0]


def test_a_value_too_short_or_too_ordinary_to_be_told_from_a_word_stays():
    text = "lm-studio and EMPTY are words"
    assert SecretRedactor({"lm-studio": "lab-key", "EMPTY": "x-key"}).apply(text) == text


def test_the_environment_gives_what_is_named_like_a_secret_and_no_path():
    names = {
        "GITHUB_TOKEN": "word-with-dashes", "PGPASSWORD": "correct horse", "SIGN_KEY": MIXED, "MAIN_KEY": "customer",
        "GOOGLE_APPLICATION_CREDENTIALS": "/home/ada/key.json", "HOME": "/home/ada", "TOKENIZERS_PARALLELISM": "false",
    }  # fmt: skip
    assert set(environment_secrets(names)) == {"word-with-dashes", "correct horse", MIXED}
    assert set(without_secrets(names)) == {
        "MAIN_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "HOME", "TOKENIZERS_PARALLELISM",
    }  # fmt: skip


def test_nested_data_is_filtered_also_where_only_the_key_tells():
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


def test_an_attached_text_is_filtered_and_a_picture_is_not():
    text = base64.b64encode(f"key=sk-proj-{MIXED}".encode()).decode()
    attached = SHAPES.redact_attachment(Attachment("file", "text/plain", text, "a.txt"))
    assert base64.b64decode(attached.data) == b"key=[redacted:openai-key]"
    picture = Attachment("image", "image/png", text)
    assert SHAPES.redact_attachment(picture) == picture
    stored = SHAPES.redact_data({"attachments": [{"mimeType": "text/plain", "data": text}]})
    assert base64.b64decode(stored["attachments"][0]["data"]) == b"key=[redacted:openai-key]"


def test_a_call_loses_its_secrets_also_where_it_is_no_json():
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
def test_a_mark_is_found_wherever_it_stands(data, place):
    assert marked(data) == place


def test_what_was_filtered_stays_as_it_is_when_filtered_again():
    for text, _ in SECRETS.values():
        once = SHAPES.apply(text)
        assert SHAPES.apply(once) == once
