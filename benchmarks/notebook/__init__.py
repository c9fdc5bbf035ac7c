"""The figures of notebook work: edits, outline, undo, a look into a kernel, magics."""
