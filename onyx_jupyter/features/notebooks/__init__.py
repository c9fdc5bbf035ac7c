"""Notebooks and their kernels: review and undo of what was changed, and what is in a kernel."""
