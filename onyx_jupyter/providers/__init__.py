"""Models: one door to every provider, and the embedded one. Nothing here knows about tools, sessions or the socket."""
