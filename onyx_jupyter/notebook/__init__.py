"""Reads, edits and runs notebooks by path and cell id, whether or not they are open in a tab."""
