"""The agents of one server, each with its folder, memory, tools and allowed paths."""
