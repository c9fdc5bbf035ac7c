"""The process that holds the index and the embedded embedder, and the server's interface to it."""
