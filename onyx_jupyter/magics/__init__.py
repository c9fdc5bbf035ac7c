"""Onyx in a cell: `%onyx`, `%%onyx` and their output. It runs in the user's kernel and imports nothing heavy."""
