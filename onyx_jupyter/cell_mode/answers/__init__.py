"""Checks an answer in words against what the cells printed and drew."""
