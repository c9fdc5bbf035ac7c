"""Onyx in a cell: `%onyx`, `%%onyx` and what they show. It runs in the user's kernel and imports nothing heavy."""
