"""Access to files, addresses and secrets: what is allowed, and what must not be seen."""
