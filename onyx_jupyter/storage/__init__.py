"""Writes to disk so that a crash at any byte loses nothing, whatever the bytes mean."""
