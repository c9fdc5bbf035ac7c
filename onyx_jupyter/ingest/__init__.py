"""Documents that a person wants to find again: read, cut into passages, indexed, never changed."""
