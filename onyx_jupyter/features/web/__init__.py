"""The web: search, pages, addresses."""
