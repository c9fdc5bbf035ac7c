"""Onyx on Jupyter's own port: the server extension, the socket and its methods."""
