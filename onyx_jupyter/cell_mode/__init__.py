"""Cell mode: how models without reliable tool calls act. They answer in words or with one cell to insert and run."""
