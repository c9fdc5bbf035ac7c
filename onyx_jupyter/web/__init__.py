"""Requests to the internet: a guarded client, web search, and pages as text."""
