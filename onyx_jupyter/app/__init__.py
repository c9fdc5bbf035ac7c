"""Onyx as one server has it: the list of its features, and the container that starts and stops them."""
