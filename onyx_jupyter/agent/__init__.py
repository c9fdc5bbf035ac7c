"""The agent: prompt, loop, tool calls and the life of a run. It reaches the world only through `protocols`."""
