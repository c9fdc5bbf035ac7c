"""Files as text: what kind they are, their lines, exact replacements, diffs, searching. It decides no permission."""
