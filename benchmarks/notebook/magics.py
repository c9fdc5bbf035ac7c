"""What the magics cost in a user's kernel: the time of `%load_ext`, memory, and the first answer's own share."""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.figures import Figure, Group

RUNS = 9
METHOD = (
    "A fresh process each time that has imported what a kernel has imported (ipykernel and IPython's shell); then "
    "`%load_ext onyx_jupyter`, timed, with the growth of its resident memory and the modules that came. The same again "
    "with one question, answered by nobody, so that all that a question imports is there."
)
HEAVY = ("litellm", "lancedb", "pandas", "numpy", "pydantic", "jupyter_server", "pyarrow")
SCRIPT = """
import json, os, sys
from time import perf_counter
import ipykernel.kernelapp
from ipykernel.zmqshell import ZMQInteractiveShell
from IPython.core.interactiveshell import InteractiveShell

def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

shell = InteractiveShell.instance()
heavy = set(json.loads(sys.argv[1]))
before, began = resident_mb(), perf_counter()
shell.run_line_magic("load_ext", "onyx_jupyter")
load_ms = 1000 * (perf_counter() - began)
load_mb = resident_mb() - before
os.environ["ONYX_URL"] = "http://127.0.0.1:9/"
try:
    shell.run_line_magic("onyx", "hello")
except Exception as error:
    assert "does not answer" in str(error), error
came = sorted(heavy & set(sys.modules))
print(json.dumps([load_ms, load_mb, resident_mb() - before, came]))
"""


def measure() -> Group:
    _run()  # compiles what was never compiled and fills the disk cache
    runs = [_run() for _ in range(RUNS)]
    came = sorted({name for run in runs for name in run[3]})
    return Group(
        "Magics in the user's kernel",
        METHOD,
        [
            Figure("%load_ext onyx_jupyter", [run[0] for run in runs], "ms", 100, digits=1),
            Figure("  resident memory that it adds", [run[1] for run in runs], "MB", 15, digits=1),
            Figure("  with a question asked", [run[2] for run in runs], "MB", 15, digits=1),
            Figure("  heavy libraries imported", [float(len(came))], "", 0, digits=0),
        ],
        [f"None of {', '.join(HEAVY)} is imported." if not came else f"Imported: {', '.join(came)}."],
    )


def _run() -> tuple[float, float, float, list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(HEAVY)], capture_output=True, text=True, check=True, timeout=120
    )
    load_ms, load_mb, asked_mb, came = json.loads(done.stdout.splitlines()[-1])
    return load_ms, load_mb, asked_mb, came
