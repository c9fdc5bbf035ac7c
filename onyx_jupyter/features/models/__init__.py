"""The available models."""
