"""Files as text: their kinds, lines, exact replacements, diffs, and searching."""
