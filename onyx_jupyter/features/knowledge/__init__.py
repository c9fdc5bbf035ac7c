"""The documents that a person gives along."""
