"""Scheduled jobs: what they are, when they are due, and what became of each planned time."""
