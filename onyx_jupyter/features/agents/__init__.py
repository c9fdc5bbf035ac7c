"""The server's agents, each with its folder, memory, tools and allowed paths."""
