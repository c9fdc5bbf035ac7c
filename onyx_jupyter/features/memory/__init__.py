"""What the agents remember, its versions, and search in it."""
