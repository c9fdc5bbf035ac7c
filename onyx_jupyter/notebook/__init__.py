"""Notebooks by path and cell id, open in a tab or not. It never decides whether something may be changed."""
