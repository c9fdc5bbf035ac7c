"""Conversations on disk, one append-only file each."""
