"""The process in which the index and the embedded embedder live, and how the server asks it."""
