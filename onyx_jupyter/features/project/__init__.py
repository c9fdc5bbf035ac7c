"""The instructions of the project in the server's root, and whether the user trusts them."""
