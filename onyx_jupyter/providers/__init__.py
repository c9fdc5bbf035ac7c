"""Models: one door to every provider and to this machine's own. Nothing here knows of tools, sessions or the socket."""
