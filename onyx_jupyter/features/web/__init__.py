"""Web search and web pages as tools."""
