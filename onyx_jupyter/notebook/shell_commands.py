"""Finds the shell commands in a cell as IPython would: `!ls`, `%%bash`, `%pip`, `x = !ls`, `get_ipython().system`.

Anything that might be a command counts as one unless it is known not to be. Processes that a library starts are not
detected.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from keyword import iskeyword

_HINT = re.compile(r"[!%]|get_ipython|system|getoutput|popen|run_cell|run_line|subprocess")
_HINT_OF_PYTHON = re.compile(r"get_ipython|system|getoutput|popen|run_cell|run_line|subprocess")
_INNER = re.compile(r"(?:^|[\s;=])(!(?!=)|%{1,2}(?=[A-Za-z!]))", re.MULTILINE)
# With %automagic, which is on by default, a one-line cell may omit the sign of a magic or an alias.
_FIRST_WORD = re.compile(r"([A-Za-z_]\w*)(?!\s*=(?!=))(?:(\s+[^\s=(\[]))?")
_WORDS: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "alias": "cat cp ldir lf lk ll ls lx mkdir mv rm rmdir less more man",
        "program": "pip conda mamba micromamba uv",
        "shell": "! bash sh system sx sc",
        "wrapper": "time timeit capture prun",
        "harmless": "HTML SVG autoawait autoreload cd colors config dhist dirs doctest_mode env file gui hist history "
        "html javascript js latex load_ext lsmagic magic markdown matplotlib pdef pdoc pfile pinfo pinfo2 popd pprint "
        "precision psearch psource pushd pwd pycat pylab quickref reload_ext reset reset_selective run set_env svg tb "
        "unload_ext who who_ls whos writefile xdel xmode",
        "runner": "getoutput getoutput_pexpect getstatusoutput popen run_cell run_cell_magic run_line_magic system "
        "system_piped system_raw",
        "starter": "Popen call check_call check_output getoutput getstatusoutput run",
    }.items()
}
_COMMANDS = _WORDS["alias"] | _WORDS["program"]
_SHELLS = _WORDS["shell"]
_WRAPPERS = _WORDS["wrapper"]  # these run their content as a separate cell
_HARMLESS = _WORDS["harmless"]
_RUNNERS = _WORDS["runner"]
_STARTERS = _WORDS["starter"]
_NO_IPYTHON = re.compile(r"(?i)(?:ir|julia|deno|rust|xcpp|gophernotes|octave|matlab|sas|ijavascript|tslab)\b.*")
_UNREADABLE = "it cannot be parsed reliably"


@dataclass(frozen=True, slots=True)
class ShellUse:
    """The cell's shell commands, as written. `unsure` says why they cannot be determined exactly, if so."""

    commands: tuple[str, ...]
    unsure: str = ""


def shell_in(sources: Sequence[str], kernel: str | None) -> ShellUse | None:
    """The commands of all these cells; None if there are none. Loads IPython's parser: don't call in the event loop.

    `kernel` is the kernel's name, which may not reveal its language: all but a few are taken to be Python.
    """
    if kernel is not None and _NO_IPYTHON.fullmatch(kernel):
        return None
    if kernel is not None and kernel.lower().startswith("bash"):
        return ShellUse(tuple(sources), "it is a script")
    found = [use for source in sources for use in _in_cell(source)]
    commands = tuple(dict.fromkeys(command for use in found for command in use.commands))
    return ShellUse(commands, next((use.unsure for use in found if use.unsure), "")) if found else None


def _in_cell(source: str) -> Iterator[ShellUse]:
    if not source.strip():
        return
    is_one_line = len(source.strip().splitlines()) == 1
    if not is_one_line and not _HINT.search(source):
        return
    from IPython.core.inputtransformer2 import TransformerManager

    python = TransformerManager().transform_cell(source)
    word = _FIRST_WORD.match(source.strip()) if is_one_line else None
    if word and word[1] in _COMMANDS | _SHELLS:
        yield ShellUse((source.strip(),), "" if word[1] in _COMMANDS else _UNREADABLE)
        return
    try:
        tree = compile(python, "cell", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        # It fails to run, unless the kernel's Python is newer than this one, or its only line is a magic.
        if _HINT_OF_PYTHON.search(python) or (word and word[2] and not iskeyword(word[1])):
            yield ShellUse((source.strip(),), _UNREADABLE)
        return
    yield from _in_tree(tree)


def _in_tree(tree: ast.AST) -> Iterator[ShellUse]:
    read: set[int] = set()
    for node in ast.walk(tree):
        call = _ipython_call(node)
        if call is not None:
            read |= {id(node), *(id(part) for part in ast.walk(call.function))}
            yield from _of_call(call.function.attr, call.texts)
    for node in ast.walk(tree):
        if id(node) not in read and _may_run(node):
            yield ShellUse((ast.unparse(node),), "it is built while the cell runs")


@dataclass(frozen=True, slots=True)
class _Call:
    """`get_ipython().<function>(…)` with only string arguments, as IPython writes it for a magic."""

    function: ast.Attribute
    texts: tuple[str, ...]


def _ipython_call(node: ast.AST) -> _Call | None:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.keywords):
        return None
    of = node.func.value
    if not (isinstance(of, ast.Call) and isinstance(of.func, ast.Name) and of.func.id == "get_ipython"):
        return None
    texts = [part.value for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return _Call(node.func, tuple(texts)) if len(texts) == len(node.args) else None


def _of_call(function: str, texts: Sequence[str]) -> Iterator[ShellUse]:
    match function, texts:
        case ("system" | "getoutput", [command]):
            yield ShellUse((command.strip(),))
        case ("run_line_magic", [name, line]):
            yield from _of_magic(name, line, None)
        case ("run_cell_magic", [name, line, body]):
            yield from _of_magic(name, line, body)
        case _:
            yield ShellUse((f"get_ipython().{function}({', '.join(map(repr, texts))})",), _UNREADABLE)


def _of_magic(name: str, line: str, body: str | None) -> Iterator[ShellUse]:
    whole = f"%{name} {line}".strip() if body is None else f"%%{name} {line}".strip() + f"\n{body.rstrip()}"
    if name in _WRAPPERS:
        if _INNER.search(line) or _HINT_OF_PYTHON.search(line):
            yield ShellUse((whole,), f"it is inside %{name}")
        yield from _in_cell(body or "")
    elif name in _SHELLS and (body is None or not line):
        yield ShellUse(((line if body is None else body).strip(),))
    elif name in _COMMANDS and body is None:
        yield ShellUse((f"{name} {line}".strip(),))
    elif name not in _HARMLESS:
        marks = "%" if body is None else "%%"
        yield ShellUse((whole,), f"{marks}{name} may run anything")


def _may_run(node: ast.AST) -> bool:
    match node:
        case ast.Name(id="get_ipython"):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="subprocess"), attr=name)):
            return name in _STARTERS
        case ast.Call(func=ast.Attribute(attr=name), args=[], keywords=[]):
            return name in _RUNNERS - {"system"}  # platform.system()
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _RUNNERS
        case ast.ImportFrom(module=module, names=names):
            runs = module != "platform" and any(one.name in _RUNNERS for one in names)
            return runs or module == "subprocess"
        case ast.Import(names=names):
            return any(one.name == "subprocess" and one.asname for one in names)  # called by an unknown name
    return False
