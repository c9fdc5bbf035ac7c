"""The runs in progress."""
