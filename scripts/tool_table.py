"""Writes the table of all tools into docs/tools.md, from the registry itself; `--check` only compares."""

from __future__ import annotations

import sys
from typing import Any

from written_parts import DOCS, main, table

from onyx_jupyter.tools.builtin import all_tools
from onyx_jupyter.tools.spec import Tool

ASKS = {
    "read": "no",
    "write": "yes, it changes something",
    "execute": "yes, it runs something",
    "network": "yes, it asks the network",
}


def tools() -> str:
    """One row a tool, in the order in which models are told of them."""
    head = ("Tool", "Family", "Arguments", "What the model is told", "Asks first")
    return table(
        head,
        [
            (f"`{tool.name}`", f"`group:{tool.family}`", _arguments(tool), tool.description, ASKS[tool.risk])
            for tool in all_tools()
        ],
    )


def _arguments(tool: Tool[Any]) -> str:
    parameters = tool.definition().parameters
    required = parameters.get("required", ())
    names = [name if name in required else f"{name}?" for name in parameters.get("properties", {})]
    return f"`{', '.join(names)}`" if names else ""


if __name__ == "__main__":
    sys.exit(main(DOCS / "tools.md", {"tools": tools()}, sys.argv[1:]))
