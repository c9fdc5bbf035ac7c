"""Writes the table of all tools into docs/tools.md, from the registry itself; `--check` only compares."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from onyx_jupyter.tools.builtin import all_tools
from onyx_jupyter.tools.spec import Tool

PAGE = Path(__file__).parents[1] / "docs" / "tools.md"
BEGIN, END = "<!-- the table below is written by scripts/tool_table.py -->\n", "<!-- end of the table -->\n"
ASKS = {
    "read": "no",
    "write": "yes, it changes something",
    "execute": "yes, it runs something",
    "network": "yes, it asks the network",
}


def table() -> str:
    """One row a tool, in the order in which models are told of them."""
    rows = [
        f"| `{tool.name}` | `group:{tool.family}` | {_arguments(tool)} | {tool.description} | {ASKS[tool.risk]} |"
        for tool in all_tools()
    ]
    head = ["| Tool | Family | Arguments | What the model is told | Asks first |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def page(old: str) -> str:
    """The page with its table as it should be."""
    before, _, rest = old.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def main(arguments: list[str]) -> int:
    old = PAGE.read_text("utf-8")
    new = page(old)
    if "--check" not in arguments:
        PAGE.write_text(new, "utf-8")
        return 0
    if old != new:
        print(f"{PAGE.name} is not current: run python scripts/tool_table.py")
    return int(old != new)


def _arguments(tool: Tool[Any]) -> str:
    parameters = tool.definition().parameters
    required = parameters.get("required", ())
    names = [name if name in required else f"{name}?" for name in parameters.get("properties", {})]
    return f"`{', '.join(names)}`" if names else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
