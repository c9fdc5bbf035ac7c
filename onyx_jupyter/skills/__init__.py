"""Skills: what they are, where they are found, what they need and who trusts them. Running them is done elsewhere."""
