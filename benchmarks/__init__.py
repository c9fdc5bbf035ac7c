"""Measures what the project promises, with real processes and real sockets; only the provider is scripted."""
