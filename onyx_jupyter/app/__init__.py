"""Onyx on one server: the list of its features, and the container that starts and stops them."""
