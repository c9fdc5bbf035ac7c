"""Skills: what they are, where they lie, what they need and who trusts them. It never runs one."""
