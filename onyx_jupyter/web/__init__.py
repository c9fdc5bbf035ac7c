"""Requests to the internet: a guarded client, web search, and pages as text. It knows no tools."""
