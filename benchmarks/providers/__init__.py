"""The figures of the protocols that providers are spoken to in."""
