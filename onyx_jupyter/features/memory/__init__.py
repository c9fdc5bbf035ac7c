"""The agents' memory, its versions, and memory search."""
