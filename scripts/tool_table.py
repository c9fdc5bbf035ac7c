"""Writes the table of all tools into docs/tools.md, from the registry itself; `--check` only compares."""

from __future__ import annotations

import sys
from typing import Any

from written_parts import DOCS, main, table

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.toolsets.tool import Tool

WHY = {"write": "it changes something", "execute": "it runs something", "network": "it asks the network"}


def tools() -> str:
    """One row per tool, in the order in which models get them, then the deferred ones."""
    head = ("Tool", "Family", "Arguments", "What the model is told", "Asks first")
    listed = table(
        head,
        [
            (f"`{tool.name}`", f"`group:{tool.family}`", _arguments(tool), tool.description, _asks(tool))
            for tool in all_tools()
        ],
    )
    behind = ", ".join(f"`{tool.name}`" for tool in all_tools() if tool.deferred)
    return (
        f"{listed}\nNamed in one line of `more_tools`, which explains and calls them when they are needed: {behind}.\n"
    )


def _asks(tool: Tool[Any]) -> str:
    if tool.risk not in WHY:
        return "no"
    by_call = tool.per_call.risk_of is not None
    return f"{'only where' if by_call else 'yes,'} {WHY[tool.risk]}"


def _arguments(tool: Tool[Any]) -> str:
    parameters = tool.definition().parameters
    required = parameters.get("required", ())
    names = [name if name in required else f"{name}?" for name in parameters.get("properties", {})]
    return f"`{', '.join(names)}`" if names else ""


if __name__ == "__main__":
    sys.exit(main(DOCS / "tools.md", {"tools": tools()}, sys.argv[1:]))
