"""Corrections of cells that need no model: before a cell is proposed, and after it failed."""
