"""Conversations on disk, one append-only file each. It never talks to a model or a browser."""
