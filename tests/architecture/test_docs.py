"""What the documentation lists is what there is."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_table_of_tools_is_current() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "tool_table.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
