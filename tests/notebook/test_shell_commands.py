"""Which cells give something to a shell: as IPython reads them, and in doubt they do."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

from onyx_jupyter.notebook import shell_commands as shell_in_cells
from onyx_jupyter.notebook.shell_commands import shell_in


@pytest.mark.parametrize(
    ("source", "command"),
    [
        ("!ls -l", "ls -l"),
        ("  !ls -l", "ls -l"),
        ("x = 1\n!ls", "ls"),
        ("x = !ls", "ls"),
        ("!!ls", "ls"),
        ("for x in y:\n    !echo {x}", "echo {x}"),
        ("!ls \\\n  -l", "ls    -l"),
        ("%pip install \\\n  seaborn", "pip install    seaborn"),
        ("!pip install seaborn", "pip install seaborn"),
        ("%conda install x", "conda install x"),
        ("%system ls", "ls"),
        ("x = %sx ls", "ls"),
        ("%ls -a", "ls -a"),
        ("ls -a", "ls -a"),
        ("rm x", "rm x"),
        ("pip install x", "pip install x"),
        ("%%bash\nls\npwd", "ls\npwd"),
        ("\n\n%%sh\nls", "ls"),
        ("%%!\nls", "ls"),
        ("%%time\n!ls", "ls"),
        ("%%capture out\n%%bash\nls", "ls"),
        ("get_ipython().system('ls')", "ls"),
        ("x = get_ipython().getoutput('ls')", "ls"),
        ("get_ipython().run_cell_magic('bash', '', 'ls')", "ls"),
        ("await f()\n!ls", "ls"),
    ],
)
def test_commands_are_returned_verbatim(source: str, command: str) -> None:
    found = shell_in([source], "python3")
    assert found is not None
    assert (found.commands, found.unsure) == ((command,), "")


@pytest.mark.parametrize(
    "source",
    [
        "# first\n%%bash\nls",
        "%%script bash\nls",
        "%%bash --out x\nls",
        "%%perl\nprint 1",
        "%time !ls",
        "%timeit -n 1 x = !ls",
        "%alias foo ls",
        "%rehashx",
        "%some_extension ls",
        "%%sql\nselect 1",
        "git status",
        "!ls '",
        "ip = get_ipython()\nip.system('ls')",
        "ip.system('ls')",
        "get_ipython().system(command)",
        "getattr(get_ipython(), 'sys' + 'tem')('ls')",
        "import os\nos.system('ls')",
        "from os import system\nsystem('ls')",
        "import subprocess\nsubprocess.run(['ls'])",
        ",os.system ls",
        "import os\nos.system(command='ls')",
        "from subprocess import run\nrun(['ls'])",
        "import subprocess as sp\nsp.run(['ls'])",
        "%time get_ipython().system('ls')",
        "%%timeit os.system('ls')\nx = 1",
        "time !ls",
        "system -l",
        "if x:\n    !ls\nmatch lambda of a newer Python",
    ],
)
def test_possible_command_counts_as_one(source: str) -> None:
    found = shell_in([source], "an-environment-of-my-own")
    assert found is not None
    assert found.commands
    assert all(found.commands)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "df",
        "df.head()",
        "x = 5 % 3\ny = x != 2",
        "s = '!ls'\nt = '''\n!ls\n%%bash\n'''",
        "# !ls\nprint('%pip install x')",
        "%matplotlib inline\nimport pandas as pd",
        "%%time\ndf.mean()",
        "%time df.mean()",
        "df?",
        "%load_ext autoreload\n%autoreload 2",
        "%%writefile a.py\n!ls",
        "import platform\nprint(platform.system())",
        "await f()\nx = 3 % 2",
        "print(1) ; !ls",
        "ls = [1, 2]",
        "for x in y: boom(",
        "print(df[",
        "x = 5 % (\nprint(",
        "if a\u202e: run()",
        "df.head() if True else",
    ],
)
def test_non_commands_need_no_approval(source: str) -> None:
    assert shell_in([source], None) is None


def test_commands_of_several_cells_are_listed_once() -> None:
    found = shell_in(["!ls", "x = 1", "!pwd\n!ls", "%unknown"], "python3")
    assert found is not None
    assert found.commands == ("ls", "pwd", "%unknown")
    assert found.unsure == "%unknown may run anything"


def test_non_python_kernel_has_its_own_rules() -> None:
    assert shell_in(["!is.na(x)\nx %in% y"], "ir") is None
    assert shell_in(["!x"], "julia-1.10") is None
    found = shell_in(["ls"], "bash")
    assert found is not None
    assert found.unsure
    assert shell_in(["!ls"], "irene") is not None


def test_every_ipython_magic_and_alias_is_known_or_asked_about() -> None:
    shell = InteractiveShell()
    aliases = {name for name, _ in shell.alias_manager.aliases}
    for name in aliases:
        found = shell_in([f"%{name} x"], "python3")
        assert found is not None, name
    magics = shell.magics_manager.lsmagic()
    known = {*shell_in_cells._HARMLESS, *shell_in_cells._WRAPPERS}
    assert not known & aliases
    assert known & {"bash", "script", "sx", "system", "rehashx", "alias"} == set()
    for name in magics["cell"]:
        assert name in known or shell_in([f"%%{name}\nls"], "python3") is not None
