"""Cell mode: how a model without dependable tool calls acts. It answers in words or with one cell to insert and run."""
