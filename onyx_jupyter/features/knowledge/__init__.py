"""The documents that the user has added."""
