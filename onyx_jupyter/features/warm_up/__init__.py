"""Loads what an answer needs while the user is still typing."""
