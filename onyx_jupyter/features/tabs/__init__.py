"""The browser tabs and the notebooks they have open."""
