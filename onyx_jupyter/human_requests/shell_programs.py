"""Programs that run something other than what their command line says, so that a person is asked each time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

RUNS_ANOTHER = "it runs another command through `{}`"
CHANGES_SHELL = "`{}` changes what the commands after it mean"
INLINE_CODE = "it gives `{}` a program to run"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Bash's own words (`compgen -b`, `compgen -k`) except those that only print something or end a process.
_SHELL_WORDS = _words(
    """
    . [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown enable eval
    exec exit export fc fg getopts hash history jobs let local logout mapfile popd pushd read readarray readonly return
    set shift shopt source suspend test times trap type typeset umask unalias unset wait
    if then else elif fi case esac for select while until do done in function { } ! [[ ]] coproc
    """
)
_WRAPPERS = _words(
    """
    sudo doas su runuser pkexec env xargs parallel nohup time timeout nice ionice chrt taskset setsid stdbuf unbuffer
    chroot unshare nsenter setpriv capsh firejail bwrap strace ltrace gdb watch entr script expect flock busybox toybox
    ssh mosh rsh systemd-run at batch crontab screen tmux dbus-launch xvfb-run caffeinate cmd powershell pwsh
    """
)
_INLINE_ALWAYS = _words("awk gawk mawk nawk sed gsed ed ex vi vim nvim emacs m4 dc psql sqlite mysql")
# Interpreters, each with the options that only affect how the file named after them is run.
_INTERPRETERS: dict[str, frozenset[str]] = {
    **dict.fromkeys(_words("sh bash dash zsh ksh mksh ash fish csh tcsh"), _words("-e -u -x -eu -eux")),
    **dict.fromkeys(_words("python pypy ipython"), _words("-u -B -E -I -O -OO -P -R -S -b -bb -q -s")),
    **dict.fromkeys(_words("node nodejs deno bun tsx perl ruby php lua luajit tclsh wish osascript"), _words("")),
    **dict.fromkeys(_words("r rscript julia ghci runghc guile sbcl racket elixir"), _words("")),
}
_INFO_OPTIONS = _words("--version -V --help")
_CODE_OPTIONS = _words("-c -e -E -r -lc -ic -ec --eval --print")
_MODULES_THAT_TAKE_CODE = _words("code timeit pdb cProfile profile trace asyncio runpy idlelib")
# They run the command that follows their own arguments, in an environment of their own.
_LAUNCHERS = _words(
    """
    uv uvx poetry pdm hatch pipenv pipx rye pixi conda mamba micromamba nix docker podman kubectl npx npm pnpm yarn bunx
    """
)
# Options that carry another command, and words after the program's name that do.
_WRAPPER_OPTIONS: dict[str, frozenset[str]] = {
    "find": _words("-exec -execdir -ok -okdir"),
    "fd": _words("-x -X --exec --exec-batch"),
    "fdfind": _words("-x -X --exec --exec-batch"),
    "git": _words("-c -x --config-env --exec-path --exec --extcmd --upload-pack --receive-pack"),
    "tar": _words("-I -F --to-command --checkpoint-action --use-compress-program --rsh-command --info-script"),
    "rsync": _words("-e --rsh --rsync-path"),
    "scp": _words("-S -o"),
    "sftp": _words("-S -o"),
    "zip": _words("-TT --unzip-command"),
    "sort": _words("--compress-program"),
    "split": _words("--filter"),
    "rg": _words("--pre --hostname-bin"),
    "make": _words("-E --eval"),
    "printf": _words("-v"),
}
_WRAPPER_WORDS = {
    "git": _words("config submodule bisect filter-branch difftool mergetool"),
    "npm": _words("exec x"),
}
_VERSION = re.compile(r"(-?[\d.]+)?(\.exe)?$")


def why_always_asked(argv: Sequence[str], *, is_piped: bool) -> str | None:
    """The reason as the rest of “…, because …”, or None. `is_piped` means that its input is another's output."""
    name, words = _name(argv[0]), argv[1:]
    if argv[0] in _SHELL_WORDS:
        return CHANGES_SHELL.format(argv[0])
    if not name or "=" in argv[0]:
        return "its first word is not a program name"
    if name in _WRAPPERS or _wraps_command(name, words):
        return RUNS_ANOTHER.format(name)
    if name in _INLINE_ALWAYS or (name in _INTERPRETERS and _takes_code(name, words)):
        return INLINE_CODE.format(name)
    return _behind(name, words, is_piped)


def _behind(name: str, words: Sequence[str], is_piped: bool) -> str | None:
    """`docker exec box bash -c …`, `uv run python -c …`: what follows a program's own arguments may be a command."""
    for index, word in enumerate(words):
        other, rest = _name(word), words[index + 1 :]
        if name in _LAUNCHERS and (other in _WRAPPERS or other in _INLINE_ALWAYS or other in _INTERPRETERS):
            return why_always_asked(words[index:], is_piped=is_piped)
        if other in _INTERPRETERS and ((is_piped and not rest) or not _CODE_OPTIONS.isdisjoint(rest)):
            return INLINE_CODE.format(other)
    return None


def _takes_code(name: str, words: Sequence[str]) -> bool:
    """Whether the interpreter may run code from anywhere but a file or a module named on its command line."""
    if len(words) == 1 and words[0] in _INFO_OPTIONS:
        return False
    rest = list(words)
    while rest and rest[0] in _INTERPRETERS[name]:
        rest.pop(0)
    if name in ("python", "pypy") and len(rest) > 1 and rest[0] == "-m":
        return rest[1].partition(".")[0] in _MODULES_THAT_TAKE_CODE
    if not rest or rest[0].startswith(("-", "+")) or rest[0] in ("eval", "repl"):
        return True
    return "dev/" in rest[0] or "proc/" in rest[0]


def _wraps_command(name: str, words: Sequence[str]) -> bool:
    options = _WRAPPER_OPTIONS.get(name, frozenset())
    if words and words[0] in _WRAPPER_WORDS.get(name, frozenset()):
        return True
    joined = () if name in ("find", "git") else tuple(option for option in options if len(option) == 2)
    return any(
        word in options
        or (word.startswith("--") and word.partition("=")[0] in options)
        or (bool(joined) and word.startswith(joined))  # `-Ixz` is `-I xz`
        for word in words
    )


def _name(word: str) -> str:
    """`/usr/bin/Python3.11` → `python`: the file's name without its version; some file systems ignore case."""
    name = PurePosixPath(word).name.lower()
    return _VERSION.sub("", name) or name
