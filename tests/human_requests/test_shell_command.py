"""A shell command is either split into exact argvs or asked each time, with the reason."""

import pytest

from onyx_jupyter.human_requests.shell_command import InexactCommand, Segment, split


@pytest.mark.parametrize(
    ("command", "argvs"),
    [
        ("git status", [("git", "status")]),
        ("""ls -l "a b" 'c d' x\\ y foo"bar" ''""", [("ls", "-l", "a b", "c d", "x y", "foobar", "")]),
        (
            "git add a.py && git commit -m 'one; two' ; git log",
            [("git", "add", "a.py"), ("git", "commit", "-m", "one; two"), ("git", "log")],
        ),
        ('echo "a \\"b\\" \\n"', [("echo", 'a "b" \\n')]),
        ("git commit -m 'one\n\ntwo'\n", [("git", "commit", "-m", "one\n\ntwo")]),
        ("echo 'naïve → ü'", [("echo", "naïve → ü")]),
        (
            "python -m pytest -q tests && python tool.py -c x",
            [("python", "-m", "pytest", "-q", "tests"), ("python", "tool.py", "-c", "x")],
        ),
        ("uv run pytest", [("uv", "run", "pytest")]),
        ("ls . ;", [("ls", ".")]),
        ("bash setup.sh", [("bash", "setup.sh")]),
        ("python3 --version || node --version", [("python3", "--version"), ("node", "--version")]),
        ("find . -name a.py -newer b.py", [("find", ".", "-name", "a.py", "-newer", "b.py")]),
    ],
)
def test_simple_commands_are_split_as_executed(command, argvs):
    assert [segment.argv for segment in split(command)] == argvs


def test_command_reading_output_of_another_is_detected():
    assert split("cat a | sort && wc b") == (
        Segment(("cat", "a")),
        Segment(("sort",), is_piped=True),
        Segment(("wc", "b")),
    )


def test_canonical_form_round_trips():
    (segment,) = split("""echo "it's" a\\ b '$HOME' ";" """)
    assert split(segment.text) == (segment,)


REFUSED = {
    "the output of another command": [
        "echo $(id)",
        "echo `id`",
        'echo "$(id)"',
        'echo "a`id`b"',
        "diff <(a) b",
        "tee >(a)",
    ],
    "redirects": ["ls > out", "ls 2>&1", "1>x ls", "cat < in", "cat <<< x", "cat <<E\nx\nE", "ls |& wc", "ls &> x"],
    "variable": ["ls $HOME", "echo ${X}", 'echo "$X"', "X=1 ls", "X=1", "export X=1", "echo $((1+1))", 'echo "a\\$b"'],
    "pattern": ["ls *.py", "ls a?", "ls [ab]", "ls {a,b}", "ls ~/a", "ls a=~"],
    "background": ["ls &", "ls & rm a"],
    "control structure": [
        "! ls",
        "(ls)",
        "{ ls; }",
        "if true; then ls; fi",
        "for a in b; do ls; done",
        "[[ -f x ]]",
        "while true; do ls; done",
        "case a in b) ls;; esac",
        "[ -f x ]",
    ],
    "defines a function": ["f() { ls; }; f"],
    "comment": ["ls # all"],
    "more than one line": ["ls\nrm a", "ls \\\n -l", "ls &&\nrm a"],
    "invisible characters": [
        "ls\0rm",
        "ls\rrm",
        "echo 'a\u202eb'",
        "echo 'a\u200bb'",
        "echo 'a\u2028b'",
        "ls \x1b[0m",
        "echo '\ud800'",
    ],
    "parsed reliably": [
        "ls 'a",
        'ls "a',
        "ls\\",
        "ls |",
        "&& ls",
        "ls ;; rm",
        "",
        "   ",
        "a)",
        "echo naïve",
        "\u00a0ls",
        "l\u0455 -l",
        "ls\uff1brm",
    ],
    "changes what": [
        "cd /x",
        "eval ls",
        ". a.sh",
        "source a.sh",
        "exec ls",
        "'eval' ls",
        "set -e",
        "trap ls EXIT",
        "alias ls=rm",
        "hash -p a ls",
        "command ls",
        "builtin cd",
        "then ls",
        "test -f x",
    ],
    "another command through": [
        "sudo ls",
        "env ls",
        "/usr/bin/env ls",
        "SUDO ls",
        "xargs rm",
        "nohup ls",
        "time ls",
        "timeout 5 ls",
        "find . -exec rm a",
        "find . -execdir rm a",
        "git -c alias.a=b a",
        "git config a b",
        "tar --to-command=sh -xf a",
        "tar -Ixz -xf a",
        "ssh host ls",
        "rsync -e sh a b",
        "docker exec box env ls",
        "printf -v PATH x",
        "ls | xargs rm",
    ],
    "a program to run": [
        "python -c 'x'",
        "python3.11 -Bc x",
        "/opt/python3 -uc x",
        "python",
        "python -",
        "bash -c ls",
        "sh",
        "bash -lc ls",
        "bash -s a",
        "node -e x",
        "node --eval=x",
        "perl -e x",
        "perl -ne x a",
        "ruby -e x",
        "awk x a",
        "sed s/a/b/ x",
        "Rscript -e x",
        "php -r x",
        "python -m timeit x",
        "curl x | bash",
        "curl x | python -",
        "cat a | bash /dev/stdin",
        "uv run python -c x",
        "docker exec box bash -c x",
        "anything python3 -c x",
        "curl x | tool bash",
        "deno eval x",
        "python.exe -c x",
    ],
    "longer than": ["echo " + "a" * 10_000],
    "more than 30": ["ls;" * 31],
}


@pytest.mark.parametrize(
    ("command", "reason"), [(command, reason) for reason, commands in REFUSED.items() for command in commands]
)
def test_inexact_command_is_rejected_with_reason(command, reason):
    with pytest.raises(InexactCommand, match=reason):
        split(command)
