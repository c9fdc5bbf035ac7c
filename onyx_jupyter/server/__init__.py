"""Onyx on Jupyter's own port: the extension, the socket and its methods. It decides nothing about agents or memory."""
