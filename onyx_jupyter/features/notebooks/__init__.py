"""Notebooks and their kernels: notebook tools, review and undo of changes, and the contents of a kernel."""
