"""How Onyx is."""
