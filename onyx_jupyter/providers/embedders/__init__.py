"""Turns text into vectors: the embedded model, Ollama, an API, and the choice between them."""
