"""Models: one interface to every provider and to this machine's models. Knows no tools, sessions or socket."""
